use super::{Parallel, REQUESTS_MIN};
use crate::run::{RunOutput, Span, run_span};
use crate::{Checked, Document, Files, Problems, Progress, check};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

/// A second thread that counts how often it is used.
#[derive(Default)]
struct Thread(AtomicU32);

impl Parallel for Thread {
    #[expect(clippy::disallowed_methods, reason = "it stands for the edge")]
    fn both(&self, work: Box<dyn FnOnce() + Send + '_>, here: &mut dyn FnMut()) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(work);
            here();
        });
        true
    }
}

/// A caller that provides no second thread.
struct NoThread;

impl Parallel for NoThread {
    fn both(&self, _work: Box<dyn FnOnce() + Send + '_>, _here: &mut dyn FnMut()) -> bool {
        false
    }
}

/// A trace: the number of its lines, and a reader for the bytes after them.
struct OneTrace {
    lines: u64,
    end: fn() -> Box<dyn Read + Send>,
}

impl Files for OneTrace {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let line = |index: u64| {
            let op = if index.is_multiple_of(3) { "read" } else { "write" };
            format!("{},{op},{},4096\n", index * 20, index * 37 % 4096 * 4096)
        };
        let lines: String = (0..self.lines).map(line).collect();
        let text = Cursor::new(format!("timestamp_us,op,offset,length\n{lines}"));
        Ok(Box::new(BufReader::new(text.chain((self.end)()))))
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A trace that is read to its end without an error.
const WHOLE: OneTrace = OneTrace { lines: 70_000, end: || Box::new(io::empty()) };

const CACHE: &str = "[stack]\nkind = \"server_cache\"\nbacking = { preset = \"network_store\" }\nwrite_back = {}\n\
    [[stack.level]]\ndevice = { preset = \"pcm_ssd\", capacity = \"4 MiB\" }\n";
const DRIVE: &str = "[stack]\nkind = \"ssd\"\nchannels = 2\nways = 2\nblocks = 64\npages = 64\npage = \"4 KiB\"\n\
    read = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\nbuffer = \"256 KiB\"\n\
    link = \"4 GB/s\"\nover_provisioning = \"33 %\"\n";
const MEASURED: &str =
    "[stack]\nkind = \"measured\"\nread = \"1 us\"\nwrite = \"2 us\"\ncapacity = \"2 GiB\"\n";

/// Returns a scenario with Zipf reads and writes in 16 MiB.
fn zipf(requests: u64, arrival: &str) -> String {
    format!(
        "[workload]\nkind = \"zipf\"\nrequests = {requests}\nfootprint = \"16 MiB\"\nread_share = \"70 %\"\n\
         arrival = {arrival}\n"
    )
}

const POISSON: &str = "{ kind = \"poisson\", rate = \"10 kHz\" }";
const CLOSED: &str = "{ kind = \"closed\", queue_depth = 8 }";

fn checked(text: &str) -> Checked {
    let checked = check(&Document { text, name: "test.toml", overrides: &[], seed: None });
    checked.unwrap_or_else(|problems| panic!("{text}: {problems}"))
}

/// Runs a scenario on one or two threads. Returns the results, and the number of times that a second thread
/// was used.
fn ran(
    text: &str,
    files: &OneTrace,
    on_two: bool,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> (Result<RunOutput, Problems>, u32) {
    let thread = Thread::default();
    let second_thread: Option<&dyn Parallel> = if on_two { Some(&thread) } else { None };
    let span = Span { saves: true, second_thread, ..Span::default() };
    let ran = run_span(&checked(text), files, &span, watch);
    (ran, thread.0.into_inner())
}

fn to_its_end(text: &str, files: &OneTrace, on_two: bool) -> (Result<RunOutput, Problems>, u32) {
    ran(text, files, on_two, &mut |_| ControlFlow::Continue(()))
}

/// Checks that the record, the columns, and the state of a run are equal on one thread and on two threads.
fn is_the_same(text: &str, threads: u32) {
    let [(one, _), (two, asked)] = [false, true].map(|on_two| to_its_end(text, &WHOLE, on_two));
    assert_eq!(asked, threads, "{text}");
    let [one, two] = [one, two].map(|ran| ran.unwrap_or_else(|problems| panic!("{text}: {problems}")));
    assert_eq!(one.outcome.record.to_json(), two.outcome.record.to_json(), "{text}");
    assert_eq!(format!("{:?}", one.outcome.columns), format!("{:?}", two.outcome.columns), "{text}");
    assert!(one.state.is_some() && one.state == two.state, "the states differ: {text}");
}

#[test]
fn a_run_on_two_threads_is_that_on_one() {
    let many = REQUESTS_MIN + 4_465;
    for (workload, run) in [
        (zipf(many, POISSON), ""),
        (zipf(many, CLOSED), "warm_up = 5_000\n"),
        (zipf(many, POISSON), "warm_up = 8_192\n"),
        (zipf(1_000_000, POISSON), "requests = 66_000\n"),
        (zipf(many, POISSON), &format!("requests = {many}\nwarm_up = 8_191\n")),
        ("[workload]\nkind = \"trace\"\nfile = \"one.csv\"\n".to_string(), "warm_up = 1\n"),
    ] {
        for stack in [CACHE, DRIVE, MEASURED] {
            is_the_same(&format!("{workload}{stack}[run]\n{run}"), 1);
        }
    }
}

#[test]
fn what_hangs_on_the_order_of_drawing_stays_on_one_thread() {
    let many = zipf(REQUESTS_MIN, POISSON);
    let tenant = "[workload]\nkind = \"tenants\"\n[[workload.tenant]]\nname = \"one\"\n\
        workload = { kind = \"uniform\", requests = 70_000, footprint = \"8 MiB\" }\n";
    let bank = "[workload]\nkind = \"tpca\"\nrate = \"10 kHz\"\ntransactions = 20_000\n";
    for text in [
        format!("{many}{MEASURED}[run]\nduration = \"3 s\"\n"),
        format!("{many}{MEASURED}[run]\nuntil = \"5 %\"\n"),
        format!("{bank}{MEASURED}"),
        format!("{tenant}{MEASURED}"),
        format!("{}{MEASURED}", zipf(REQUESTS_MIN - 1, POISSON)),
    ] {
        is_the_same(&text, 0);
    }
}

#[test]
fn a_run_without_a_second_thread_to_be_had_is_one_on_one_thread() {
    let text = format!("{}{CACHE}", zipf(REQUESTS_MIN, POISSON));
    let alone = to_its_end(&text, &WHOLE, false).0.unwrap_or_else(|problems| panic!("{problems}"));
    let span = Span { saves: true, second_thread: Some(&NoThread), ..Span::default() };
    let ran = run_span(&checked(&text), &WHOLE, &span, &mut |_| ControlFlow::Continue(()));
    let ran = ran.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(ran.outcome.record.to_json(), alone.outcome.record.to_json());
    assert!(ran.state.is_some() && ran.state == alone.state);
}

#[test]
fn failures_in_the_input_are_reported_as_on_one_thread() {
    let backwards: OneTrace = OneTrace { end: || Box::new(Cursor::new("5,read,0,4096\n")), ..WHOLE };
    let unreadable = OneTrace { end: || Box::new(Fails), ..WHOLE };
    let beyond: OneTrace =
        OneTrace { end: || Box::new(Cursor::new("1400000,read,9999999999999,4096\n")), ..WHOLE };
    let text =
        format!("[workload]\nkind = \"trace\"\nfile = \"one.csv\"\nplacement = \"as_recorded\"\n{MEASURED}");
    let mut failures = 0;
    for files in [backwards, unreadable, beyond] {
        let [one, two] = [false, true].map(|on_two| to_its_end(&text, &files, on_two).0);
        let [one, two] = [one, two].map(|ran| ran.map(|ran| ran.outcome.record.to_json()));
        failures += u32::from(one.is_err());
        assert_eq!(
            one.map_err(|problems| problems.to_string()),
            two.map_err(|problems| problems.to_string())
        );
    }
    assert!(failures >= 2, "{failures} errors");
}

#[test]
fn a_run_that_is_stopped_ends() {
    let text = format!("{}{MEASURED}", zipf(10_000_000, POISSON));
    let mut stop = |progress: Progress| match progress.done {
        0..20_000 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let (ran, asked) = ran(&text, &WHOLE, true, &mut stop);
    let record = ran.unwrap_or_else(|problems| panic!("{problems}")).outcome.record;
    assert_eq!((asked, record.complete, record.requests.completed), (1, false, 20_032));
}

#[test]
fn an_assertion_that_fails_on_either_thread_ends_both() {
    let text = format!("{}{MEASURED}", zipf(10_000_000, POISSON));
    let mut fail = |progress: Progress| {
        assert!(progress.done < 20_000, "on this thread");
        ControlFlow::Continue(())
    };
    let failed = catch_unwind(AssertUnwindSafe(|| ran(&text, &WHOLE, true, &mut fail)));
    assert!(failed.is_err());
    let text = format!("[workload]\nkind = \"trace\"\nfile = \"one.csv\"\n{MEASURED}");
    let files = OneTrace { end: || Box::new(Panics), ..WHOLE };
    let failed = catch_unwind(AssertUnwindSafe(|| to_its_end(&text, &files, true)));
    assert!(failed.is_err());
}

/// A reader that fails with an I/O error.
struct Fails;

impl Read for Fails {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is gone"))
    }
}

/// A reader that panics.
struct Panics;

impl Read for Panics {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        panic!("on the other thread")
    }
}
