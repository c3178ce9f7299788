//! Power-loss tests of every device in this crate that stores data.

use crate::workbench::workbench;
use nacre_crash::exhaustive::exhaust;
use nacre_crash::sequence::Action;
use nacre_testkit::crashing::Described;
use nacre_testkit::keeps_its_bytes;

/// Number of power losses per device.
const POINTS: u64 = 4_000;

#[track_caller]
pub(crate) fn crash(toml: &str) {
    let report = keeps_its_bytes(workbench(1), toml, POINTS);
    let [again, behind] =
        ["power_lost_while_recovering", "stale_blocks"].map(|branch| report.branches[branch]);
    assert!(
        report.restarts > 20 && again > 500 && behind > 50,
        "{} restarts, {:?}",
        report.restarts,
        report.branches
    );
}

#[test]
fn a_measured_device_keeps_its_bytes() {
    crash("kind = \"measured\"\nread = \"5 us\"\nwrite = \"20 us\"\nparallelism = 4\ncapacity = \"64 MiB\"");
}

#[test]
fn a_disk_keeps_its_bytes_with_and_without_a_write_cache() {
    let disk = "kind = \"hdd\"\ncapacity = \"600 GB\"\nrotation = \"15000 /min\"\nheads = 8\n\
        track_to_track_seek = \"0.2 ms\"\naverage_seek = \"3.4 ms\"\nfull_stroke_seek = \"6.6 ms\"\n\
        outer_rate = \"200 MB/s\"\ninner_rate = \"120 MB/s\"\n";
    crash(disk);
    crash(&format!("{disk}write_cache = \"64 KiB\"\n"));
}

#[test]
fn an_onyx_keeps_its_bytes() {
    let onyx = "kind = \"onyx\"\ncontrollers = 2\nranks = 2\nrow_ranks = 2\nchip = \"64 KiB\"\nrow = \"1 KiB\"\n\
        wear_leveling = { kind = \"start_gap\", interval = 2, domains = 2, randomize = true }\n";
    crash(onyx);
    crash(&format!("{onyx}completion = \"late\"\n"));
    crash(&format!("{onyx}program_energy = \"1 uJ\"\ncapacitors = \"50 uJ\"\nmay_lose_writes = true\n"));
}

#[test]
fn an_envy_keeps_its_bytes() {
    crash(
        "kind = \"envy\"\nsegments = 8\nsegment = \"4 KiB\"\npage = \"64 B\"\nbuffer = \"1 KiB\"\nbanks = 4\n\
         utilization = \"50 %\"\nthreshold = \"50 %\"\nmmu_entries = 4\ncleaning = \"greedy\"\n",
    );
}

/// Runs every sequence of `length` requests from `actions` on a tiny device, with a power loss at every
/// possible time.
#[track_caller]
#[expect(clippy::print_stdout, reason = "with --nocapture it says how much was tried")]
fn exhausted(toml: &str, block_bytes: usize, actions: &[Action], length: usize) {
    let exhausted = exhaust(&mut Described::new(workbench(1), toml), block_bytes, actions, length);
    let report = &exhausted.report;
    assert!(report.finding.is_none(), "{:?}", report.finding);
    assert_eq!(exhausted.sequences, (actions.len() as u64).pow(length as u32));
    let (points, sequences) = (report.points(), exhausted.sequences);
    assert!(points > 10 * sequences, "{points} points");
    let kind = toml.lines().next().unwrap_or_default();
    println!("{kind}: {sequences} sequences of {length} steps, {points} power losses");
}

#[test]
fn every_short_sequence_on_a_tiny_envy_keeps_its_bytes() {
    let envy = "kind = \"envy\"\nsegments = 3\nsegment = \"64 B\"\npage = \"16 B\"\nbuffer = \"64 B\"\nbanks = 1\n\
        utilization = \"50 %\"\nthreshold = \"50 %\"\nmmu_entries = 1\ncleaning = \"greedy\"\n";
    let actions = [
        Action::Write(0, 1),
        Action::Write(1, 3),
        Action::Begin,
        Action::Commit,
        Action::Abort,
        Action::Flush,
    ];
    exhausted(envy, 8, &actions, 4);
}

#[test]
fn every_short_sequence_on_a_disk_and_an_onyx_keeps_its_bytes() {
    let disk = "kind = \"hdd\"\ncapacity = \"1 MiB\"\nrotation = \"15000 /min\"\nheads = 1\n\
        track_to_track_seek = \"0.2 ms\"\naverage_seek = \"3.4 ms\"\nfull_stroke_seek = \"6.6 ms\"\n\
        outer_rate = \"200 MB/s\"\ninner_rate = \"120 MB/s\"\nwrite_cache = \"4 KiB\"\n";
    let actions =
        [Action::Write(0, 1), Action::Write(0, 4), Action::Write(900, 2), Action::Trim(0, 2), Action::Flush];
    exhausted(disk, 512, &actions, 4);
    let onyx = "kind = \"onyx\"\ncontrollers = 1\nranks = 1\nrow_ranks = 1\nchip = \"4 KiB\"\nrow = \"512 B\"\n\
        wear_leveling = { kind = \"start_gap\", interval = 1, domains = 1 }\n";
    let actions = [Action::Write(0, 1), Action::Write(3, 4), Action::Trim(0, 2), Action::Restart];
    exhausted(onyx, 64, &actions, 4);
    exhausted(&format!("{onyx}completion = \"late\"\n"), 64, &actions, 4);
}
