//! Every device of this crate that carries bytes loses its power anywhere.

use crate::workbench::workbench;
use nacre_testkit::crashing::crash as crash_once;
use nacre_testkit::keeps_its_bytes;
use nacre_testkit::planted::{Mistake, Planted};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[track_caller]
pub(crate) fn crash(toml: &str) {
    let crashes = keeps_its_bytes(workbench(1), toml, 6);
    assert!(crashes.losses > 50 && crashes.restarts > 20, "{crashes:?}");
    assert!(crashes.while_recovering > 5 && crashes.blocks_behind > 5, "{crashes:?}");
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

/// The suite is only worth something if it finds what is wrong.
#[test]
fn every_planted_mistake_is_found_within_three_seeds() {
    let disk = "kind = \"hdd\"\ncapacity = \"600 GB\"\nrotation = \"15000 /min\"\nheads = 8\n\
        track_to_track_seek = \"0.2 ms\"\naverage_seek = \"3.4 ms\"\nfull_stroke_seek = \"6.6 ms\"\n\
        outer_rate = \"200 MB/s\"\ninner_rate = \"120 MB/s\"\n";
    let cached = format!("{disk}write_cache = \"64 KiB\"\n");
    let onyx = "kind = \"onyx\"\ncontrollers = 2\nranks = 2\nrow_ranks = 2\nchip = \"64 KiB\"\nrow = \"1 KiB\"\n\
        wear_levelling = { kind = \"start_gap\", interval = 2, domains = 2 }\ncompletion = \"late\"\n";
    for mistake in Mistake::ALL {
        let toml = match mistake {
            Mistake::AcknowledgedEarly => disk,
            Mistake::FlushThatLies => &cached,
            _ => onyx,
        };
        let is_found = (0..3).any(|seed| {
            let mut workbench = workbench(1).with_bytes();
            let mut build = || -> Box<dyn nacre_kernel::Device> {
                workbench.again();
                Box::new(Planted::new(workbench.build(toml).expect("it is legal"), mistake))
            };
            let run = AssertUnwindSafe(|| crash_once(&mut build, "planted", seed));
            catch_unwind(run).is_err()
        });
        assert!(is_found, "{mistake:?} is not found");
    }
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
