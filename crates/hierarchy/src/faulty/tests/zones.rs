//! Tests of zone commands and appends that pass through faults.

use super::{counts, text};
use crate::workbench::{self, MODELS};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Request, Status, Time, Zone, ZoneAnswer, ZoneCommand, ZoneRefusal, ZoneState};
use nacre_testkit::{Workbench, conformance};

/// A device with zones of 256 KiB and units of 4 KiB.
const ZONED: &str = "kind = \"zns_ssd\"\nchannels = 1\nways = 1\nblocks = 64\npages = 64\npage = \"4 KiB\"\n\
    read = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\nbuffer = \"64 KiB\"\n\
    link = \"4 GB/s\"\nover_provisioning = \"20 %\"\nactive_zones = 3\nopen_zones = 2\n";
const UNIT: u64 = 4096;
const ZONE: u64 = 64 * UNIT;

fn zoned(faults: &[&str]) -> Box<dyn Device> {
    workbench::build(&text(ZONED, faults), Workbench::new(MODELS, 1).with_bytes()).expect("it is legal")
}

fn zone(device: &dyn Device, number: u64) -> Zone {
    device.zones().expect("it has zones").zone(number * ZONE)
}

/// Sends `command` to zone `number` and waits for its completion. An append writes `count` units filled
/// with `byte`. Returns the time, the status, and the zone reply.
fn give(
    device: &mut dyn Device,
    now: Time,
    command: ZoneCommand,
    number: u64,
    (count, byte): (usize, u8),
) -> (Time, Status, ZoneAnswer) {
    let mut completions = Completions::new();
    device.run(now, &mut completions);
    assert!(completions.is_empty(), "nothing is outstanding");
    let bytes = vec![byte; count * UNIT as usize];
    let (op, data) = match command {
        ZoneCommand::Append => (Op::Write, Payload::from(bytes.clone())),
        _ => (Op::Trim, Payload::NONE),
    };
    let request = Request { arrival: now, address: number * ZONE, bytes: bytes.len() as u32, volume: 0, op };
    let zones = device.zone_commands().expect("it has zone commands");
    zones.command(now, RequestId(7), command, &request, data);
    device.run(Time::MAX, &mut completions);
    let (completed, spans) = completions.get(0);
    let total = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
    assert_eq!((completed.id, total), (RequestId(7), completed.at - now));
    (completed.at, completed.status, completed.zone.as_deref().copied().unwrap_or_default())
}

/// Appends `count` units filled with `byte` to zone `number`. Returns the time, the status, and the zone
/// reply.
fn append(
    device: &mut dyn Device,
    now: Time,
    number: u64,
    (count, byte): (usize, u8),
) -> (Time, Status, ZoneAnswer) {
    give(device, now, ZoneCommand::Append, number, (count, byte))
}

const fn ms(time: u64) -> Time {
    Time::from_ms(time)
}

#[test]
fn a_device_with_zones_keeps_the_contract_below_faults() {
    let faults = [
        "kind = \"slow\"\nfactor = 2.5\nevery = 3",
        "kind = \"stall\"\nstart = \"1 ms\"\nduration = \"700 us\"\nperiod = \"3 ms\"",
        "kind = \"error\"\nshare = \"3 %\"\nafter = \"15 us\"",
    ];
    conformance(Time::from_us(200), || zoned(&faults));
}

/// A sequence of appends and commands has the same times, statuses, and addresses as on the device without
/// faults.
#[test]
fn without_an_active_fault_commands_take_effect_as_in_the_device_alone() {
    use ZoneCommand::{Append, Close, Finish, Open, Reset};
    let later = "kind = \"error\"\nstart = \"1 h\"";
    let bench = Workbench::new(MODELS, 1).with_bytes();
    let alone = workbench::build(&format!("[stack]\n{ZONED}"), bench).expect("it is legal");
    let mut devices = [alone, zoned(&[later])];
    let script = [
        (Open, 0, 0),
        (Append, 0, 3),
        (Append, 1, 2),
        (Append, 0, 62),
        (Append, 0, 61),
        (Append, 0, 1),
        (Close, 1, 0),
        (Close, 2, 0),
        (Finish, 1, 0),
        (Open, 1, 0),
        (Append, 2, 1),
        (Append, 3, 1),
        (Append, 4, 1),
        (Append, 5, 1),
        (Reset, 0, 0),
    ];
    let mut refusals = Vec::new();
    for (step, &(command, number, count)) in (0..).zip(&script) {
        let answers =
            devices.each_mut().map(|device| give(&mut **device, ms(100 * step), command, number, (count, 1)));
        assert_eq!(answers[0], answers[1], "{command:?} of zone {number}");
        assert_eq!(zone(&*devices[0], number), zone(&*devices[1], number));
        refusals.extend(answers[1].2.refusal);
    }
    use ZoneRefusal::{Boundary, Full, InvalidTransition, TooManyActive};
    assert_eq!(
        refusals,
        [Boundary, Full, InvalidTransition, InvalidTransition, TooManyActive],
        "reasons pass the faults"
    );
}

#[test]
fn a_fault_of_writes_fails_appends_and_leaves_the_zone_as_it_was() {
    let mut device = zoned(&["kind = \"error\"\noperations = [\"write\"]\nevery = 2"]);
    let (_, status, answer) = append(&mut *device, ms(0), 1, (2, 1));
    assert_eq!((status, answer.written_at), (Status::Done, Some(ZONE)));
    let (_, status, answer) = append(&mut *device, ms(1), 1, (2, 2));
    assert_eq!((status, answer), (Status::MediaError, ZoneAnswer::default()));
    assert_eq!(zone(&*device, 1).write_pointer, ZONE + 2 * UNIT);
    // A fault that affects writes does not affect zone commands.
    assert_eq!(give(&mut *device, ms(2), ZoneCommand::Finish, 1, (0, 0)).1, Status::Done);
    assert_eq!(counts(&*device, 0).matching, 2);
    assert_eq!(counts(&*device, 0).errors, 1);
}

#[test]
fn a_fault_of_trims_concerns_the_other_commands() {
    let mut device = zoned(&["kind = \"error\"\noperations = [\"trim\"]\nrange_start = \"256 KiB\""]);
    append(&mut *device, ms(0), 0, (1, 1));
    append(&mut *device, ms(1), 1, (1, 1));
    assert_eq!(give(&mut *device, ms(2), ZoneCommand::Reset, 0, (0, 0)).1, Status::Done);
    assert_eq!(give(&mut *device, ms(3), ZoneCommand::Reset, 1, (0, 0)).1, Status::MediaError);
    assert_eq!(
        [0, 1].map(|number| zone(&*device, number).state),
        [ZoneState::Empty, ZoneState::ImplicitlyOpen]
    );
}

#[test]
fn a_range_selects_appends_by_the_write_pointer() {
    let mut device = zoned(&["kind = \"error\"\nrange_start = \"8 KiB\"\nrange_end = \"12 KiB\""]);
    let status = [0, 1, 2, 3].map(|at| append(&mut *device, ms(at), 0, (1, 1)).1);
    assert_eq!(status, [Status::Done, Status::Done, Status::MediaError, Status::MediaError]);
}

#[test]
fn writes_that_a_zone_would_reject_are_refused() {
    for kind in ["lost_write", "torn_write", "misdirected_write"] {
        let bench = Workbench::new(MODELS, 1).with_bytes();
        let toml = text(ZONED, &[&format!("kind = \"{kind}\"")]);
        let problem = workbench::build(&toml, bench).err().expect("it is refused").to_string();
        assert!(problem.contains("rejects writes that are not at the write pointer"), "{problem}");
    }
}

#[test]
fn a_delay_adds_its_time_to_an_append() {
    let mut devices = [zoned(&[]), zoned(&["kind = \"delay\"\nlatency = \"3 ms\""])];
    let [alone, late] = devices.each_mut().map(|device| append(&mut **device, ms(0), 0, (1, 1)));
    assert_eq!((late.0, late.1, late.2), (alone.0 + ms(3), alone.1, alone.2));
}

#[test]
fn an_append_whose_answer_is_lost_is_written_at_an_unknown_address() {
    let mut device = zoned(&["kind = \"error\"\nat = \"transport\""]);
    let (_, status, answer) = append(&mut *device, ms(0), 0, (1, 5));
    assert_eq!((status, answer), (Status::TransportError, ZoneAnswer::default()));
    assert_eq!(zone(&*device, 0).write_pointer, UNIT);
}
