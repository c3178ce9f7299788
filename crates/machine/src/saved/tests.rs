//! Tests that a run that continues from a saved state gives the same results as a run without an
//! interruption.

use super::{SavedRun, Unreadable};
use crate::run::{RunOutput, Span, run_span};
use crate::saved::Preparations;
use crate::{Checked, Document, Files, Record, check};
use std::io::{self, BufRead, Cursor};
use std::ops::ControlFlow;
use std::sync::Mutex;

/// Files with one trace of 6,000 requests.
struct OneTrace;

impl Files for OneTrace {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let line = |index: u64| {
            let op = if index.is_multiple_of(3) { "read" } else { "write" };
            format!("{},{op},{},4096\n", index * 20, index * 37 % 4096 * 4096)
        };
        let lines: String = (0..6000).map(line).collect();
        Ok(Box::new(Cursor::new(format!("timestamp_us,op,offset,length\n{lines}"))))
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A drive with a host capacity of 48 MiB.
const SSD: &str = "[stack]\nkind = \"ssd\"\nchannels = 2\nways = 2\nblocks = 64\npages = 64\npage = \"4 KiB\"\n\
    read = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\nbuffer = \"256 KiB\"\n\
    link = \"4 GB/s\"\nover_provisioning = \"33 %\"\n";
/// Bit-error settings for which the error-correcting code cannot correct 13 % of units. Most of these units
/// are rebuilt from parity.
const BIT_ERRORS: &str = "allocation = { kind = \"superblock\", parity = {} }\nerrors = { ecc = { kind = \"bch\", t = 4, codeword = \"2 KiB\" }, \
    bit_error_rate = 0.00012, cycles = 1, error_exponent = 0 }\n";
const HOT: &str =
    "[workload]\nkind = \"zipf\"\nrequests = 100_000\nfootprint = \"24 MiB\"\nread_share = \"30 %\"\n";

fn scenario(text: &str, overrides: &[(&str, &str)]) -> Checked {
    let own: Vec<_> = overrides.iter().map(|&(path, value)| (path.to_string(), value.to_string())).collect();
    let document = Document { text, name: "test.toml", overrides: &own, seed: None };
    check(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

fn run(checked: &Checked, span: &Span<'_>) -> RunOutput {
    run_span(checked, &OneTrace, span, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|problems| panic!("{problems}"))
}

fn state(checked: &Checked, from: Option<&SavedRun<'_>>) -> (Record, Vec<u8>) {
    let RunOutput { outcome, state } =
        run(checked, &Span { from, saves: true, preparations: None, second_thread: None });
    (outcome.record, state.expect("the run came to its end"))
}

/// Returns the results of a record, without its settings and its start.
fn measured(record: &Record) -> serde_json::Value {
    let mut json: serde_json::Value = serde_json::from_str(&record.to_json()).unwrap();
    let all = json.as_object_mut().expect("a record is an object");
    ["scenario", "origins", "workload", "name"].iter().for_each(|key| {
        all.remove(*key);
    });
    json
}

/// Checks that the run `second`, which continues from the state after the run `first`, has the same results
/// and the same final state as the run `both`.
fn continues(text: &str, first: &[(&str, &str)], second: &[(&str, &str)], both: &[(&str, &str)]) {
    let (whole, whole_state) = state(&scenario(text, both), None);
    let (_, half_state) = state(&scenario(text, first), None);
    let from = SavedRun::read(&half_state).unwrap();
    let (half, end_state) = state(&scenario(text, second), Some(&from));
    assert_eq!(measured(&half), measured(&whole), "{text}");
    let [whole, half] = [&whole_state, &end_state].map(|state| SavedRun::read(state).unwrap());
    assert!(whole.device == half.device, "the devices differ: {text}");
    assert!(whole.under_way == half.under_way, "the workloads differ: {text}");
}

const ONE: &[(&str, &str)] = &[("run.requests", "2048")];
const TWO: &[(&str, &str)] = &[("run.requests", "4096"), ("run.warm_up", "2048")];

#[test]
fn two_runs_of_half_the_requests_are_one_run() {
    let memory = "kind = \"measured\"\nread = { kind = \"exponential\", mean = \"50 us\" }\nwrite = \"90 us\"\ncapacity = \"32 MiB\"\n";
    let cache = format!(
        "[stack]\nkind = \"server_cache\"\nblock = \"4 KiB\"\n[stack.backing]\n{memory}\
         [[stack.level]]\npolicy = \"lirs\"\n[stack.level.device]\n{}",
        memory.replace("32 MiB", "4 MiB")
    );
    let open = format!("{HOT}arrival = {{ kind = \"poisson\", rate = \"5 kHz\" }}\n");
    let closed = format!("{HOT}arrival = {{ kind = \"closed\", queue_depth = 7, think = \"3 us\" }}\n");
    let trace =
        "[workload]\nkind = \"trace\"\nfile = \"a.csv\"\nformat = \"nacre_csv\"\nplacement = \"compact\"\n";
    let store = "[workload]\nkind = \"kv\"\nkeys = 20_000\ncache = \"1 MiB\"\nlog = \"2 MiB\"\n";
    let parity = format!("{}{BIT_ERRORS}", SSD.replace("33 %", "140 %"));
    for workload in [&open, &closed, trace, store] {
        for stack in [SSD, &parity, &cache] {
            continues(&format!("{workload}{stack}"), ONE, ONE, TWO);
        }
    }
}

/// Tests continuing a run that was saved while requests waited in the host and tries were outstanding at
/// the device, including tries that the host had given up.
#[test]
fn a_host_with_timeouts_continues() {
    let host =
        "[host]\nqueue_depth = 3\ntimeout = { after = \"200 us\", retries = 2, backoff = \"30 us\" }\n";
    let open = format!("{HOT}arrival = {{ kind = \"poisson\", rate = \"5 kHz\" }}\n");
    let closed = format!("{HOT}arrival = {{ kind = \"closed\", queue_depth = 7 }}\n");
    let tenants = "[workload]\nkind = \"tenants\"\n[[workload.tenant]]\nname = \"a\"\n\
        workload = { kind = \"uniform\", requests = 100_000, footprint = \"8 MiB\", arrival = { kind = \"poisson\", rate = \"4 kHz\" } }\n\
        [[workload.tenant]]\nname = \"b\"\n\
        workload = { kind = \"uniform\", requests = 100_000, footprint = \"8 MiB\", arrival = { kind = \"closed\", queue_depth = 9 } }\n";
    for workload in [&open, &closed, tenants] {
        let text = format!("{workload}{SSD}{host}");
        continues(&text, ONE, ONE, TWO);
        let (record, bytes) = state(&scenario(&text, ONE), None);
        let of = |name: &str| record.components[0].counters[name].as_u64().expect("it is a count");
        assert!(of("timeouts") > 0 && of("late_answers") > 0, "{workload}");
        // A host without timeouts has different settings, so its workload starts from its beginning when the
        // device is at rest.
        let from = SavedRun::read(&bytes).expect("it was saved");
        state(&scenario(&format!("{workload}{SSD}"), ONE), Some(&from));
    }
}

#[test]
fn a_run_that_its_duration_ended_goes_on_at_that_time() {
    let closed = format!("{HOT}arrival = {{ kind = \"closed\", queue_depth = 3 }}\n{SSD}");
    let (_, first) = state(&scenario(&closed, &[("run.duration", "20 ms")]), None);
    let from = SavedRun::read(&first).unwrap();
    let (_, second) = state(&scenario(&closed, &[("run.duration", "30 ms")]), Some(&from));
    let (_, whole) = state(&scenario(&closed, &[("run.duration", "50 ms")]), None);
    let [second, whole] = [&second, &whole].map(|state| SavedRun::read(state).unwrap());
    assert!(second.under_way == whole.under_way, "the same requests were served at the same times");
}

#[test]
fn another_workload_begins_when_the_stack_is_quiet_and_finds_what_was_written() {
    let fill = format!(
        "[workload]\nkind = \"sequential\"\nrequests = 10_000\nread_share = \"0 %\"\nfootprint = \"24 MiB\"\n{SSD}"
    );
    let (_, filled) = state(&scenario(&fill, &[("run.requests", "6144")]), None);
    let from = SavedRun::read(&filled).unwrap();
    let read = format!("{HOT}{SSD}");
    let other = scenario(&read, &[("run.requests", "512"), ("workload.read_share", "100 %")]);
    let (record, _) = state(&other, Some(&from));
    let (fresh, _) = state(&other, None);
    let unwritten = |record: &Record| {
        let json = record.to_json();
        let (_, count) = json.split_once("\"unwritten_reads\":").expect("a drive counts them");
        count.trim_start().starts_with("0")
    };
    assert!(unwritten(&record) && !unwritten(&fresh), "what is read was written");
    let note = "the run starts at";
    assert!(record.to_json().contains(note) && !fresh.to_json().contains(note));
}

#[test]
fn a_state_of_another_stack_is_refused_with_the_settings() {
    let text = format!("{HOT}{SSD}");
    let (_, bytes) = state(&scenario(&text, ONE), None);
    let from = SavedRun::read(&bytes).unwrap();
    let span = Span { from: Some(&from), saves: false, preparations: None, second_thread: None };
    let refused = |overrides: &[(&str, &str)]| {
        let result =
            run_span(&scenario(&text, overrides), &OneTrace, &span, &mut |_| ControlFlow::Continue(()));
        result.expect_err("of another stack").to_string()
    };
    let found = refused(&[("run.requests", "9"), ("stack.channels", "4")]);
    assert!(found.contains("stack.channels is 2 in the state and 4 here"), "{found}");
    let found = refused(&[("run.requests", "9"), ("run.seed", "2")]);
    assert!(found.contains("run.seed is 1 in the state and 2 here"), "{found}");
    let found = refused(&[("run.requests", "9"), ("run.precondition", "100")]);
    assert!(found.contains("remove run.fill, run.precondition and run.until_steady"), "{found}");
}

#[test]
fn every_setting_that_differs_is_named_with_both_values() {
    let text = format!("{HOT}{SSD}");
    let (_, bytes) = state(&scenario(&text, ONE), None);
    let from = SavedRun::read(&bytes).unwrap();
    let span = Span { from: Some(&from), saves: false, preparations: None, second_thread: None };
    let settings = [
        ("stack.blocks", "64", "65"),
        ("stack.buffer", "256 KiB", "512 KiB"),
        ("stack.bus", "400 MB/s", "500 MB/s"),
        ("stack.channels", "2", "4"),
        ("stack.garbage_collection.policy.kind", "greedy", "fifo"),
        ("stack.erase", "3 ms", "4 ms"),
        ("stack.pages", "64", "65"),
        ("stack.program[0]", "500 us", "501 us"),
        ("stack.read[0]", "50 us", "51 us"),
        ("stack.ways", "2", "3"),
    ];
    let asked = settings.map(|(path, _, asked)| (path, asked));
    let result = run_span(&scenario(&text, &asked), &OneTrace, &span, &mut |_| ControlFlow::Continue(()));
    let found = result.expect_err("of another stack").to_string();
    for (path, saved, asked) in settings {
        assert!(
            found.contains(&format!("{path} is {saved} in the state and {asked} here")),
            "{path}: {found}"
        );
    }
}

/// Tests that the order of lines in the identity does not matter, e.g. if a later schema lists the settings
/// in another order.
#[test]
fn the_same_settings_in_another_order_are_the_same_stack_and_workload() {
    let checked = scenario(&format!("{SSD}{HOT}"), &[("run.requests", "2048"), ("run.precondition", "100")]);
    let (_, mut bytes) = state(&checked, None);
    let (expected, _) = state(&checked, Some(&SavedRun::read(&bytes).expect("it is whole")));
    let SavedRun { stack, workload, preparation, .. } = SavedRun::read(&bytes).expect("it is whole");
    for text in [stack, workload, preparation] {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.reverse();
        let at = bytes.windows(text.len()).position(|window| window == text.as_bytes()).expect("it is there");
        bytes[at..at + text.len()].copy_from_slice(lines.join("\n").as_bytes());
    }
    seal(&mut bytes);
    let (found, _) = state(&checked, Some(&SavedRun::read(&bytes).expect("it is whole")));
    assert_eq!(measured(&found), measured(&expected), "it continues where it stood");
}

/// Sets the checksum of modified bytes to the correct value.
fn seal(bytes: &mut [u8]) {
    let end = bytes.len() - 4;
    let checksum = crc32fast::hash(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&checksum);
}

#[test]
fn a_workload_of_another_version_is_refused() {
    let checked = scenario(&format!("{SSD}{HOT}"), &[("workload.requests", "2000")]);
    let (_, mut bytes) = state(&checked, None);
    let line = b"version of the model of zipf = ";
    let at = bytes.windows(line.len()).position(|window| window == line).expect("it says so") + line.len();
    bytes[at] = b'7';
    seal(&mut bytes);
    let saved = SavedRun::read(&bytes).expect("it is whole");
    let span = Span { from: Some(&saved), saves: false, preparations: None, second_thread: None };
    let run = |checked: &Checked| run_span(checked, &OneTrace, &span, &mut |_| ControlFlow::Continue(()));
    let problems = run(&checked).expect_err("it is refused").to_string();
    assert!(problems.contains("version of the model of zipf is 7 in the state and "), "{problems}");
    assert!(problems.contains("change a setting of the workload"), "{problems}");
    // A different workload starts from its beginning.
    let other =
        scenario(&format!("{SSD}{HOT}"), &[("workload.requests", "2000"), ("workload.read_share", "31 %")]);
    assert!(run(&other).is_ok());
}

#[test]
fn other_files_are_distinguished_from_damaged_states() {
    let (_, bytes) = state(&scenario(&format!("{HOT}{SSD}"), &[("run.requests", "64")]), None);
    assert_eq!(SavedRun::read(b"[workload]").unwrap_err(), Unreadable::NoState);
    for length in [8, 11, 12, 40, bytes.len() / 2, bytes.len() - 1] {
        assert_eq!(SavedRun::read(&bytes[..length]).unwrap_err(), Unreadable::Damaged, "{length} bytes");
    }
    for at in (8..bytes.len()).step_by(bytes.len() / 50) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(SavedRun::read(&damaged).is_err(), "byte {at}");
    }
}

#[derive(Default)]
struct SavedPreparations(Mutex<Vec<(String, Vec<u8>)>>);

impl Preparations for SavedPreparations {
    fn find(&self, preparation: &str) -> Option<Vec<u8>> {
        let kept = self.0.lock().unwrap();
        kept.iter().find(|(key, _)| key == preparation).map(|(_, state)| state.clone())
    }

    fn keep(&self, preparation: &str, state: &[u8]) {
        self.0.lock().unwrap().push((preparation.into(), state.into()));
    }
}

/// Checks that records are equal byte for byte with and without a saved preconditioned state, including the
/// search for a steady state.
#[test]
fn a_kept_preparation_makes_no_difference() {
    let text = format!("{HOT}arrival = {{ kind = \"closed\", queue_depth = 4 }}\n{SSD}");
    let kept = SavedPreparations::default();
    let span = Span { from: None, saves: false, preparations: Some(&kept), second_thread: None };
    let prepared =
        [("run.precondition", "9000"), ("run.until_steady.windows_max", "7"), ("run.requests", "500")];
    for depth in ["4", "9", "30"] {
        let overrides = [&prepared[..], &[("workload.arrival.queue_depth", depth)]].concat();
        let checked = scenario(&text, &overrides);
        let records = [Span::default(), span].map(|span| run(&checked, &span).outcome.record.to_json());
        assert!(records[0] == records[1], "at depth {depth}");
    }
    assert_eq!(kept.0.lock().unwrap().len(), 1, "all began with one preparation");
    run(&scenario(&text, &[&prepared[..], &[("stack.channels", "4")]].concat()), &span);
    assert_eq!(kept.0.lock().unwrap().len(), 2, "another stack has its own");
}

/// Timings of a drive, each with two values.
const TAKES: &[(&str, [&str; 2])] = &[
    ("read", ["[\"50 us\"]", "[\"77 us\"]"]),
    ("program", ["[\"500 us\", \"2 ms\"]", "[\"300 us\", \"900 us\"]"]),
    ("erase", ["3 ms", "5 ms"]),
    ("bus", ["400 MB/s", "233 MB/s"]),
    ("command", ["300 ns", "2 us"]),
    ("scheduling.suspend", ["5 us", "30 us"]),
    ("scheduling.resume", ["1 us", "9 us"]),
    ("scheduling.suspensions", ["8", "1"]),
    ("link", ["4 GB/s", "1 GB/s"]),
    ("driver", ["1 us", "7 us"]),
    ("firmware", ["1 us", "11 us"]),
    ("translation", ["1 us", "3 us"]),
    ("read_energy", ["1 uJ", "7 uJ"]),
    ("program_energy", ["10 uJ", "20 uJ"]),
    ("erase_energy", ["100 uJ", "300 uJ"]),
    ("transfer_energy", ["1 uJ", "2 uJ"]),
    ("idle_power", ["1 W", "2 W"]),
    ("price", ["0.1 /GiB", "0.2 /GiB"]),
    ("slc_cache.read", ["20 us", "30 us"]),
    ("slc_cache.program", ["150 us", "250 us"]),
];

/// Tests the cache of preconditioned states with each timing changed in turn: the state and the record
/// equal those of a run that preconditions the drive itself.
#[test]
fn drives_that_differ_in_what_they_take_share_a_preparation() {
    let of_stack: Vec<String> = TAKES.iter().map(|(setting, _)| format!("stack.{setting}")).collect();
    let kinds: &[&[(&str, &str)]] = &[
        &[],
        &[
            ("stack.allocation", "dynamic"),
            ("stack.planes", "2"),
            ("stack.mapping.kind", "cached_pages"),
            ("stack.mapping.size", "8 KiB"),
        ],
        &[
            ("stack.garbage_collection.wear_spread", "3"),
            ("stack.endurance", "100000"),
            ("stack.garbage_collection.idle_reserve", "2"),
        ],
    ];
    for kind in kinds {
        let kept = SavedPreparations::default();
        let span = Span { from: None, saves: true, preparations: Some(&kept), second_thread: None };
        for changed in 0..=TAKES.len() {
            let takes = TAKES.iter().enumerate().zip(&of_stack);
            let takes = takes.map(|((number, (_, values)), path)| {
                (path.as_str(), values[usize::from(number + 1 == changed)])
            });
            let mut overrides: Vec<(&str, &str)> = takes.collect();
            overrides.extend([
                ("stack.slc_cache.size", "4 MiB"),
                ("stack.scheduling.kind", "suspension"),
                ("stack.price_basis", "USD 2026"),
                ("run.precondition", "9000"),
                ("run.until_steady.windows_max", "3"),
                ("run.requests", "300"),
            ]);
            overrides.extend(*kind);
            let checked = scenario(&format!("{HOT}{SSD}"), &overrides);
            let alone =
                run(&checked, &Span { from: None, saves: true, preparations: None, second_thread: None });
            let shared = run(&checked, &span);
            let case = changed.checked_sub(1).map_or("nothing", |changed| TAKES[changed].0);
            assert!(alone.outcome.record.to_json() == shared.outcome.record.to_json(), "{case}, {kind:?}");
            assert!(alone.state == shared.state, "{case}, {kind:?}");
        }
        assert_eq!(kept.0.lock().unwrap().len(), 1, "all began with one preparation");
    }
}

#[test]
fn a_stack_over_a_drive_that_is_slower_has_a_preparation_of_its_own() {
    let drive = SSD.replace("[stack]", "[stack.backing]");
    let text = format!("{HOT}[stack]\nkind = \"dram_disk_cache\"\ncapacity = \"8 MiB\"\n{drive}");
    let of = |read| super::preparation(&scenario(&text, &[("run.fill", "{}"), ("stack.backing.read", read)]));
    assert!(of("[\"50 us\"]").is_some() && of("[\"50 us\"]") != of("[\"60 us\"]"));
}
