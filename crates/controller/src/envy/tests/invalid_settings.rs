//! Tests that invalid settings of an array are rejected.

use crate::workbench::workbench;

/// The errors of a device with these settings, one per line.
fn problems(settings: &str) -> String {
    let built = workbench(1).build(&format!("kind = \"envy\"\n{settings}"));
    built.err().unwrap_or_else(|| panic!("{settings} was taken")).to_string()
}

#[test]
fn a_mistake_names_place_value_and_remedy() {
    for (settings, expected) in [
        (
            "utilization = \"100 %\"",
            "device.utilization (test.toml:3): cleaning needs an invalid page in every segment, given \
             100 %; with these segments the largest allowed is 99.99 %",
        ),
        (
            "page = \"300 B\"",
            "device.page (test.toml:3): bytes of a page are a power of two, given 300 B; the nearest allowed are \
             256 B and 512 B",
        ),
        (
            "segment = \"12 MiB\"",
            "device.segment (test.toml:3): its number of pages is not a power of two, given 12 MiB; the next \
             allowed is 16 MiB",
        ),
        (
            "buffer = \"1000 B\"",
            "device.buffer (test.toml:3): it is not a whole number of pages, given 1000 B; give a multiple of \
             the page, 256 B",
        ),
        (
            "transfer = \"100 B\"",
            "device.transfer (test.toml:3): a page of 256 B is not a whole number of transfers, given 100 B; the \
             nearest below is 64 B; remove it to transfer whole pages",
        ),
        (
            "spare_segments = 128",
            "device.spare_segments (test.toml:3): no segments are left for data, given 128; the largest \
             allowed is 127",
        ),
        (
            "concurrency = 9",
            "device.concurrency (test.toml:3): a bank works on one operation at a time, given 9; the largest \
             allowed is 8, or give more banks",
        ),
        (
            "segments = 65536",
            "device.page (default): flash and buffer have 4295032832 pages, but the limit is 4294967295, given 256 B; use \
             larger pages, or fewer segments",
        ),
    ] {
        assert_eq!(problems(settings), expected, "{settings}");
    }
    let partitions = problems("cleaning = { kind = \"hybrid\", segments_per_partition = 12 }");
    assert!(partitions.contains("given 12; use 8 or 16, the nearest that divide them"), "{partitions}");
}

#[test]
fn mistakes_of_one_device_come_together() {
    let both = problems("segment = \"12 MiB\"\nspare_segments = 128");
    assert!(both.contains("device.segment") && both.contains("device.spare_segments"), "{both}");
}
