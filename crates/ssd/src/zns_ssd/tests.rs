//! Tests of zoned drives.

mod commands;
mod dies;
mod states;

use crate::tests::driven::{Answer, Driven, driven};
use crate::tests::{column, counter, drive, problems, random, unit, units};
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Request, Status, Time, Zone, ZoneCommand, ZoneState};
use nacre_testkit::assert_close;
use nacre_testkit::conformance;

/// Number of units of a zone, which is a superblock of four dies with 64 pages each.
const UNITS: u64 = 256;

fn zoned(settings: &str) -> Driven {
    let spare = if settings.contains("over_provisioning") { "" } else { "over_provisioning = \"7 %\"\n" };
    driven(&format!("kind = \"zns_ssd\"\n{spare}{settings}"))
}

fn ask(device: &mut Driven, request: &Request) -> Answer {
    device.ask(device.now, request)
}

fn zone(device: &Driven, number: u64) -> Zone {
    device.device.zones().expect("it has zones").zone(number * UNITS * 4096)
}

/// Submits `command` to zone `number`. An append has `count` units.
fn command(device: &mut Driven, command: ZoneCommand, number: u64, count: u32) -> Answer {
    let op = if command == ZoneCommand::Append { Op::Write } else { Op::Trim };
    let request = units(op, number * UNITS, count);
    let number = device.submit_command(device.now, command, &request, Payload::NONE);
    device.answer(number)
}

fn reset(number: u64) -> Request {
    units(Op::Trim, number * UNITS, UNITS as u32)
}

/// Writes zone `number` to its end, with `count` units per request.
fn fill(device: &mut Driven, number: u64, count: u32) {
    for part in 0..UNITS / u64::from(count) {
        let request = units(Op::Write, number * UNITS + part * u64::from(count), count);
        assert_eq!(ask(device, &request).status, Status::Done, "{request:?}");
    }
}

#[test]
fn the_contract_of_devices_is_kept() {
    for settings in [
        "over_provisioning = \"7 %\"\nblocks = 64\nkind = \"zns_ssd\"\nactive_zones = 3\nopen_zones = 2",
        "blocks = 64\nover_provisioning = \"20 %\"\nkind = \"zns_ssd\"\nzone_superblocks = 3\nactive_zones = 2",
        "over_provisioning = \"7 %\"\nblocks = 64\nerases_at_once = 2\narbitration = \"first_come\"\nkind = \"zns_ssd\"",
        "blocks = 32\nover_provisioning = \"20 %\"\nplanes = 2\nkind = \"zns_ssd\"\nzone_dies = 2\nactive_zones = 5\nopen_zones = 3",
        "blocks = 32\nover_provisioning = \"20 %\"\nerases_at_once = 1\nkind = \"zns_ssd\"\nzone_dies = 1\nzone_superblocks = 3\nactive_zones = 4",
    ] {
        conformance(Time::from_us(200), || drive(settings));
    }
}

#[test]
fn writes_go_to_the_write_pointer_and_nowhere_else() {
    let mut device = zoned("");
    let refused = |device: &mut Driven, request: Request| {
        assert_eq!(ask(device, &request).status, Status::WriteRefused, "{request:?}");
    };
    ask(&mut device, &units(Op::Write, 0, 3));
    let state = ZoneState::ImplicitlyOpen;
    assert_eq!(zone(&device, 0), Zone { start: 0, end: UNITS * 4096, write_pointer: 3 * 4096, state });
    refused(&mut device, unit(Op::Write, 2));
    refused(&mut device, unit(Op::Write, 4));
    refused(&mut device, Request { bytes: 512, ..unit(Op::Write, 3) });
    refused(&mut device, units(Op::Write, 3, UNITS as u32 - 2));
    assert_eq!(ask(&mut device, &units(Op::Write, 3, UNITS as u32 - 3)).status, Status::Done);
    refused(&mut device, unit(Op::Write, 0));
    assert_eq!(ask(&mut device, &unit(Op::Write, UNITS)).status, Status::Done);
    ask(&mut device, &reset(0));
    assert_eq!(zone(&device, 0).write_pointer, 0);
    assert_eq!(ask(&mut device, &unit(Op::Write, 0)).status, Status::Done);
    device.check_invariants();
    let report = device.report();
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
    let mut device = zoned("active_zones = 3\nopen_zones = 2");
    for number in 0..3 {
        assert_eq!(ask(&mut device, &unit(Op::Write, number * UNITS)).status, Status::Done);
    }
    let by_phase = |device: &Driven| {
        ["open", "closed", "full"].map(|of| column(&device.report(), &format!("zones.{of}")))
    };
    assert_eq!(by_phase(&device), [2.0, 1.0, 0.0]);
    assert_eq!(ask(&mut device, &unit(Op::Write, 3 * UNITS)).status, Status::WriteRefused);
    // A write opens the closed zone again.
    assert_eq!(ask(&mut device, &unit(Op::Write, 1)).status, Status::Done);
    assert_eq!(by_phase(&device), [2.0, 1.0, 0.0]);
    // A zone that is finished frees its open and active resources.
    ask(&mut device, &units(Op::Trim, UNITS + 1, UNITS as u32 - 1));
    assert_eq!(zone(&device, 1).write_pointer, 2 * UNITS * 4096);
    assert_eq!(by_phase(&device), [2.0, 0.0, 1.0]);
    assert_eq!(ask(&mut device, &unit(Op::Write, 3 * UNITS)).status, Status::Done);
    device.check_invariants();
    assert_eq!(device.counter("refused_too_many_active"), 1);
}

#[test]
fn nothing_is_copied_and_every_unit_is_programmed_once() {
    let mut device = zoned("");
    let count = device.unit_count() / UNITS;
    let mut random = random("zones");
    for _ in 0..3 * count {
        let number = random.below(count);
        ask(&mut device, &reset(number));
        fill(&mut device, number, 16);
    }
    device.rest();
    device.check_invariants();
    let report = device.report();
    let wear = report.wear.as_ref().unwrap();
    assert_eq!(wear.write_amplification(), Some(1.0));
    assert_eq!(wear.host, 3 * count * UNITS);
    assert_eq!((wear.cleaned, wear.leveled, wear.metadata, wear.padding), (0, 0, 0, 0));
    assert_eq!(counter(&report, "flash_programs") * counter(&report, "units_host") / wear.host, wear.host);
    // Every zone that was reset while it contained data was erased. A zone without data was not erased.
    let held = column(&report, "zones.full") as u64;
    assert_eq!(wear.erases, (3 * count - held) * 4);
    assert_eq!(counter(&report, "zone_resets"), 3 * count - held);
}

#[test]
fn units_reset_in_the_buffer_are_neither_programmed_nor_erased() {
    let mut device = zoned("planes = 2\npages = 32");
    for round in 0..100 {
        let at = Time::from_ms(round);
        assert_eq!(device.ask(at, &unit(Op::Write, 0)).status, Status::Done);
        if round == 50 {
            // Units that were written before this restart are dropped after it, by the reset.
            device.restart_ledger();
        }
        assert_eq!(ask(&mut device, &reset(0)).status, Status::Done);
        device.check_invariants();
    }
    let report = device.report();
    let wear = report.wear.as_ref().expect("it wears");
    assert_eq!((wear.programs(), wear.erases), (0, 0));
    assert_eq!((counter(&report, "flash_programs"), counter(&report, "units_trimmed")), (0, 50));
    // Full operations are programmed and erased.
    fill(&mut device, 0, 1);
    device.ask(Time::from_ms(2_000), &reset(0));
    let wear = device.report_over(Time::from_ms(3_000)).wear.expect("it wears");
    assert_eq!(wear.programs(), UNITS);
    assert!(wear.erases > 0);
}

#[test]
fn the_youngest_superblocks_are_filled_first() {
    let mut device = zoned("blocks = 64\nover_provisioning = \"60 %\"");
    for _ in 0..640 {
        ask(&mut device, &reset(0));
        fill(&mut device, 0, 64);
    }
    let erases = device.report().wear.unwrap().block_erases;
    let (least, most) = (erases.iter().min().unwrap(), erases.iter().max().unwrap());
    assert!(most - least <= 1, "one zone wears all superblocks alike: {least} to {most}");
}

#[test]
fn a_zone_is_written_as_fast_as_its_dies_program() {
    // 4 dies program 4 KiB each in 500 us. The transfers on their channels overlap with the programs.
    let mut device = zoned("");
    for number in 0..40 {
        fill(&mut device, number, 16);
    }
    let end = device.rest();
    assert_close("time of all programs", end.as_secs_f64(), (40 * UNITS) as f64 / 4.0 * 500e-6, 0.01);
}

#[test]
fn a_write_waits_for_the_erase_of_its_zone_alone() {
    // All superblocks are in zones. A zone that is reset is written again immediately.
    let settings = "blocks = 64\nover_provisioning = \"0.1 %\"\nbuffer = \"64 KiB\"\nactive_zones = 1";
    let mut device = zoned(settings);
    let count = device.unit_count() / UNITS;
    (0..count).for_each(|number| fill(&mut device, number, 16));
    let now = device.rest();
    ask(&mut device, &reset(5));
    fill(&mut device, 5, 1);
    let took = (device.rest() - now).as_secs_f64();
    assert_close("an erase and 64 programs", took, 3e-3 + 64.0 * 500e-6, 0.01);
}

/// Checks that reads of a zone that was reset and rewritten come from the buffer until its data is
/// programmed. Only one superblock is not in a zone. A zone that is reset twice is therefore written to its
/// original superblocks, whose earlier data is still being programmed.
#[test]
fn what_is_written_behind_a_reset_is_in_the_buffer_until_it_is_programmed() {
    let settings = "blocks = 64\nover_provisioning = \"0.1 %\"\nbuffer = \"1 MiB\"\nactive_zones = 1";
    let mut device = zoned(settings);
    (0..device.unit_count() / UNITS).for_each(|number| fill(&mut device, number, 16));
    device.rest();
    ask(&mut device, &reset(0));
    let start = device.rest();
    let of_flash = device.counter("flash_reads");
    for _ in 0..2 {
        (0..8).for_each(|number| _ = ask(&mut device, &unit(Op::Write, number)));
        ask(&mut device, &reset(0));
    }
    (0..8).for_each(|number| _ = ask(&mut device, &unit(Op::Write, number)));
    // Each die performs two programs, an erase, two programs, an erase, and two programs.
    for at_us in [200, 700, 1_200, 4_200, 4_700, 5_200, 8_100] {
        let read = device.ask(start + Time::from_us(at_us), &unit(Op::Read, 3));
        assert!(
            read.latency() < Time::from_us(5),
            "{at_us} us behind the first write it took {}",
            read.latency()
        );
    }
    assert_eq!(device.counter("flash_reads"), of_flash);
    device.rest();
    let read = ask(&mut device, &unit(Op::Read, 3));
    assert!(read.latency() > Time::from_us(50), "it is on the flash");
    device.check_invariants();
}

#[test]
fn what_was_never_written_and_what_is_buffered_is_not_read_from_flash() {
    let mut device = zoned("unwritten = \"zeros\"");
    fill(&mut device, 0, 16);
    ask(&mut device, &unit(Op::Write, UNITS));
    for number in [UNITS, UNITS + 1, 9 * UNITS] {
        assert!(ask(&mut device, &unit(Op::Read, number)).latency() < Time::from_us(5));
    }
    device.rest();
    let read = ask(&mut device, &unit(Op::Read, 3));
    // This is the time of the page, of its command and transfer at 400 MB/s, and of the link at 4 GB/s.
    let law = 50e-6 + 300e-9 + 4096.0 / 400e6 + 4096.0 / 4e9;
    assert_close("a read", read.latency_s(), law, 1e-6);
    let report = device.report();
    assert_eq!((counter(&report, "buffer_hits"), counter(&report, "unwritten_reads")), (1, 2));
    assert_eq!(counter(&report, "flash_reads"), 1);
}

/// Checks with every scheduling policy that a read precedes the erase of its block if the read was submitted
/// first.
#[test]
fn a_read_does_not_wait_for_the_reset_of_its_zone() {
    for settings in [
        "",
        "scheduling = \"in_order\"",
        "scheduling = { kind = \"suspension\", suspend = \"10 us\" }",
        "erases_at_once = 1",
        "registers = 1",
    ] {
        let mut device = zoned(settings);
        fill(&mut device, 0, 16);
        device.rest();
        let read = device.submit(device.now, &unit(Op::Read, 3));
        ask(&mut device, &reset(0));
        // This is the time of the command, of the page and its transfer, and of the link.
        let law = Time::from_ns(300 + 50_000 + 10_240 + 1_024);
        assert_eq!(device.answer(read).latency(), law, "{settings}");
        device.rest();
        device.check_invariants();
    }
}

#[test]
fn it_wears_out_when_no_superblock_is_left_for_a_zone() {
    let mut device = zoned("blocks = 64\nover_provisioning = \"20 %\"\nendurance = 5");
    let count = device.unit_count() / UNITS;
    let mut written = 0;
    let refused = (0..).find(|number| {
        let number = number % count;
        device.precondition_with(&[units(Op::Write, number * UNITS, UNITS as u32)]);
        let is_taken = zone(&device, number).write_pointer > number * UNITS * 4096;
        written += u64::from(is_taken);
        !is_taken
    });
    assert!(refused.is_some());
    device.check_invariants();
    // All 64 superblocks are erased five times. After the fifth erase, a superblock is retired.
    assert_eq!(written, 64 * 5);
    assert!(device.counter("refused_worn_out") > 0);
}

#[test]
fn a_drive_is_filled_over_the_ends_of_zones_in_no_time() {
    let mut device = zoned("");
    let (count, step) = (device.unit_count(), 48);
    for round in 1..=2 {
        let requests: Vec<Request> = (0..count.div_ceil(step))
            .map(|part| units(Op::Write, part * step, step.min(count - part * step) as u32))
            .collect();
        device.precondition_with(&requests);
        device.check_invariants();
        let wear = device.report().wear.unwrap();
        assert_eq!((wear.host, wear.padding), (round * count, 0));
        assert_eq!(device.column("zones.full"), (count / UNITS) as f64);
    }
}

#[test]
fn zones_that_do_not_fit_are_refused() {
    for (settings, problem) in [
        ("active_zones = 2\nopen_zones = 3", "an open zone is an active one"),
        ("active_zones = 100", "one open operation for each active zone"),
        ("blocks = 64\nspare_blocks = 32", "zones need"),
    ] {
        let refused = std::panic::catch_unwind(|| zoned(settings)).err().expect(settings);
        let text = refused.downcast_ref::<String>().expect("a message");
        assert!(text.contains(problem), "{settings}: {text}");
    }
    let settings = "channels = 32\nways = 16\npages = 4096\nblocks = 64\nbuffer = \"64 MiB\"\nover_provisioning = \"7 %\"\nkind = \"zns_ssd\"";
    let refused = problems(settings);
    assert!(refused.contains("a zone has 8 GiB, and a request that resets one less than 4 GiB"), "{refused}");
    let settings = "blocks = 64\nover_provisioning = \"7 %\"\nkind = \"zns_ssd\"\nzone_superblocks = 100\nactive_zones = 1";
    let refused = problems(settings);
    assert!(refused.contains("is larger than the capacity"), "{refused}");
    // The drive has 64 superblocks for 1.07 times the usable capacity.
    assert!(refused.contains("the largest allowed is 59, or give more blocks"), "{refused}");
    drive(&settings.replace("= 100", "= 59"));
}

#[test]
fn the_smallest_spare_share_that_is_named_works_with_zones() {
    let settings = |share: &str| {
        format!(
            "blocks = 70\nspare_blocks = 9\nover_provisioning = \"{share} %\"\nkind = \"zns_ssd\"\nzone_superblocks = 2"
        )
    };
    let refused = problems(&settings("7"));
    let least = refused.split("the smallest allowed is ").nth(1).unwrap().split(" %").next().unwrap();
    let device = driven(&settings(least));
    assert_eq!(device.unit_count(), 30 * 2 * UNITS);
}
