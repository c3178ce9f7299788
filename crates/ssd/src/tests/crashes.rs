//! What survives power losses of drives that are so small that they are cleaned all the time.

use super::*;
use nacre_testkit::events::durability;

/// The drive of this text, with `settings` behind it, or instead.
fn keeps_its_bytes(drive: &str, settings: &str) {
    let kept = drive.lines().filter(|line| {
        let name = line.split('=').next();
        !settings.lines().any(|given| given.split('=').next() == name)
    });
    let text: Vec<&str> = kept.chain(settings.lines()).collect();
    let text = text.join("\n");
    for pause in [20, 100, 400, 2_000].map(Time::from_us) {
        let build = || {
            let device = workbench(1).with_bytes().build_events(&text);
            device.unwrap_or_else(|problems| panic!("{problems}"))
        };
        let kept = std::panic::catch_unwind(|| durability(pause, build));
        assert!(kept.is_ok(), "with {settings}, pauses of {pause}");
    }
}

/// A drive of two dies with 64 units in a superblock.
fn flash(blocks: u32, spare_blocks: u32, settings: &str) {
    // Beside the reserve of four superblocks there is little more space than data.
    let spare = blocks * 100 / (blocks - spare_blocks - 4) - 100 + 5;
    let drive = format!(
        "kind = \"ssd\"\nblocks = {blocks}\nspare_blocks = {spare_blocks}\nchannels = 2\nways = 1\npages = 32\npage = \"512 B\"\nunit = \"512 B\"\n\
         read = [\"50 us\"]\nprogram = [\"500 us\", \"900 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
         link = \"1 GB/s\"\nover_provisioning = \"{spare} %\"\nbuffer = \"4 KiB\""
    );
    keeps_its_bytes(&drive, settings);
}

#[test]
fn a_flash_drive_keeps_its_bytes() {
    flash(11, 0, "power_protected = true");
    flash(11, 0, "power_protected = false");
    flash(
        11,
        0,
        "planes = 2\nbuffer = \"8 KiB\"\nbuffer_kept = \"50 %\"\npower_protected = false\n\
         suspend = \"20 us\"\nwear_spread = 2\ncleaning = \"fifo\"",
    );
    flash(11, 0, "buffer = \"32 KiB\"\npower_protected = false\nerases_at_once = 1\nprograms_at_once = 1");
}

#[test]
fn a_flash_drive_that_fills_each_plane_by_itself_keeps_its_bytes() {
    let drive = "kind = \"ssd\"\nblocks = 11\nchannels = 2\nways = 1\nunit = \"512 B\"\n\
         read = [\"50 us\"]\nprogram = [\"500 us\", \"900 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
         link = \"1 GB/s\"\nover_provisioning = \"62 %\"\nplanes = 2\npages = 32\npage = \"1 KiB\"\n\
         buffer = \"8 KiB\"\npower_protected = false";
    for settings in [
        "allocation = \"static\"",
        "allocation = \"static\"\nallocation_order = \"PWDC\"\nwear_spread = 2\nsuspend = \"20 us\"",
        "allocation = \"static\"\nallocation_order = \"PCWD\"\nregisters = 1\nbuffer_places = \"pool\"",
        "allocation = \"dynamic\"\nbuffer_kept = \"50 %\"\nerases_at_once = 1",
        "allocation = \"dynamic\"\npower_protected = true\nmulti_plane = false",
        "allocation = \"static\"\npower_protected = true\nunit = \"1 KiB\"\npages = 64\ncopyback = true",
    ] {
        keeps_its_bytes(drive, settings);
    }
}

#[test]
fn a_flash_drive_with_a_mapping_in_flash_keeps_its_bytes() {
    let mapping = "mapping_cache = \"1 KiB\"\nmapping_entry = \"4 B\"";
    flash(12, 0, &format!("{mapping}\npower_protected = false\nqueue_depth = 4"));
    flash(12, 0, &format!("{mapping}\nbuffer_kept = \"25 %\""));
}

#[test]
fn a_flash_drive_whose_cleaner_sorts_by_locality_keeps_its_bytes() {
    let sorted = "cleaning = \"locality_gathering\"\npower_protected = false";
    flash(12, 0, sorted);
    flash(16, 4, &format!("{sorted}\nbuffer_kept = \"25 %\"\nfactory_bad = \"1 %\""));
    flash(12, 0, &sorted.replace("locality_gathering", "greedy\"\nstreams = \"mixed"));
}
