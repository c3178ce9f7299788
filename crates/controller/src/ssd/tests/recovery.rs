//! Loss of power and recovery: what it takes, against the closed form, and what stays in the books.

use super::*;
use nacre_kernel::{Activity, Breakdown, Data, Recovery};

/// Units of the host's data in the drive of these tests: 4 dies, 512 blocks of 64 pages, 28 % more than it shows.
const LOGICAL: u64 = 4 * 512 * 64 * 100 / 128;
const DIES: u64 = 4;
const WAYS: u64 = 2;
const READ: Time = Time::from_us(50);
/// A command, and a page of 4 KiB at 400 MB/s.
const COMMAND: Time = Time::from_ns(300);
const PAGE: Time = Time::from_ns(10_240);

fn submit(device: &mut dyn Device, now: Time, request: &Request) -> (Time, Breakdown) {
    let mut breakdown = Breakdown::new();
    let done = device.submit(now, request, Data::None, &mut breakdown).done;
    (done, breakdown)
}

/// Writes so many units and has them all programmed; gives when.
fn filled(device: &mut dyn Device, units: u64) -> Time {
    let mut now = Time::ZERO;
    for number in 0..units {
        now = submit(device, now, &unit(Op::Write, number)).0;
    }
    device.busy_until()
}

fn fail(device: &mut dyn Device, at: Time) -> Recovery {
    device.power_fail(at, &mut random("chance"));
    device.recover(at)
}

/// Reading the checkpoint, four bytes for each logical unit, and so many spare areas: dies side by side, those
/// of a channel in turn where transfers take longer than sensing.
fn closed_form(scanned: u64) -> Time {
    let table = (LOGICAL * 4).div_ceil(4096).div_ceil(DIES);
    let page = (READ + COMMAND + PAGE).max((COMMAND + PAGE) * WAYS);
    page * table + (READ + COMMAND) * scanned.div_ceil(DIES)
}

#[test]
fn recovery_reads_the_checkpoint_and_the_spare_areas_of_what_was_programmed_since() {
    for (units, every, scanned) in [(1000, "1 GiB", 1000), (1000, "1 MiB", 1000 % 256), (256, "1 MiB", 0)] {
        let mut device = drive(&format!("checkpoint_every = \"{every}\""));
        let at = filled(&mut *device, units);
        let recovery = fail(&mut *device, at);
        assert_eq!(recovery.pages_scanned, scanned);
        assert_eq!(recovery.done - at, closed_form(scanned));
        // Recovery ended with a checkpoint: nothing was programmed since.
        let again = fail(&mut *device, recovery.done);
        assert_eq!((again.pages_scanned, again.done - recovery.done), (0, closed_form(0)));
        let report = report(&*device);
        assert_eq!(counter(&report, "recoveries"), 2);
        assert_eq!(counter(&report, "pages_scanned"), scanned);
        let both = closed_form(scanned) + closed_form(0);
        assert_eq!(counter(&report, "recovery_ns"), both.as_ps() / 1000);
    }
}

#[test]
fn a_recovery_that_is_interrupted_begins_anew() {
    let mut device = drive("");
    let at = filled(&mut *device, 1000);
    let half = closed_form(1000).as_ps() / 2;
    let first = fail(&mut *device, at);
    let again = fail(&mut *device, at + Time::from_ps(half));
    assert_eq!(again.pages_scanned, first.pages_scanned);
    assert_eq!(again.done, first.done + Time::from_ps(half));
    let took = Time::from_ps(half) + closed_form(1000);
    assert_eq!(counter(&report(&*device), "recovery_ns"), took.as_ps() / 1000);
}

#[test]
fn a_request_that_comes_during_recovery_waits_for_its_end() {
    let (mut device, mut other) = (drive(""), drive(""));
    let at = filled(&mut *device, 8);
    filled(&mut *other, 8);
    let ready = fail(&mut *device, at).done;
    let (done, breakdown) = submit(&mut *device, at, &unit(Op::Read, 3));
    let (late, _) = submit(&mut *other, ready, &unit(Op::Read, 3));
    assert_eq!(done, late);
    let first = breakdown.spans()[0];
    assert_eq!((first.activity, first.time), (Activity::Queue, ready - at));
}

#[test]
fn a_loss_of_power_ends_all_work_and_leaves_the_books() {
    let mut device = drive("power_protected = false");
    for number in 0..32 {
        submit(&mut *device, Time::ZERO, &unit(Op::Write, number));
    }
    let before = device.report(Time::ZERO);
    assert!(device.busy_until() > Time::from_us(500));
    let recovery = fail(&mut *device, Time::from_us(1));
    assert_eq!(device.busy_until(), recovery.done);
    let after = device.report(Time::ZERO);
    for name in ["writes", "flash_programs", "units_host"] {
        assert_eq!(counter(&after, name), counter(&before, name), "{name}");
    }
    assert_eq!(after.resources, before.resources);
}

#[test]
fn capacitors_finish_the_programs_and_without_them_units_are_lost() {
    for is_protected in [true, false] {
        let mut bench = workbench(1).with_bytes();
        let settings = text(&format!("power_protected = {is_protected}"));
        let mut device = bench.build(&settings).unwrap();
        let mut write = |at, number, byte| {
            let request = unit(Op::Write, number);
            device.submit(at, &request, Data::Write(&[byte; 4096]), &mut Breakdown::new()).done
        };
        // Two programs on each die, one behind the other; the first four have ended after a millisecond.
        (0..8).for_each(|number| assert!(write(Time::ZERO, number, 1) < Time::from_us(100)));
        let at = Time::from_us(800);
        let recovery = fail(&mut *device, at);
        let expected = if is_protected { (4, 0, 0) } else { (0, 4, 4 * 4096) };
        let found = (recovery.programs_finished, recovery.programs_lost, recovery.bytes_lost);
        assert_eq!(found, expected, "protected: {is_protected}");
        for number in 0..8 {
            let mut bytes = [9; 4096];
            let read = unit(Op::Read, number);
            device.submit(recovery.done, &read, Data::Read(&mut bytes), &mut Breakdown::new());
            let byte = u8::from(is_protected || number < 4);
            assert!(bytes.iter().all(|&found| found == byte), "unit {number}, protected: {is_protected}");
        }
    }
}

#[test]
fn a_unit_that_waits_for_others_of_its_program_is_lost_without_capacitors() {
    // Four units are programmed together.
    for is_protected in [true, false] {
        let mut bench = workbench(1).with_bytes();
        let settings = format!("planes = 4\npages = 16\npower_protected = {is_protected}");
        let mut device = bench.build(&text(&settings)).unwrap();
        let write = Data::Write(&[1; 4096]);
        device.submit(Time::ZERO, &unit(Op::Write, 3), write, &mut Breakdown::new());
        let recovery = fail(&mut *device, Time::from_s(1));
        let mut bytes = [9; 4096];
        let read = Data::Read(&mut bytes);
        device.submit(recovery.done, &unit(Op::Read, 3), read, &mut Breakdown::new());
        assert_eq!(bytes, [u8::from(is_protected); 4096], "protected: {is_protected}");
        assert_eq!(recovery.bytes_lost, if is_protected { 0 } else { 4096 });
    }
}

#[test]
fn a_flush_waits_for_data_of_the_host_that_a_page_of_the_mapping_completes() {
    // Two units in a page, one page of 64 mappings cached, and nothing to read from the flash.
    let mut device = drive(
        "power_protected = false\npage = \"8 KiB\"\nmapping_cache = \"4 KiB\"\nmapping_entry = \"64 B\"\n\
         unwritten = \"zeros\"",
    );
    submit(&mut *device, Time::ZERO, &unit(Op::Write, 0));
    // Another page of the mapping is needed: the one that was changed is programmed, beside the host's unit.
    let at = Time::from_us(10);
    submit(&mut *device, at, &unit(Op::Read, 64));
    let flush = Request { arrival: at, address: 0, bytes: 0, volume: 0, op: Op::Flush };
    let (done, _) = submit(&mut *device, at + Time::from_us(1), &flush);
    assert_eq!(done, at + COMMAND + PAGE * 2 + Time::from_us(500));
}

/// Four dies program their first page and then their second, which shares its word line where there are two times: a
/// loss of power in the middle of the second damages the first, and nothing else does.
#[test]
fn an_interrupted_program_damages_the_page_before_it_on_its_word_line() {
    let two = "program = [\"500 us\", \"900 us\"]\nread = [\"50 us\"]";
    let cases = [
        (two, "power_protected = false\npaired_page_loss = true", 8, 4),
        (two, "power_protected = false\npaired_page_loss = true", 4, 0),
        (two, "power_protected = false\npaired_page_loss = true", 12, 0),
        (two, "power_protected = false\npaired_page_loss = true", 16, 4),
        (two, "power_protected = false", 8, 0),
        (two, "paired_page_loss = true", 8, 0),
        ("", "power_protected = false\npaired_page_loss = true", 8, 0),
    ];
    for (times, settings, units, damaged) in cases {
        let mut device = drive(&format!("{times}\n{settings}"));
        let end = filled(&mut *device, units);
        // The last pages are under way until then.
        let recovery = fail(&mut *device, end - Time::from_us(100));
        assert_eq!(recovery.pages_damaged, damaged, "{times} {settings}, {units} units");
    }
}
