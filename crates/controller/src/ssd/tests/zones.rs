//! Zones.

use super::*;
use nacre_kernel::{Breakdown, Completion, Data, Status, Zone};
use nacre_testkit::{assert_close, conformance, conformance_in_order};

/// A zone is a superblock of 4 dies of 64 pages: 256 units.
const UNITS: u64 = 256;

fn zoned(settings: &str) -> Box<dyn Device> {
    let (zones, others): (Vec<&str>, Vec<&str>) =
        settings.lines().partition(|line| line.starts_with("zones."));
    let others = others.join("\n");
    let spare = if others.contains("over_provisioning") { "" } else { "over_provisioning = \"7 %\"\n" };
    drive(&format!("{spare}{others}\nzones.superblocks = 1\n{}", zones.join("\n")))
}

fn submit(device: &mut dyn Device, at: Time, request: &Request) -> Completion {
    let mut breakdown = Breakdown::new();
    let completion = device.submit(at, request, Data::None, &mut breakdown);
    assert_eq!(breakdown.total_from(0), completion.done - at, "{request:?}");
    completion
}

fn zone(device: &dyn Device, number: u64) -> Zone {
    device.zone(number * UNITS * 4096).expect("it has zones")
}

fn reset(number: u64) -> Request {
    units(Op::Trim, number * UNITS, UNITS as u32)
}

/// Writes zone `number` to its end, `count` units a request, from `at` on; gives when that is done.
fn fill(device: &mut dyn Device, at: Time, number: u64, count: u32) -> Time {
    (0..UNITS / u64::from(count)).fold(at, |now, part| {
        let request = units(Op::Write, number * UNITS + part * u64::from(count), count);
        let completion = submit(device, now, &request);
        assert_eq!(completion.status, Status::Done, "{request:?}");
        completion.done
    })
}

#[test]
fn the_contract_of_devices_is_kept() {
    conformance(|| zoned(""));
    conformance(|| zoned("blocks = 64\nzones.active = 3\nzones.open = 2"));
    conformance(|| {
        drive("blocks = 64\nover_provisioning = \"20 %\"\nzones = { superblocks = 3, active = 2 }")
    });
    conformance_in_order(|| zoned("blocks = 64\nerases_at_once = 2\narbitration = \"first_come\""));
}

#[test]
fn writes_go_to_the_write_pointer_and_nowhere_else() {
    let mut device = zoned("");
    let now = Time::ZERO;
    let refused = |device: &mut dyn Device, request: Request| {
        assert_eq!(submit(device, now, &request).status, Status::WriteRefused, "{request:?}");
    };
    submit(&mut *device, now, &units(Op::Write, 0, 3));
    assert_eq!(zone(&*device, 0), Zone { start: 0, end: UNITS * 4096, write_pointer: 3 * 4096 });
    refused(&mut *device, unit(Op::Write, 2));
    refused(&mut *device, unit(Op::Write, 4));
    refused(&mut *device, Request { bytes: 512, ..unit(Op::Write, 3) });
    refused(&mut *device, units(Op::Write, 3, UNITS as u32 - 2));
    assert_eq!(submit(&mut *device, now, &units(Op::Write, 3, UNITS as u32 - 3)).status, Status::Done);
    refused(&mut *device, unit(Op::Write, 0));
    assert_eq!(submit(&mut *device, now, &unit(Op::Write, UNITS)).status, Status::Done);
    submit(&mut *device, now, &reset(0));
    assert_eq!(zone(&*device, 0).write_pointer, 0);
    assert_eq!(submit(&mut *device, now, &unit(Op::Write, 0)).status, Status::Done);
    device.check_invariants();
    let report = report(&*device);
    for (counter_name, count) in [
        ("refused_writes", 5),
        ("refused_not_whole_units", 1),
        ("refused_not_at_write_pointer", 2),
        ("refused_zone_boundary", 1),
        ("refused_zone_full", 1),
    ] {
        assert_eq!(counter(&report, counter_name), count, "{counter_name}");
    }
}

#[test]
fn so_many_zones_are_active_and_open() {
    let mut device = zoned("zones.active = 3\nzones.open = 2");
    let now = Time::ZERO;
    for number in 0..3 {
        assert_eq!(submit(&mut *device, now, &unit(Op::Write, number * UNITS)).status, Status::Done);
    }
    let by_phase = |device: &dyn Device| {
        ["open", "closed", "full"].map(|of| column(&report(device), &format!("zones.{of}")))
    };
    assert_eq!(by_phase(&*device), [2.0, 1.0, 0.0]);
    assert_eq!(submit(&mut *device, now, &unit(Op::Write, 3 * UNITS)).status, Status::WriteRefused);
    // A closed zone is opened again.
    assert_eq!(submit(&mut *device, now, &unit(Op::Write, 1)).status, Status::Done);
    assert_eq!(by_phase(&*device), [2.0, 1.0, 0.0]);
    // One that is finished leaves its place.
    submit(&mut *device, now, &units(Op::Trim, UNITS + 1, UNITS as u32 - 1));
    assert_eq!(zone(&*device, 1).write_pointer, 2 * UNITS * 4096);
    assert_eq!(by_phase(&*device), [2.0, 0.0, 1.0]);
    assert_eq!(submit(&mut *device, now, &unit(Op::Write, 3 * UNITS)).status, Status::Done);
    device.check_invariants();
    assert_eq!(counter(&report(&*device), "refused_too_many_active"), 1);
}

#[test]
fn nothing_is_copied_and_every_unit_is_programmed_once() {
    let mut device = zoned("");
    let count = unit_count(&*device) / UNITS;
    let mut now = Time::ZERO;
    let mut random = random("zones");
    for _ in 0..3 * count {
        let number = random.below(count);
        now = submit(&mut *device, now, &reset(number)).done;
        now = fill(&mut *device, now, number, 16);
        device.advance(now);
    }
    device.check_invariants();
    let report = report(&*device);
    let wear = report.wear.as_ref().unwrap();
    assert_eq!(wear.write_amplification(), Some(1.0));
    assert_eq!(wear.host, 3 * count * UNITS);
    assert_eq!((wear.cleaned, wear.levelled, wear.metadata, wear.padding), (0, 0, 0, 0));
    assert_eq!(counter(&report, "flash_programs") * counter(&report, "units_host") / wear.host, wear.host);
    // Every zone that was reset while it held something was erased, and one that held nothing was not reset.
    let held = column(&report, "zones.full") as u64;
    assert_eq!(wear.erases, (3 * count - held) * 4);
    assert_eq!(counter(&report, "zone_resets"), 3 * count - held);
}

#[test]
fn what_is_reset_while_the_buffer_holds_it_is_neither_programmed_nor_erased() {
    let mut device = zoned("planes = 2\npages = 32");
    for round in 0..100 {
        let at = Time::from_ms(round);
        assert_eq!(submit(&mut *device, at, &unit(Op::Write, 0)).status, Status::Done);
        if round == 50 {
            // What was taken before is taken back behind it.
            device.restart_ledger();
        }
        assert_eq!(submit(&mut *device, at, &reset(0)).status, Status::Done);
        device.check_invariants();
    }
    let report = report(&*device);
    let wear = report.wear.as_ref().expect("it wears");
    assert_eq!((wear.programs(), wear.erases), (0, 0));
    assert_eq!((counter(&report, "flash_programs"), counter(&report, "units_trimmed")), (0, 50));
    // Of full operations all is programmed, and erased.
    fill(&mut *device, Time::from_ms(1_000), 0, 1);
    submit(&mut *device, Time::from_ms(2_000), &reset(0));
    let wear = device.report(Time::from_ms(3_000)).wear.expect("it wears");
    assert_eq!(wear.programs(), UNITS);
    assert!(wear.erases > 0);
}

#[test]
fn the_youngest_superblocks_are_filled_first() {
    let mut device = zoned("blocks = 64\nover_provisioning = \"60 %\"");
    let mut now = Time::ZERO;
    for _ in 0..640 {
        now = submit(&mut *device, now, &reset(0)).done;
        now = fill(&mut *device, now, 0, 64);
    }
    let erases = report(&*device).wear.unwrap().block_erases;
    let (least, most) = (erases.iter().min().unwrap(), erases.iter().max().unwrap());
    assert!(most - least <= 1, "one zone wears all superblocks alike: {least} to {most}");
}

#[test]
fn a_zone_is_written_as_fast_as_its_dies_program() {
    // 4 dies program 4 KiB each in 500 us; what crosses their channels meanwhile does not count.
    let mut device = zoned("");
    let mut now = Time::ZERO;
    for number in 0..40 {
        now = fill(&mut *device, now, number, 16);
    }
    let end = device.busy_until();
    assert_close("time of all programs", end.as_secs_f64(), (40 * UNITS) as f64 / 4.0 * 500e-6, 0.01);
}

#[test]
fn a_write_waits_for_the_erase_of_its_zone_alone() {
    // All superblocks are in zones: one that is reset is written again at once.
    let settings = "blocks = 64\nover_provisioning = \"0.1 %\"\nbuffer = \"64 KiB\"\nzones.active = 1";
    let mut device = zoned(settings);
    let count = unit_count(&*device) / UNITS;
    let mut now = (0..count).fold(Time::ZERO, |now, number| fill(&mut *device, now, number, 16));
    now = device.busy_until().max(now);
    submit(&mut *device, now, &reset(5));
    fill(&mut *device, now, 5, 1);
    let took = (device.busy_until() - now).as_secs_f64();
    assert_close("an erase and 64 programs", took, 3e-3 + 64.0 * 500e-6, 0.01);
}

#[test]
fn what_was_never_written_and_what_is_buffered_is_not_read_from_flash() {
    let mut device = zoned("unwritten = \"zeros\"");
    let now = fill(&mut *device, Time::ZERO, 0, 16);
    let now = submit(&mut *device, now, &unit(Op::Write, UNITS)).done;
    for number in [UNITS, UNITS + 1, 9 * UNITS] {
        assert!(submit(&mut *device, now, &unit(Op::Read, number)).done - now < Time::from_us(5));
    }
    let later = device.busy_until();
    let done = submit(&mut *device, later, &unit(Op::Read, 3)).done;
    // The page, its command and transfer at 400 MB/s, and the link at 4 GB/s.
    let law = 50e-6 + 300e-9 + 4096.0 / 400e6 + 4096.0 / 4e9;
    assert_close("a read", (done - later).as_secs_f64(), law, 1e-6);
    let report = report(&*device);
    assert_eq!((counter(&report, "buffer_hits"), counter(&report, "unwritten_reads")), (1, 2));
    assert_eq!(counter(&report, "flash_reads"), 1);
}

#[test]
fn it_wears_out_when_no_superblock_is_left_for_a_zone() {
    let mut device = zoned("blocks = 64\nover_provisioning = \"20 %\"\nendurance = 5");
    let count = unit_count(&*device) / UNITS;
    let mut written = 0;
    let refused = (0..).find(|number| {
        let number = number % count;
        device.precondition(&[units(Op::Write, number * UNITS, UNITS as u32)]);
        let is_taken = zone(&*device, number).write_pointer > number * UNITS * 4096;
        written += u64::from(is_taken);
        !is_taken
    });
    assert!(refused.is_some());
    device.check_invariants();
    // All 64 superblocks are erased five times; what is erased the fifth time is given up.
    assert_eq!(written, 64 * 5);
    assert!(counter(&report(&*device), "refused_worn_out") > 0);
}

#[test]
fn a_drive_is_filled_over_the_ends_of_zones_in_no_time() {
    let mut device = zoned("");
    let (count, step) = (unit_count(&*device), 48);
    for round in 1..=2 {
        let requests: Vec<Request> = (0..count.div_ceil(step))
            .map(|part| units(Op::Write, part * step, step.min(count - part * step) as u32))
            .collect();
        device.precondition(&requests);
        device.check_invariants();
        let wear = report(&*device).wear.unwrap();
        assert_eq!((wear.host, wear.padding), (round * count, 0));
        assert_eq!(column(&report(&*device), "zones.full"), (count / UNITS) as f64);
    }
}

#[test]
fn settings_that_zones_do_not_go_with_are_refused() {
    for (settings, problem) in [
        ("power_protected = false", "a flush would have to program operations that are not full"),
        ("placement_handles = 2", "zones keep data apart already"),
        ("mapping_cache = \"8 KiB\"", "a drive with zones maps no pages"),
        ("idle_cleaning = 6", "a drive with zones cleans nothing"),
        ("reserve = 8", "a drive with zones cleans nothing"),
        ("cleaning = \"fifo\"", "a drive with zones cleans nothing"),
        ("streams = \"mixed\"", "a drive with zones cleans nothing"),
        ("wear_spread = 4", "a drive with zones cleans nothing"),
        ("buffer_kept = \"10 %\"", "what is written in order is not changed in the buffer"),
        ("zones.active = 2\nzones.open = 3", "an open zone is an active one"),
        ("zones.active = 100", "one being filled for each active zone"),
        ("blocks = 64\nspare_blocks = 32", "zones need"),
    ] {
        let refused = std::panic::catch_unwind(|| zoned(settings)).err().expect(settings);
        let text = refused.downcast_ref::<String>().expect("a message");
        assert!(text.contains(problem), "{settings}: {text}");
    }
    let settings = "channels = 32\nways = 16\npages = 4096\nblocks = 64\nbuffer = \"64 MiB\"\nover_provisioning = \"7 %\"\nzones = {}";
    let problems = workbench(1).build(&text(settings)).err().unwrap().to_string();
    assert!(
        problems.contains("a zone has 8 GiB, and a request that resets one less than 4 GiB"),
        "{problems}"
    );
    let settings = "blocks = 64\nover_provisioning = \"7 %\"\nzones = { superblocks = 100, active = 1 }";
    let problems = workbench(1).build(&text(settings)).err().unwrap().to_string();
    assert!(problems.contains("is larger than what the host sees"), "{problems}");
    // 64 superblocks of 1.07 times what the host sees.
    assert!(problems.contains("the largest allowed is 59, or give more blocks"), "{problems}");
    assert!(workbench(1).build(&text(&settings.replace("= 100", "= 59"))).is_ok());
}

#[test]
fn the_smallest_spare_share_that_is_named_works_with_zones() {
    let settings = |share: &str| {
        text(&format!(
            "blocks = 70\nspare_blocks = 9\nover_provisioning = \"{share} %\"\nzones = {{ superblocks = 2 }}"
        ))
    };
    let refused = workbench(1).build(&settings("7")).err().unwrap().to_string();
    let least = refused.split("the smallest allowed is ").nth(1).unwrap().split(" %").next().unwrap();
    let device = workbench(1).build(&settings(least)).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(unit_count(&*device), 30 * 2 * UNITS);
}
