//! Tests of the complete drive: every request completes, and the counters are consistent.

use super::*;
use crate::mapping_table::Table;

#[test]
fn a_million_random_writes_complete_at_every_depth_while_cleaning() {
    for depth in [1, 4, 16, 64, 256] {
        let mut device =
            driven("blocks = 128\nplanes = 2\nscheduling = { kind = \"suspension\", suspend = \"20 us\" }");
        let count = device.unit_count();
        let mut random = random("depths");
        let seen = device.closed_loop(depth, 200_000, |_| unit(Op::Write, random.below(count)));
        assert_eq!((seen.count(), seen.errors), (200_000, 0), "at depth {depth}");
        device.check_invariants();
        let report = device.report();
        assert!(counter(&report, "cleanings") > 200, "at depth {depth}");
        let wear = report.wear.expect("it wears");
        // Units of the open operations count as programmed in the mapping.
        let coalesced = device.counter("units_coalesced");
        assert_eq!(wear.host + coalesced, 200_000, "every write is programmed or changed");
    }
}

#[test]
fn a_flush_programs_a_buffer_that_would_lose_its_data() {
    let mut device = driven("planes = 4\npages = 16\npower_protected = false");
    device.ask(Time::ZERO, &unit(Op::Write, 3));
    let flush = Request { bytes: 0, ..unit(Op::Flush, 0) };
    let done = device.ask(Time::from_us(5), &flush).done;
    assert!(done > Time::from_us(505), "a program takes 500 us");
    let wear = device.report().wear.unwrap();
    assert_eq!((wear.host, wear.padding), (1, 3));
    device.check_invariants();
    let mut device = driven("planes = 4\npages = 16");
    device.ask(Time::ZERO, &unit(Op::Write, 3));
    assert_eq!(device.ask(Time::from_us(5), &flush).done, Time::from_us(5));
}

#[test]
fn units_held_in_the_buffer_are_overwritten_there() {
    let mut device = driven("buffer_kept = \"50 %\"");
    for number in 0..1000 {
        device.submit(Time::from_us(number), &unit(Op::Write, number % 20));
    }
    device.rest();
    assert_eq!(device.counter("units_coalesced"), 980);
}

#[test]
fn a_small_write_reads_the_rest_of_its_unit() {
    let mut device = driven("");
    device.ask(Time::ZERO, &unit(Op::Write, 3));
    let small = Request { bytes: 512, ..unit(Op::Write, 3) };
    device.ask(Time::from_ms(5), &small);
    device.rest();
    let report = device.report();
    assert_eq!((counter(&report, "partial_writes"), counter(&report, "flash_reads")), (1, 1));
}

#[test]
fn energy_is_that_of_pages_blocks_and_transfers() {
    let mut device = driven(
        "planes = 2\npages = 32\nread_energy = \"10 uJ\"\nprogram_energy = \"100 uJ\"\nerase_energy = \"1 mJ\"\ntransfer_energy = \"1 uJ\"\nidle_power = \"2 W\"\nprice = \"4 /GiB\"",
    );
    device.write_all(Time::ZERO, 0..64);
    for number in 0..10 {
        device.submit(Time::from_s(1), &unit(Op::Read, number * 4));
    }
    device.rest();
    let report = device.report_over(Time::from_s(2));
    let energy = |activity| report.energy(activity).0;
    assert!((energy(Activity::Drain) - 64.0 * 100e-6).abs() < 1e-12);
    assert!((energy(Activity::Read) - 10.0 * 10e-6).abs() < 1e-12);
    assert!((energy(Activity::Transfer) - 74.0 * 1e-6).abs() < 1e-12);
    assert_eq!(report.idle_energy, Some(nacre_kernel::Energy(4.0)));
    let gib = device.device.capacity().unwrap().0 as f64 / f64::from(1 << 30);
    assert!((report.cost.unwrap() - 4.0 * gib).abs() < 1e-9);
}

#[test]
fn every_page_that_is_copied_takes_its_energy() {
    // Two planes are read together. Garbage collection copies one or both pages of an operation.
    let mut device = driven(
        "planes = 2\nblocks = 64\nread_energy = \"10 uJ\"\nprogram_energy = \"100 uJ\"\nerase_energy = \"0 J\"\ntransfer_energy = \"0 J\"",
    );
    let count = device.unit_count();
    let mut random = random("energy");
    device.closed_loop(16, 3 * count, |_| unit(Op::Write, random.below(count)));
    device.rest();
    let report = device.report();
    let copied = counter(&report, "units_cleaned") as f64;
    assert!(copied > 1.2 * counter(&report, "copy_reads") as f64, "some reads copy both pages");
    // The last copies in progress have already been counted as programmed, but were not read yet.
    let expected = copied * (10e-6 + 100e-6);
    assert_close("copies", report.energy(Activity::Clean).0, expected, 0.001);
}

#[test]
fn unwritten_units_are_read_where_a_filled_drive_has_them() {
    let read = |settings: &str| driven(settings).ask(Time::ZERO, &unit(Op::Read, 5)).done;
    assert!(read("") > Time::from_us(50));
    assert!(read("unwritten = \"zeros\"") < Time::from_us(5));
}

/// Checks that the tables of a drive take at most nine bytes per page after every unit was written.
#[test]
fn tables_take_at_most_nine_bytes_a_page() {
    let geometry = super::array::small("blocks = 512", "greedy").geometry;
    let mut array = super::array::small("blocks = 512", "greedy");
    array.table = Table::list(array.table.len());
    let each = array.table_bytes() as f64 / geometry.physical_units() as f64;
    assert!(each <= 9.0, "{each}");
}
