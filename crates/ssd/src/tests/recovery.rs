//! Tests of power loss and recovery: compares the recovery time with the closed form, and checks charged
//! times.

use super::driven::driven_with_bytes;
use super::*;

/// Usable capacity in units of the drive of these tests: four dies with 512 blocks of 64 pages, divided by
/// 1.28.
const LOGICAL: u64 = 4 * 512 * 64 * 100 / 128;
const DIES: u64 = 4;
const WAYS: u64 = 2;
const READ: Time = Time::from_us(50);
/// Channel time of a command.
const COMMAND: Time = Time::from_ns(300);
/// Channel time of a page of 4 KiB at 400 MB/s.
const PAGE: Time = Time::from_ns(10_240);

/// Writes the first `units` units sequentially.
fn written(device: &mut Driven, units: u64) {
    for number in 0..units {
        device.ask(device.now, &unit(Op::Write, number));
    }
}

/// Writes the first `units` units and waits for their programs. Returns the end time of the last program.
fn filled(device: &mut Driven, units: u64) -> Time {
    written(device, units);
    device.rest()
}

/// Returns the time to read the checkpoint, with four bytes per logical unit, and `scanned` spare areas. Dies
/// sense in parallel. The dies of a channel transfer sequentially if transfers take longer than sensing.
fn closed_form(scanned: u64) -> Time {
    let table = (LOGICAL * 4).div_ceil(4096).div_ceil(DIES);
    let page = (READ + COMMAND + PAGE).max((COMMAND + PAGE) * WAYS);
    page * table + (READ + COMMAND) * scanned.div_ceil(DIES)
}

#[test]
fn recovery_reads_the_checkpoint_and_later_spare_areas() {
    for (units, every, scanned) in [(1000, "1 GiB", 1000), (1000, "1 MiB", 1000 % 256), (256, "1 MiB", 0)] {
        let mut device =
            driven(&format!("mapping = {{ kind = \"in_dram\", checkpoint_every = \"{every}\" }}"));
        let at = filled(&mut device, units);
        let recovery = device.fail(at);
        assert_eq!(recovery.pages_scanned, scanned);
        assert_eq!(recovery.done - at, closed_form(scanned));
        // Recovery ended with a checkpoint, and no page has been programmed since then.
        let again = device.fail(recovery.done);
        assert_eq!((again.pages_scanned, again.done - recovery.done), (0, closed_form(0)));
        let report = device.report();
        assert_eq!(counter(&report, "recoveries"), 2);
        assert_eq!(counter(&report, "pages_scanned"), scanned);
        let both = closed_form(scanned) + closed_form(0);
        assert_eq!(counter(&report, "recovery_ns"), both.as_ps() / 1000);
    }
}

#[test]
fn a_recovery_that_is_interrupted_begins_anew() {
    let mut device = driven("");
    let at = filled(&mut device, 1000);
    let half = closed_form(1000).as_ps() / 2;
    let first = device.fail(at);
    let again = device.fail(at + Time::from_ps(half));
    assert_eq!(again.pages_scanned, first.pages_scanned);
    assert_eq!(again.done, first.done + Time::from_ps(half));
    let took = Time::from_ps(half) + closed_form(1000);
    assert_eq!(device.counter("recovery_ns"), took.as_ps() / 1000);
}

#[test]
fn a_request_that_comes_during_recovery_waits_for_its_end() {
    let (mut device, mut other) = (driven(""), driven(""));
    let at = filled(&mut device, 8);
    filled(&mut other, 8);
    let ready = device.fail(at).done;
    let early = device.ask(at, &unit(Op::Read, 3));
    let late = other.ask(ready, &unit(Op::Read, 3));
    assert_eq!(early.done, late.done);
    assert_eq!((early.spent(Activity::Queue), late.spent(Activity::Queue)), (ready - at, Time::ZERO));
}

const ENERGIES: &str = "read_energy = \"25 uJ\"\nprogram_energy = \"150 uJ\"\nerase_energy = \"500 uJ\"\n\
    transfer_energy = \"2 uJ\"\n";

/// Creates a drive with 32 simultaneous writes of one unit, eight per die. Cuts its power at `at` and
/// restores it immediately. Returns the time at which the drive is ready, and the report.
fn failed_at(at: Time, settings: &str) -> (Time, ComponentReport) {
    let mut device = driven_with_bytes(&format!("{ENERGIES}{settings}"));
    (0..32).for_each(|number| _ = device.submit_bytes(Time::ZERO, number, 1));
    let recovery = device.fail(at);
    assert_eq!(device.device.next_event(), Time::MAX, "nothing continues");
    (recovery.done, device.report_over(recovery.done))
}

/// Returns the busy time and the energy of the resource `name` that are charged to `activity`.
fn charged(report: &ComponentReport, name: &str, activity: Activity) -> (Time, f64) {
    let found = resource(report, name);
    (Time::from_secs_f64(found.ledger.busy_s(activity)), found.ledger.energy(activity).0)
}

#[test]
fn programs_that_a_loss_of_power_cancels_are_charged_to_nothing() {
    let at = Time::from_us(800);
    let (done, report) = failed_at(at, "power_protected = false");
    // Each die starts when its data is transferred, sequentially on each channel, and is then always busy.
    // When power fails, the dies perform their second program. The data of these programs, and of the next
    // ones in the registers, has been transferred.
    let (crossing, link) = (COMMAND + PAGE, Time::from_secs_f64(4096.0 / 4e9));
    // The first unit crosses the link for one channel, and the second unit for the other channel.
    let [first, second] = [1, 2].map(|place| at - link * place);
    let busy = (first - crossing) + (first - crossing * 2) + (second - crossing) + (second - crossing * 2);
    let (time, energy) = charged(&report, "dies", Activity::Drain);
    assert_eq!(time, busy);
    assert!((energy - 8.0 * 150e-6).abs() < 1e-9, "{energy} J");
    let (time, energy) = charged(&report, "channels", Activity::Transfer);
    assert_eq!(time, crossing * 12);
    assert!((energy - 12.0 * 2e-6).abs() < 1e-9, "{energy} J");
    assert_eq!(counter(&report, "flash_programs"), 8);
    // The units still count as written.
    assert_eq!((counter(&report, "writes"), counter(&report, "units_host")), (32, 32));
    assert!(report.resources.iter().all(|resource| resource.utilization(done) <= 1.0));
    // A protected drive programs all of these units.
    let (done, report) = failed_at(at, "power_protected = true");
    let (time, energy) = charged(&report, "dies", Activity::Drain);
    assert_eq!(time, Time::from_us(500) * 32);
    assert!((energy - 32.0 * 150e-6).abs() < 1e-9, "{energy} J");
    assert!(report.resources.iter().all(|resource| resource.utilization(done) <= 1.0));
}

#[test]
fn reads_that_a_loss_of_power_cancels_are_charged_to_nothing() {
    for settings in ["", "scheduling = \"in_order\"", "registers = 1", "arbitration = \"first_come\""] {
        let mut device = driven_with_bytes(&format!("{ENERGIES}{settings}"));
        (0..4).for_each(|number| _ = device.write_bytes(device.now, number, 1));
        let begin = device.rest();
        device.restart_ledger();
        // All reads of unit 0 use the same die and channel.
        for _ in 0..100 {
            device.submit(begin, &unit(Op::Read, 0));
        }
        let done = device.fail(begin + Time::from_us(975)).done;
        let report = device.report_over(done - begin);
        let (time, energy) = charged(&report, "dies", Activity::Read);
        let reads = counter(&report, "flash_reads");
        assert!(time <= Time::from_us(975) && reads < 21, "{settings}: {reads} reads in {time}");
        assert!(time + READ > READ * reads, "{settings}: {reads} reads in {time}");
        assert!((energy - reads as f64 * 25e-6).abs() < 1e-9, "{settings}: {energy} J");
        let (time, energy) = charged(&report, "channels", Activity::Transfer);
        let pages = (energy / 2e-6).round() as u64;
        assert!(pages <= reads && pages + 2 >= reads, "{settings}: {pages} pages of {reads}");
        assert!(time <= (COMMAND + PAGE) * reads, "{settings}: {pages} pages in {time}");
        if settings.is_empty() {
            // A die senses while the previous page is transferred: 19 reads have ended, and one read is
            // incomplete.
            assert_eq!((reads, pages), (20, 19));
            assert_eq!(charged(&report, "dies", Activity::Read).0, Time::from_us(975) - COMMAND * 20);
        }
    }
}

#[test]
fn capacitors_finish_the_programs_and_without_them_units_are_lost() {
    for is_protected in [true, false] {
        let mut device = driven_with_bytes(&format!("power_protected = {is_protected}"));
        // Each die has two sequential programs. The first four programs have ended after a millisecond.
        (0..8).for_each(|number| _ = device.submit_bytes(Time::ZERO, number, 1));
        let recovery = device.fail(Time::from_us(800));
        assert!((0..8).all(|number| device.seen(number).done < Time::from_us(100)), "all were acknowledged");
        let expected = if is_protected { (4, 0, 0) } else { (0, 4, 4 * 4096) };
        let found = (recovery.programs_finished, recovery.programs_lost, recovery.bytes_lost);
        assert_eq!(found, expected, "protected: {is_protected}");
        for number in 0..8 {
            let found = device.read_byte(device.now.max(recovery.done), number);
            assert_eq!(
                found,
                u8::from(is_protected || number < 4),
                "unit {number}, protected: {is_protected}"
            );
        }
    }
}

/// Checks that recovery restores the previous pages of eight units. The units belong to a full superblock
/// and are rewritten. Power fails before the programs of the new pages end.
#[test]
fn recovery_finds_the_older_page_of_a_unit_whose_program_was_cut() {
    let mut device = driven_with_bytes("power_protected = false");
    (0..256).for_each(|number| _ = device.write_bytes(device.now, number, 1));
    let at = device.rest();
    let live = |device: &Driven| {
        let report = device.report();
        let column = report.columns.into_iter().find(|column| column.name == "superblocks.valid_share");
        let mut shares = column.expect("there is one").values;
        shares.retain(|&share| share > 0.0);
        shares
    };
    (0..8).for_each(|number| _ = device.submit_bytes(at, number, 2));
    device.run_to(at + Time::from_us(90));
    let mut shares = live(&device);
    shares.sort_by(f64::total_cmp);
    assert_eq!(shares, [8.0 / 256.0, 248.0 / 256.0]);
    let ready = device.fail(at + Time::from_us(100)).done;
    assert_eq!(live(&device), [1.0], "the older pages are live again");
    device.check_invariants();
    for number in 0..256 {
        assert_eq!(device.read_byte(device.now.max(ready), number), 1, "unit {number}");
    }
    // The units are rewritten and programmed again, and are then read from the new pages.
    (0..8).for_each(|number| _ = device.write_bytes(device.now, number, 3));
    let at = device.rest();
    let ready = device.fail(at).done;
    assert_eq!(device.read_byte(ready, 7), 3);
}

#[test]
fn a_unit_that_waits_for_others_of_its_program_is_lost_without_capacitors() {
    // Four units are programmed together.
    for is_protected in [true, false] {
        let settings = format!("planes = 4\npages = 16\npower_protected = {is_protected}");
        let mut device = driven_with_bytes(&settings);
        device.write_bytes(Time::ZERO, 3, 1);
        let recovery = device.fail(Time::from_s(1));
        let found = device.read_byte(recovery.done, 3);
        assert_eq!(found, u8::from(is_protected), "protected: {is_protected}");
        assert_eq!(recovery.bytes_lost, if is_protected { 0 } else { 4096 });
    }
}

#[test]
fn a_flush_waits_for_data_of_the_host_that_a_page_of_the_mapping_completes() {
    // There are two units per page, a cache of one page with 64 mappings, and no reads of the flash.
    let mut device = driven(
        "power_protected = false\npage = \"8 KiB\"\nmapping = { kind = \"cached_pages\", size = \"4 KiB\", entry = \"64 B\" }\n\
         unwritten = \"zeros\"",
    );
    device.submit(Time::ZERO, &unit(Op::Write, 0));
    // Another mapping page is required, so the dirty page is programmed in addition to the host unit.
    let at = Time::from_us(10);
    device.submit(at, &unit(Op::Read, 64));
    let flush = Request { bytes: 0, ..unit(Op::Flush, 0) };
    let done = device.ask(at + Time::from_us(1), &flush).done;
    assert_eq!(done, at + COMMAND + PAGE * 2 + Time::from_us(500));
}

/// Checks that an interrupted program damages the earlier page on its word line, and no other page. Four
/// dies program their first page and then their second page. With two program times, these pages share a
/// word line.
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
        let settings = format!("{times}\n{settings}");
        let end = filled(&mut driven(&settings), units);
        // The last pages are still being programmed at this time.
        let mut device = driven(&settings);
        written(&mut device, units);
        let recovery = device.fail(end - Time::from_us(100));
        assert_eq!(recovery.pages_damaged, damaged, "{settings}, {units} units");
    }
}
