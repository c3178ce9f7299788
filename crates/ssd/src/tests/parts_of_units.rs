//! Tests of partial reads and writes: only parts of a unit cross the channel.

use super::*;

/// A bus of 2.5 ns/B, and commands of 300 ns.
const PARTS: &str = "transfer = \"512 B\"\npower_protected = false";

/// Returns the channel time of `bytes` and their command.
fn transfer(bytes: u64) -> Time {
    Time::from_ns(300 + bytes * 5 / 2)
}

/// Returns a request for the bytes `from..to` of a unit.
fn part(op: Op, number: u64, from: u64, to: u64) -> Request {
    Request { address: number * 4096 + from, bytes: (to - from) as u32, ..unit(op, 0) }
}

#[test]
fn a_read_transfers_the_parts_that_it_needs() {
    for (from, to, bytes) in [(0, 512, 512), (512, 2048, 1536), (600, 1200, 1024), (0, 4096, 4096)] {
        let mut device = driven(PARTS);
        device.ask(Time::ZERO, &unit(Op::Write, 3));
        let read = device.ask(Time::from_ms(5), &part(Op::Read, 3, from, to));
        assert_eq!(read.spent(Activity::Transfer), transfer(bytes), "{from}..{to}");
    }
}

#[test]
fn a_program_transfers_the_parts_that_were_written() {
    for (settings, bytes) in [(PARTS, 1024), ("power_protected = false", 4096)] {
        let mut device = driven(settings);
        let write = device.ask(Time::ZERO, &part(Op::Write, 3, 1024, 2048));
        let flush = device.ask(write.done, &Request { bytes: 0, ..unit(Op::Flush, 0) });
        // The program started when the write was in the buffer.
        assert_eq!(flush.done - write.done, transfer(bytes) + Time::from_us(500), "{settings}");
    }
}

#[test]
fn a_partial_write_reads_the_parts_that_it_does_not_replace() {
    // Written bytes, and bytes that are then read and programmed.
    let writes = [
        (0..1024, 0, 1024),
        (1024..2048, 1024, 2048),
        (512..2048, 512, 2048),
        (0..2048, 0, 2048),
        (100..612, 2048, 2048),
        (3584..4096, 2048, 4096),
        (0..512, 3584, 4096),
        (0..4096, 0, 4096),
    ];
    let mut device = driven(PARTS);
    let mut expected = Time::ZERO;
    for (number, (part_of, read, programmed)) in (1..).zip(writes) {
        device.ask(Time::from_ms(5 * number), &part(Op::Write, 3, part_of.start, part_of.end));
        device.rest();
        expected = expected + transfer(programmed) + if read > 0 { transfer(read) } else { Time::ZERO };
        let busy = resource(&device.report(), "channels").ledger.total_busy_s();
        assert!(
            (busy - expected.as_secs_f64()).abs() < 1e-12,
            "write {number}: {busy} instead of {expected}"
        );
    }
    assert_eq!((device.counter("partial_writes"), device.counter("flash_reads")), (7, 5));
    // A trimmed unit has no written parts.
    device.ask(Time::from_ms(50), &unit(Op::Trim, 3));
    device.ask(Time::from_ms(55), &part(Op::Write, 3, 0, 512));
    device.rest();
    let busy = resource(&device.report(), "channels").ledger.total_busy_s();
    assert!((busy - (expected + transfer(512)).as_secs_f64()).abs() < 1e-12);
    device.check_invariants();
}

#[test]
fn parts_that_were_never_written_take_no_buffer_space() {
    // The buffer has four operations. One of them is open.
    for places in ["ring", "pool"] {
        for (bytes, at_once) in [(4096, 4), (2048, 7), (1024, 13)] {
            let mut device = driven(&format!(
                "{PARTS}\nprogram = [\"1 s\"]\nbuffer = \"16 KiB\"\nbuffer_places = \"{places}\""
            ));
            for number in 0..20 {
                device.submit(Time::ZERO, &part(Op::Write, number, 0, bytes));
            }
            device.rest();
            let done = (0..20).filter(|&number| device.seen(number).done < Time::from_ms(1)).count();
            assert_eq!(done, at_once, "writes of {bytes} B, {places}");
        }
    }
}
