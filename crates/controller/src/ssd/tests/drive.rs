//! The drive as a whole: every request completes, the contract of devices is kept, what it counts adds up.

use super::*;
use nacre_kernel::Breakdown;
use nacre_kernel::Data;
use nacre_testkit::{closed_loop, conformance};

#[test]
fn a_million_random_writes_complete_at_every_depth_while_cleaning() {
    for depth in [1, 4, 16, 64, 256] {
        let mut device = drive("blocks = 128\nplanes = 2\nsuspend = \"20 us\"");
        let count = unit_count(&*device);
        let mut random = random("depths");
        let seen = closed_loop(&mut *device, depth, 200_000, |_| unit(Op::Write, random.below(count)));
        assert_eq!((seen.count(), seen.errors), (200_000, 0), "at depth {depth}");
        device.check_invariants();
        let report = report(&*device);
        assert!(counter(&report, "cleanings") > 200, "at depth {depth}");
        let wear = report.wear.unwrap();
        assert_eq!(
            wear.host + counter_of_coalesced(&*device),
            200_000,
            "every write is programmed or changed"
        );
    }
}

fn counter_of_coalesced(device: &dyn Device) -> u64 {
    // What is left in the operations being filled was programmed as far as the mapping knows.
    counter(&report(device), "units_coalesced")
}

#[test]
fn the_contract_of_devices_is_kept() {
    for settings in [
        "blocks = 32",
        "blocks = 32\nplanes = 2\nsuspend = \"10 us\"\nresume = \"5 us\"\nsuspensions = 2",
        "blocks = 32\nread_priority = false\ncached = false",
        "blocks = 32\npower_protected = false\nqueue_depth = 4\ndriver = \"3 us\"\ncpus = 2\ntranslation = \"1 us\"",
        "blocks = 64\nmapping_cache = \"8 KiB\"\npower_protected = false\nbuffer_kept = \"30 %\"",
        "blocks = 64\nstreams = \"mixed\"\nwear_spread = 5",
        "blocks = 64\npage = \"16 KiB\"\npages = 16\nread_energy = \"1 uJ\"\nprogram_energy = \"9 uJ\"\nerase_energy = \"90 uJ\"\ntransfer_energy = \"1 uJ\"\nidle_power = \"1 W\"",
        "blocks = 64\nslc_cache = { size = \"2 MiB\", read = \"20 us\", program = \"200 us\" }",
        "blocks = 32\nunit = \"1 KiB\"\npage = \"4 KiB\"\nmulti_plane = false\nplanes = 3",
        "blocks = 32\nover_provisioning = \"140 %\"\nparity = {}\nbuffer_kept = \"30 %\"",
        "blocks = 32\nover_provisioning = \"180 %\"\nparity = { stripe = 2 }\npower_protected = false\nplanes = 2\nmulti_plane = false",
        "blocks = 64\nallocation = \"static\"\nmapping_cache = \"8 KiB\"\nwear_spread = 3",
        "blocks = 64\nallocation = \"static\"\nplanes = 2\nmapping_cache = \"8 KiB\"\npower_protected = false",
        "blocks = 64\nallocation = \"dynamic\"\nmapping_cache = \"8 KiB\"",
        "blocks = 64\nallocation = \"dynamic\"\nplanes = 2\nmapping_cache = \"8 KiB\"\npower_protected = false",
        "blocks = 64\nallocation = \"static\"\nplanes = 2\ncopyback = true\nerrors = { ecc = { kind = \"ldpc\" }, bit_error_rate = 0.004, cycles = 9, error_exponent = 0, refresh_reads = 40 }",
    ] {
        conformance(|| drive(settings));
    }
}

#[test]
fn a_flush_programs_a_buffer_that_would_lose_its_data() {
    let mut device = drive("planes = 4\npages = 16\npower_protected = false");
    device.submit(Time::ZERO, &unit(Op::Write, 3), Data::None, &mut Breakdown::new());
    let flush = Request { bytes: 0, ..unit(Op::Flush, 0) };
    let done = device.submit(Time::from_us(5), &flush, Data::None, &mut Breakdown::new()).done;
    assert!(done > Time::from_us(505), "a program takes 500 us");
    let wear = report(&*device).wear.unwrap();
    assert_eq!((wear.host, wear.padding), (1, 3));
    device.check_invariants();
    let mut device = drive("planes = 4\npages = 16");
    device.submit(Time::ZERO, &unit(Op::Write, 3), Data::None, &mut Breakdown::new());
    assert_eq!(
        device.submit(Time::from_us(5), &flush, Data::None, &mut Breakdown::new()).done,
        Time::from_us(5)
    );
}

#[test]
fn what_is_kept_in_the_buffer_is_changed_there() {
    let mut device = drive("buffer_kept = \"50 %\"");
    for number in 0..1000 {
        device.submit(
            Time::from_us(number),
            &unit(Op::Write, number % 20),
            Data::None,
            &mut Breakdown::new(),
        );
    }
    assert_eq!(counter(&report(&*device), "units_coalesced"), 980);
}

#[test]
fn a_small_write_reads_the_rest_of_its_unit() {
    let mut device = drive("");
    device.submit(Time::ZERO, &unit(Op::Write, 3), Data::None, &mut Breakdown::new());
    let small = Request { bytes: 512, ..unit(Op::Write, 3) };
    device.submit(Time::from_ms(5), &small, Data::None, &mut Breakdown::new());
    let report = report(&*device);
    assert_eq!((counter(&report, "partial_writes"), counter(&report, "flash_reads")), (1, 1));
}

#[test]
fn energy_is_that_of_pages_blocks_and_transfers() {
    let mut device = drive(
        "planes = 2\npages = 32\nread_energy = \"10 uJ\"\nprogram_energy = \"100 uJ\"\nerase_energy = \"1 mJ\"\ntransfer_energy = \"1 uJ\"\nidle_power = \"2 W\"\nprice = \"4 /GiB\"",
    );
    for number in 0..64 {
        device.submit(Time::ZERO, &unit(Op::Write, number), Data::None, &mut Breakdown::new());
    }
    for number in 0..10 {
        device.submit(Time::from_s(1), &unit(Op::Read, number * 4), Data::None, &mut Breakdown::new());
    }
    let report = device.report(Time::from_s(2));
    let energy = |activity| report.energy(activity).0;
    assert!((energy(nacre_kernel::Activity::Drain) - 64.0 * 100e-6).abs() < 1e-12);
    assert!((energy(nacre_kernel::Activity::Read) - 10.0 * 10e-6).abs() < 1e-12);
    assert!((energy(nacre_kernel::Activity::Transfer) - 74.0 * 1e-6).abs() < 1e-12);
    assert_eq!(report.idle_energy, Some(nacre_kernel::Energy(4.0)));
    let gib = device.capacity().unwrap().0 as f64 / f64::from(1 << 30);
    assert!((report.cost.unwrap() - 4.0 * gib).abs() < 1e-9);
}

#[test]
fn every_page_that_is_copied_takes_its_energy() {
    // Two planes are read together; cleaning copies both pages of an operation, or one.
    let mut device = drive(
        "planes = 2\nblocks = 64\nread_energy = \"10 uJ\"\nprogram_energy = \"100 uJ\"\nerase_energy = \"0 J\"\ntransfer_energy = \"0 J\"",
    );
    let count = unit_count(&*device);
    let mut random = random("energy");
    closed_loop(&mut *device, 16, 3 * count, |_| unit(Op::Write, random.below(count)));
    let report = report(&*device);
    let copied = counter(&report, "units_cleaned") as f64;
    assert!(copied > 1.2 * counter(&report, "copy_reads") as f64, "some reads copy both pages");
    // What is being copied last has been programmed, but not yet read.
    let expected = copied * (10e-6 + 100e-6);
    nacre_testkit::assert_close("copies", report.energy(nacre_kernel::Activity::Clean).0, expected, 0.001);
}

#[test]
fn what_was_never_written_is_read_where_it_would_lie() {
    let read = |settings: &str| {
        drive(settings).submit(Time::ZERO, &unit(Op::Read, 5), Data::None, &mut Breakdown::new()).done
    };
    assert!(read("") > Time::from_us(50));
    assert!(read("unwritten = \"zeros\"") < Time::from_us(5));
}

/// Bytes of the tables of a drive that was written all over.
#[test]
fn tables_take_at_most_sixteen_bytes_a_page() {
    let geometry = super::array::small("blocks = 512", "greedy").geometry;
    let array = super::array::small("blocks = 512", "greedy");
    let each = array.table_bytes() as f64 / geometry.physical_units() as f64;
    assert!(each <= 9.0, "{each}");
}
