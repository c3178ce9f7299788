//! Cleaning while the host is quiet.

use super::*;
use nacre_kernel::{Breakdown, Data};
use nacre_testkit::assert_close;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Four dies that program 4 KiB in 500 us, superblocks of 256 units.
const DRIVE: &str =
    "blocks = 512\nbus = \"4 GB/s\"\ncommand = \"0 s\"\nlink = \"40 GB/s\"\ncleaning = \"fifo\"\n";

/// Writes `count` units drawn by `draw`, 32 at a time, from `start` on; gives when the last was taken in.
fn burst(device: &mut dyn Device, start: Time, count: u64, mut draw: impl FnMut() -> u64) -> Time {
    let mut free: BinaryHeap<Reverse<Time>> = (0..32).map(|_| Reverse(start)).collect();
    let mut end = start;
    for _ in 0..count {
        let Reverse(now) = free.pop().expect("the loop has a depth");
        device.advance(now);
        let done = device.submit(now, &unit(Op::Write, draw()), Data::None, &mut Breakdown::new()).done;
        free.push(Reverse(done));
        end = end.max(done);
    }
    end
}

/// Writes so many units in some way.
type Writes<'a> = Box<dyn FnMut(&mut dyn Device, u64) + 'a>;

/// Units copied, and time taken, by a burst of so many superblocks after an hour of quiet.
fn burst_after_quiet(settings: &str, superblocks: u64) -> (u64, f64) {
    let mut device = drive(&format!("{DRIVE}{settings}"));
    let (count, mut random) = (unit_count(&*device), random("bursts"));
    precondition(&mut *device, 3 * count, |_| random.below(count));
    let start = Time::from_ms(3_600_000);
    device.advance(start);
    device.restart_ledger();
    let end = burst(&mut *device, start, 256 * superblocks, || random.below(count));
    device.check_invariants();
    (counter(&report(&*device), "units_cleaned"), (end - start).as_secs_f64())
}

#[test]
fn a_burst_within_the_thresholds_is_as_fast_as_on_an_empty_drive() {
    let (copied, seconds) = burst_after_quiet("idle_cleaning = 40", 30);
    assert_eq!(copied, 0, "36 superblocks are erased above the reserve");
    assert_close("programs alone", seconds, 30.0 * 256.0 / 4.0 * 500e-6, 0.02);
    let (copied, _) = burst_after_quiet("idle_cleaning = 40", 60);
    assert!(copied > 0, "the reserve is kept");
    let (copied, seconds) = burst_after_quiet("", 30);
    // Programs of the host and of copies, reads of copies; an erase for every 64 pages of a die.
    let (written, copied) = (30.0 * 256.0, copied as f64);
    let expected = (written + copied) / 4.0 * (500e-6 + 3e-3 / 64.0) + copied / 4.0 * 50e-6;
    assert_close("with cleaning in it", seconds, expected, 0.05);
}

#[test]
fn what_is_kept_erased_while_idle_is_no_spare_space() {
    for kept in [12, 24] {
        let amplification = |settings: &str, mut write: Writes<'_>| {
            let mut device = drive(&format!("{DRIVE}{settings} = {kept}"));
            let count = unit_count(&*device);
            write(&mut *device, 4 * count);
            device.restart_ledger();
            write(&mut *device, count);
            device.check_invariants();
            device.report(Time::ZERO).wear.unwrap().write_amplification().unwrap()
        };
        // A superblock of writes, and time to gain it again.
        let (mut now, mut draws) = (Time::ZERO, random("idle"));
        let idle = amplification(
            "idle_cleaning",
            Box::new(move |device, units| {
                let count = unit_count(device);
                for _ in 0..units / 256 {
                    now = burst(device, now, 256, || draws.below(count)) + Time::from_ms(1_000);
                }
            }),
        );
        let mut draws = random("pace");
        let reserve = amplification(
            "reserve",
            Box::new(move |device, units| {
                let count = unit_count(device);
                precondition(device, units, |_| draws.below(count));
            }),
        );
        assert_close(&format!("{kept} erased while idle, and as a reserve"), idle, reserve, 0.02);
    }
}

#[test]
fn cleaning_while_idle_does_not_depend_on_when_the_drive_is_told_the_time() {
    let ends = [1, 1_000].map(|steps| {
        let mut device = drive(&format!("{DRIVE}idle_cleaning = 40"));
        let (count, mut random) = (unit_count(&*device), random("steps"));
        precondition(&mut *device, 2 * count, |_| random.below(count));
        let end = burst(&mut *device, Time::ZERO, 1_000, || random.below(count));
        (1..=steps).for_each(|step| device.advance(end + Time::from_ms(500) * step / steps));
        let report = report(&*device);
        (device.busy_until(), counter(&report, "units_cleaned"), counter(&report, "flash_erases"))
    });
    assert!(ends[0].1 > 0);
    assert_eq!(ends[0], ends[1]);
}
