//! The main benchmarks. Each can run separately, so that two builds can be compared alternately and
//! instructions can be counted.

use crate::Result;
use crate::caches::policy;
use crate::closed_loop::ClosedLoop;
use crate::curves::exact;
use crate::report::{Report, clock_seconds, processor_seconds, repeated_by};
use crate::runs::{SecondThread, of_long, write_long};
use crate::streams::{NoFiles, STREAMS, Stream, checked, requests};
use crate::{disk_caches, flash_drive, flash_memory, pcm_drive};
use nacre_files::ScenarioFiles;
use nacre_kernel::Op;
use nacre_machine::{Checked, Files, Parallel, SavedRun, Span, run_span};
use std::ops::ControlFlow;
use std::path::Path;

/// A benchmark that can be measured alone.
pub(crate) struct Row {
    /// Name in results.
    pub(crate) name: String,
    /// Number of threads. With several threads, the benchmark is measured in wall-clock time.
    threads: usize,
    /// Whether the instructions of the benchmark are counted. The benchmark must then reach its steady state
    /// with few requests, because the emulated processor is slow.
    pub(crate) is_counted: bool,
    prepare: Prepare,
}

/// Function that creates the work of one repetition. The arguments are the number of requests and a folder
/// to which the function may write files.
type Prepare = Box<dyn Fn(u64, &Path) -> Result<Box<dyn FnMut()>>>;

/// Number of writes in simulated time after which the work of a small drive is spread evenly over its dies.
const STEADY: u64 = 200_000;

/// Policies with a speed budget for blocks that do not fit into the processor caches.
const POLICIES: [&str; 6] = ["lru", "fifo", "sieve", "arc", "w_tinylfu", "s3_fifo"];

/// Returns all benchmarks.
pub(crate) fn all() -> Vec<Row> {
    let of_streams = STREAMS.into_iter().flat_map(of_stream);
    of_streams.chain(of_devices()).collect()
}

fn row(
    name: impl Into<String>,
    is_counted: bool,
    prepare: impl Fn(u64, &Path) -> Result<Box<dyn FnMut()>> + 'static,
) -> Row {
    Row { name: name.into(), threads: 1, is_counted, prepare: Box::new(prepare) }
}

/// Creates a benchmark that generates requests and aggregates results on a second thread.
fn on_two_threads(
    name: impl Into<String>,
    prepare: impl Fn(u64, &Path) -> Result<Box<dyn FnMut()>> + 'static,
) -> Row {
    Row { threads: 2, ..row(name, false, prepare) }
}

/// Returns the benchmarks on a stream: whole runs, policies, and the exact curve. If the cache is large,
/// instructions are not counted, because a short stream does not fill the cache.
fn of_stream(stream: Stream) -> Vec<Row> {
    let Stream { name, is_small, .. } = stream;
    let mut rows = vec![
        row(format!("run/{name}"), is_small, move |count, _| Ok(whole(&stream.run(count), NoFiles, 1))),
        row(format!("run-trace/{name}"), is_small, move |count, folder| traced(stream, count, folder, 1)),
        on_two_threads(format!("run-2/{name}"), move |count, _| Ok(whole(&stream.run(count), NoFiles, 2))),
        on_two_threads(format!("run-trace-2/{name}"), move |count, folder| traced(stream, count, folder, 2)),
        row(format!("curve/{name}"), is_small, move |count, _| {
            let requests = requests(&stream.scenario(count), count);
            Ok(Box::new(move || {
                std::hint::black_box(exact(&requests));
            }))
        }),
    ];
    rows.extend(POLICIES.map(|kind| {
        row(format!("{kind}/{name}"), is_small, move |count, _| {
            let keys = stream.keys(count);
            Ok(Box::new(move || {
                std::hint::black_box(policy(kind, stream.cache_blocks()).replay(&keys));
            }))
        })
    }));
    rows
}

/// Returns the benchmarks of devices: single devices of the size in the budgets, small devices for
/// instruction counts, and whole runs.
fn of_devices() -> Vec<Row> {
    let array = |size: flash_memory::Size| {
        move |count: u64, _: &Path| -> Result<Box<dyn FnMut()>> {
            let mut pages = flash_memory::Pages::in_steady_cleaning(size)?;
            Ok(Box::new(move || pages.write(count)))
        }
    };
    let drive = |op: Op| {
        move |count: u64, _: &Path| -> Result<Box<dyn FnMut()>> {
            let mut drive = flash_drive::Steady::small()?;
            Ok(Box::new(move || drive.ask(op, count)))
        }
    };
    let onyx = |op: Op| {
        move |count: u64, _: &Path| -> Result<Box<dyn FnMut()>> {
            let mut device = pcm_drive::device()?;
            let mut host = ClosedLoop::new(&*device, 512, pcm_drive::DEPTH);
            Ok(Box::new(move || host.ask(&mut *device, op, count)))
        }
    };
    vec![
        row("envy/page-writes", false, array(flash_memory::Size::OfPaper)),
        row("envy/page-writes-64M", true, array(flash_memory::Size::Small)),
        row("ssd/page-writes-3G", true, drive(Op::Write)),
        row("ssd/page-reads-3G", true, drive(Op::Read)),
        row("ssd/run-reads", true, |count, _| Ok(whole(&flash_drive::reads(count), NoFiles, 1))),
        row("ssd/run-writes", true, |count, _| {
            going_on(&flash_drive::writes(STEADY), &flash_drive::writes(count))
        }),
        on_two_threads("ssd/run-reads-2", |count, _| Ok(whole(&flash_drive::reads(count), NoFiles, 2))),
        row("run-trace/long", true, |count, folder| {
            let file = folder.join(format!("long-{count}.nacre"));
            write_long(&file, count)?;
            Ok(whole(&of_long(&file)?, ScenarioFiles::new(".", None), 1))
        }),
        row("disk-caches/requests", true, |count, _| {
            let mut caches = disk_caches::Caches::without_bytes()?;
            Ok(Box::new(move || caches.serve(count as usize)))
        }),
        row("onyx/writes-512", true, onyx(Op::Write)),
        row("onyx/reads-512", true, onyx(Op::Read)),
    ]
}

/// Runs the benchmark `name` `repeats` times, and prints its best and median throughput.
pub(crate) fn measure(name: &str, count: &str, repeats: &str, folder: &Path) -> Result<()> {
    let row =
        all().into_iter().find(|row| row.name == name).ok_or_else(|| format!("there is no row {name}"))?;
    let count = count.parse()?;
    let mut work = (row.prepare)(count, folder)?;
    let seconds = if row.threads > 1 { clock_seconds } else { processor_seconds };
    let times = repeated_by(seconds, repeats.parse()?, || counted(&mut *work));
    Report::begin(folder).line(name, count, times, None, &[]);
    Ok(())
}

/// Runs the work whose instructions are counted. Callgrind selects this function by its name.
#[inline(never)]
pub(crate) fn counted(work: &mut dyn FnMut()) {
    work();
}

/// Creates a whole run of `scenario` on one or two threads.
fn whole(scenario: &str, files: impl Files + 'static, threads: usize) -> Box<dyn FnMut()> {
    let scenario: Checked = checked(scenario);
    Box::new(move || {
        let second_thread: Option<&dyn Parallel> = if threads > 1 { Some(&SecondThread) } else { None };
        let span = Span { second_thread, ..Span::default() };
        let ran = run_span(&scenario, &files, &span, &mut |_| ControlFlow::Continue(()));
        std::hint::black_box(ran.expect("a legal scenario").outcome.record.cost);
    })
}

/// Creates a whole run of `scenario` on a drive that has already served a run of the scenario `first`. The
/// first run is not measured.
fn going_on(first: &str, scenario: &str) -> Result<Box<dyn FnMut()>> {
    let span = Span { saves: true, ..Span::default() };
    let ran = run_span(&checked(first), &NoFiles, &span, &mut |_| ControlFlow::Continue(()))?;
    let state = ran.state.ok_or("the run was stopped")?;
    let scenario: Checked = checked(scenario);
    Ok(Box::new(move || {
        let from = SavedRun::read(&state).expect("a state that was just saved");
        let span = Span { from: Some(&from), ..Span::default() };
        let ran = run_span(&scenario, &NoFiles, &span, &mut |_| ControlFlow::Continue(()));
        std::hint::black_box(ran.expect("a legal scenario").outcome.record.cost);
    }))
}

/// Creates a whole run that reads the requests of `stream` from a trace file.
fn traced(stream: Stream, count: u64, folder: &Path, threads: usize) -> Result<Box<dyn FnMut()>> {
    let file = folder.join(format!("{}-{count}.nacre", stream.name));
    if !file.exists() {
        crate::traces::write(&file, &requests(&stream.run(count), count))?;
    }
    let scenario = stream.traced(&file.canonicalize()?.display().to_string());
    Ok(whole(&scenario, ScenarioFiles::new(".", None), threads))
}
