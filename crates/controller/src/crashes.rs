//! Every device of this crate that carries bytes loses its power anywhere.

use crate::workbench::workbench;
use nacre_crash::exhaustive::exhaust;
use nacre_crash::sequence::Action;
use nacre_testkit::crashing::Described;
use nacre_testkit::keeps_its_bytes;

/// Losses of power of each device.
const POINTS: u64 = 4_000;

#[track_caller]
pub(crate) fn crash(toml: &str) {
    let report = keeps_its_bytes(workbench(1), toml, POINTS);
    let [again, behind] =
        ["power_lost_while_recovering", "blocks_behind"].map(|branch| report.branches[branch]);
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
        wear_levelling = { kind = \"start_gap\", interval = 2, domains = 2, randomise = true }\n";
    crash(onyx);
    crash(&format!("{onyx}completion = \"late\"\n"));
    crash(&format!("{onyx}program_energy = \"1 uJ\"\ncapacitors = \"50 uJ\"\nmay_lose_writes = true\n"));
}

#[test]
fn an_envy_keeps_its_bytes() {
    crash(
        "kind = \"envy\"\nsegments = 8\nsegment = \"4 KiB\"\npage = \"64 B\"\nbuffer = \"1 KiB\"\nbanks = 4\n\
         utilisation = \"50 %\"\nthreshold = \"50 %\"\nmmu_entries = 4\ncleaning = \"greedy\"\n",
    );
}

/// A drive of two dies with 64 units in a superblock, so small that it is cleaned all the time.
fn flash(blocks: u32, spare_blocks: u32, settings: &str) {
    // Beside the reserve of four superblocks there is little more space than data.
    let spare = blocks * 100 / (blocks - spare_blocks - 4) - 100 + 5;
    crash(&format!(
        "kind = \"ssd\"\nblocks = {blocks}\nspare_blocks = {spare_blocks}\nchannels = 2\nways = 1\npages = 32\npage = \"512 B\"\nunit = \"512 B\"\n\
         read = [\"50 us\"]\nprogram = [\"500 us\", \"900 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
         link = \"1 GB/s\"\nover_provisioning = \"{spare} %\"\n{settings}\n"
    ));
}

#[test]
fn a_flash_drive_keeps_its_bytes() {
    flash(11, 0, "buffer = \"4 KiB\"");
    flash(11, 0, "buffer = \"4 KiB\"\npower_protected = false");
    flash(
        11,
        0,
        "planes = 2\nbuffer = \"8 KiB\"\nbuffer_kept = \"50 %\"\npower_protected = false\n\
         suspend = \"20 us\"\nwear_spread = 2\ncleaning = \"fifo\"",
    );
}

#[test]
fn a_flash_drive_with_zones_keeps_its_bytes() {
    flash(11, 0, "buffer = \"4 KiB\"\nzones = { active = 2 }");
    flash(
        12,
        0,
        "buffer = \"8 KiB\"\nzones = { superblocks = 2, active = 3, open = 1 }\nbuffer_places = \"pool\"",
    );
    flash(
        11,
        0,
        "planes = 2\nbuffer = \"4 KiB\"\nsuspend = \"20 us\"\nerases_at_once = 1\nzones = { active = 1 }",
    );
}

#[test]
fn a_flash_drive_that_fills_each_plane_by_itself_keeps_its_bytes() {
    let planes = "planes = 2\npages = 32\npage = \"1 KiB\"\nbuffer = \"8 KiB\"\npower_protected = false";
    let drive = "kind = \"ssd\"\nblocks = 11\nchannels = 2\nways = 1\nunit = \"512 B\"\n\
         read = [\"50 us\"]\nprogram = [\"500 us\", \"900 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
         link = \"1 GB/s\"\nover_provisioning = \"62 %\"";
    for settings in [
        "allocation = \"static\"",
        "allocation = \"static\"\nallocation_order = \"PWDC\"\nwear_spread = 2\nsuspend = \"20 us\"",
        "allocation = \"static\"\nallocation_order = \"PCWD\"\nregisters = 1\nbuffer_places = \"pool\"",
        "allocation = \"dynamic\"\nbuffer_kept = \"50 %\"\nerases_at_once = 1",
        "allocation = \"dynamic\"\npower_protected = true\nmulti_plane = false",
        "allocation = \"static\"\npower_protected = true\nunit = \"1 KiB\"\npages = 64\ncopyback = true",
    ] {
        let kept = drive.lines().chain(planes.lines()).filter(|line| {
            let name = line.split('=').next();
            !settings.lines().any(|given| given.split('=').next() == name)
        });
        let text: Vec<&str> = kept.chain(settings.lines()).collect();
        crash(&text.join("\n"));
    }
}

/// Whatever it loses it tells: that is all it promises of pages that share a word line.
#[test]
fn a_flash_drive_that_loses_paired_pages_tells_of_them() {
    let drive = "kind = \"ssd\"\nblocks = 11\nchannels = 2\nways = 1\npages = 32\npage = \"512 B\"\nunit = \"512 B\"\n\
        read = [\"50 us\"]\nprogram = [\"500 us\", \"900 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
        link = \"1 GB/s\"\nover_provisioning = \"62 %\"\nbuffer = \"4 KiB\"\npower_protected = false\n\
        paired_page_loss = true\n";
    let report = keeps_its_bytes(workbench(1), drive, POINTS);
    let [damaged, lost] = ["pages_damaged", "bytes_lost"].map(|branch| report.branches[branch]);
    assert!(damaged > 100 && lost > 100, "{:?}", report.branches);
}

#[test]
fn a_flash_drive_with_a_mapping_in_flash_keeps_its_bytes() {
    let mapping = "mapping_cache = \"1 KiB\"\nmapping_entry = \"4 B\"\nbuffer = \"4 KiB\"";
    flash(12, 0, &format!("{mapping}\npower_protected = false\nqueue_depth = 4"));
    flash(12, 0, &format!("{mapping}\nbuffer_kept = \"25 %\""));
}

#[test]
fn a_flash_drive_whose_cleaner_sorts_by_locality_keeps_its_bytes() {
    let sorted = "buffer = \"4 KiB\"\ncleaning = \"locality_gathering\"\npower_protected = false";
    flash(12, 0, sorted);
    flash(16, 4, &format!("{sorted}\nbuffer_kept = \"25 %\"\nfactory_bad = \"1 %\""));
    flash(12, 0, &sorted.replace("locality_gathering", "greedy\"\nstreams = \"mixed"));
}

/// Every sequence of these on a tiny device, with a loss of power at every moment of every step.
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
    println!("{kind}: {sequences} sequences of {length} steps, {points} losses of power");
}

#[test]
fn every_short_sequence_on_a_tiny_envy_keeps_its_bytes() {
    let envy = "kind = \"envy\"\nsegments = 3\nsegment = \"64 B\"\npage = \"16 B\"\nbuffer = \"64 B\"\nbanks = 1\n\
        utilisation = \"50 %\"\nthreshold = \"50 %\"\nmmu_entries = 1\ncleaning = \"greedy\"\n";
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
        wear_levelling = { kind = \"start_gap\", interval = 1, domains = 1 }\n";
    let actions = [Action::Write(0, 1), Action::Write(3, 4), Action::Trim(0, 2), Action::Restart];
    exhausted(onyx, 64, &actions, 4);
    exhausted(&format!("{onyx}completion = \"late\"\n"), 64, &actions, 4);
}

#[test]
fn every_short_sequence_on_a_tiny_flash_drive_keeps_its_bytes() {
    let drive = "kind = \"ssd\"\nblocks = 9\nchannels = 1\nways = 1\npages = 64\npage = \"512 B\"\nunit = \"512 B\"\n\
        read = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\nlink = \"1 GB/s\"\n\
        over_provisioning = \"150 %\"\nbuffer = \"1 KiB\"\n";
    let actions =
        [Action::Write(0, 1), Action::Write(0, 4), Action::Write(6, 2), Action::Trim(0, 2), Action::Flush];
    exhausted(drive, 512, &actions, 4);
    exhausted(&format!("{drive}power_protected = false\n"), 512, &actions, 4);
}
