//! Tests of zone commands: appends, and opening, closing, finishing, and resetting zones.

use super::{UNITS, ask, command, fill, zone, zoned};
use crate::tests::driven::{Driven, driven_with_bytes};
use crate::tests::{unit, units};
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Status, ZoneCommand, ZoneRefusal, ZoneState};

/// Submits command `asked` to zone `number`. Returns the reason if the command is rejected.
fn refusal(device: &mut Driven, asked: ZoneCommand, number: u64, count: u32) -> Option<ZoneRefusal> {
    let answer = command(device, asked, number, count);
    assert_eq!(answer.status == Status::WriteRefused, answer.zone.refusal.is_some());
    answer.zone.refusal
}

fn states(device: &Driven, numbers: std::ops::Range<u64>) -> Vec<ZoneState> {
    numbers.map(|number| zone(device, number).state).collect()
}

#[test]
fn outstanding_appends_have_the_addresses_at_which_their_data_is() {
    let mut device = driven_with_bytes("kind = \"zns_ssd\"\nover_provisioning = \"7 %\"");
    let submitted: Vec<(u64, u32, u8, usize)> = (0..60)
        .map(|number| {
            let (of, count, byte) = (number % 3, 1 + (number % 4) as u32, number as u8 + 1);
            let data = Payload::from(vec![byte; count as usize * 4096]);
            let request = units(Op::Write, of * UNITS, count);
            let number = device.submit_command(device.now, ZoneCommand::Append, &request, data);
            (of, count, byte, number)
        })
        .collect();
    device.rest();
    let mut next = [0; 3];
    for &(of, count, _, number) in &submitted {
        let answer = device.seen(number);
        assert_eq!(answer.status, Status::Done);
        let at = (of * UNITS + next[of as usize]) * 4096;
        assert_eq!(answer.zone.written_at, Some(at), "appends take effect in order");
        next[of as usize] += u64::from(count);
    }
    for (of, &written) in (0..).zip(&next) {
        assert_eq!(zone(&device, of).write_pointer, (of * UNITS + written) * 4096);
    }
    for (_, count, byte, number) in submitted {
        let first = device.seen(number).zone.written_at.expect("it was done") / 4096;
        for unit in first..first + u64::from(count) {
            assert_eq!(device.read_byte(device.now, unit), byte);
        }
    }
    device.check_invariants();
    assert_eq!(device.counter("zone_appends"), 60);
}

#[test]
fn an_append_is_refused_for_the_reasons_of_the_specification() {
    let mut device = zoned("active_zones = 2");
    let append = ZoneCommand::Append;
    let count = UNITS as u32;
    assert_eq!(refusal(&mut device, append, 0, count + 1), Some(ZoneRefusal::Boundary));
    let request = unit(Op::Write, 1);
    let number = device.submit_command(device.now, append, &request, Payload::NONE);
    assert_eq!(device.answer(number).zone.refusal, Some(ZoneRefusal::NotZoneStart));
    assert_eq!(refusal(&mut device, append, 0, count - 1), None);
    assert_eq!(refusal(&mut device, append, 0, 2), Some(ZoneRefusal::Boundary));
    assert_eq!(refusal(&mut device, append, 1, 1), None);
    assert_eq!(refusal(&mut device, append, 2, 1), Some(ZoneRefusal::TooManyActive));
    assert_eq!(refusal(&mut device, append, 0, 1), None);
    assert_eq!(refusal(&mut device, append, 0, 1), Some(ZoneRefusal::Full));
    let write = ask(&mut device, &unit(Op::Write, UNITS));
    assert_eq!(write.zone.refusal, Some(ZoneRefusal::NotAtWritePointer));
    assert_eq!(write.zone.refusal.map(ZoneRefusal::nvme_status), Some(0x1BC));
    assert_eq!(device.counter("refused_writes"), 6);
    device.check_invariants();
}

#[test]
fn only_zones_opened_by_a_write_are_closed_for_another() {
    use ZoneState::{Closed, ExplicitlyOpen, ImplicitlyOpen};
    let mut device = zoned("active_zones = 4\nopen_zones = 2");
    assert_eq!(refusal(&mut device, ZoneCommand::Open, 0, 0), None);
    for number in 1..3 {
        ask(&mut device, &unit(Op::Write, number * UNITS));
    }
    assert_eq!(states(&device, 0..3), [ExplicitlyOpen, Closed, ImplicitlyOpen]);
    assert_eq!(refusal(&mut device, ZoneCommand::Open, 1, 0), None);
    assert_eq!(states(&device, 0..3), [ExplicitlyOpen, ExplicitlyOpen, Closed]);
    // At this point, no zone can be opened, by command or by a write.
    assert_eq!(refusal(&mut device, ZoneCommand::Open, 3, 0), Some(ZoneRefusal::TooManyOpen));
    assert_eq!(refusal(&mut device, ZoneCommand::Append, 2, 1), Some(ZoneRefusal::TooManyOpen));
    let write = ask(&mut device, &unit(Op::Write, 2 * UNITS + 1));
    assert_eq!(write.zone.refusal, Some(ZoneRefusal::TooManyOpen));
    assert_eq!(refusal(&mut device, ZoneCommand::Close, 0, 0), None);
    assert_eq!(refusal(&mut device, ZoneCommand::Append, 2, 1), None);
    assert_eq!(states(&device, 0..3), [Closed, ExplicitlyOpen, ImplicitlyOpen]);
    device.check_invariants();
}

#[test]
fn a_finished_zone_is_full_and_pads_one_operation() {
    let mut device = zoned("planes = 2");
    // An operation programs two pages of one unit.
    let units_of_zone = 2 * UNITS;
    ask(&mut device, &units(Op::Write, 0, 5));
    assert_eq!(refusal(&mut device, ZoneCommand::Finish, 0, 0), None);
    let number =
        device.submit_command(device.now, ZoneCommand::Finish, &unit(Op::Trim, units_of_zone), Payload::NONE);
    assert_eq!(device.answer(number).status, Status::Done, "an empty zone can be finished");
    device.rest();
    assert_eq!((device.counter("units_padding"), device.counter("flash_programs")), (1, 3));
    assert_eq!((device.counter("zone_finishes"), device.column("zones.full")), (2, 2.0));
    for asked in [ZoneCommand::Open, ZoneCommand::Close] {
        assert_eq!(refusal(&mut device, asked, 0, 0), Some(ZoneRefusal::InvalidTransition));
    }
    assert_eq!(refusal(&mut device, ZoneCommand::Finish, 0, 0), None, "a full zone stays full");
    assert_eq!(refusal(&mut device, ZoneCommand::Reset, 0, 0), None);
    assert_eq!(refusal(&mut device, ZoneCommand::Close, 0, 0), Some(ZoneRefusal::InvalidTransition));
    device.rest();
    device.check_invariants();
    // Each of 4 dies erases 2 blocks of the zone that contained data. The other zone was empty.
    assert_eq!((device.counter("zone_resets"), device.counter("flash_erases")), (1, 8));
}

#[test]
fn a_power_loss_closes_open_zones_and_empties_unwritten_ones() {
    use ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen};
    let mut device = zoned("active_zones = 6\nopen_zones = 4");
    for number in 0..3 {
        command(&mut device, ZoneCommand::Open, number, 0);
    }
    command(&mut device, ZoneCommand::Append, 0, 3);
    command(&mut device, ZoneCommand::Close, 2, 0);
    command(&mut device, ZoneCommand::Append, 3, 1);
    fill(&mut device, 4, 16);
    assert_eq!(states(&device, 0..5), [ExplicitlyOpen, ExplicitlyOpen, Closed, ImplicitlyOpen, Full]);
    let ready = device.fail(device.now).done;
    device.run_to(ready);
    assert_eq!(states(&device, 0..5), [Closed, Empty, Empty, Closed, Full]);
    assert_eq!(zone(&device, 0).write_pointer, 3 * 4096);
    device.check_invariants();
}

#[test]
fn an_open_that_is_refused_for_wear_ends_the_life_of_the_drive() {
    let mut device = zoned("blocks = 64\nover_provisioning = \"20 %\"\nendurance = 2");
    let count = device.unit_count() / UNITS;
    let mut written = 0;
    for number in (0..).map(|number| number % count) {
        command(&mut device, ZoneCommand::Reset, number, 0);
        if refusal(&mut device, ZoneCommand::Open, number, 0) == Some(ZoneRefusal::WornOut) {
            break;
        }
        assert!(device.report().columns.iter().all(|column| column.name != "end_of_life.time_s"));
        fill(&mut device, number, 64);
        written += UNITS;
    }
    assert_eq!(device.column("end_of_life.time_s"), device.now.as_secs_f64());
    assert!(device.column("end_of_life.host_bytes") <= (written * 4096) as f64);
    assert_eq!(device.counter("refused_writes"), 0, "no write was refused");
}
