//! Tests of garbage collection while the host is idle.

use super::*;

/// Four dies that program 4 KiB in 500 us; superblocks of 256 units.
const DRIVE: &str = "blocks = 512\nbus = \"4 GB/s\"\ncommand = \"0 s\"\nlink = \"40 GB/s\"\ngarbage_collection.policy = \"fifo\"\n";

/// Writes `count` units that `draw` selects, with 32 outstanding requests. Returns the completion time of the
/// last write.
fn burst(device: &mut Driven, count: u64, mut draw: impl FnMut() -> u64) -> Time {
    device.closed_loop(32, count, |_| unit(Op::Write, draw())).end
}

/// A function that writes a number of units in some pattern.
type Writes<'a> = Box<dyn FnMut(&mut Driven, u64) + 'a>;

/// Returns the number of units copied during a burst of `superblocks` superblocks after an idle hour, and the
/// duration of the burst in seconds.
fn burst_after_quiet(settings: &str, superblocks: u64) -> (u64, f64) {
    let mut device = driven(&format!("{DRIVE}{settings}"));
    let (count, mut random) = (device.unit_count(), random("bursts"));
    device.precondition(3 * count, |_| random.below(count));
    let start = Time::from_ms(3_600_000);
    device.run_to(start);
    device.restart_ledger();
    let end = burst(&mut device, 256 * superblocks, || random.below(count));
    device.check_invariants();
    (device.counter("units_cleaned"), (end - start).as_secs_f64())
}

#[test]
fn a_burst_within_the_thresholds_is_as_fast_as_on_an_empty_drive() {
    let (copied, seconds) = burst_after_quiet("garbage_collection.idle_reserve = 36", 30);
    assert_eq!(copied, 0, "36 superblocks are erased above the reserve");
    assert_close("programs alone", seconds, 30.0 * 256.0 / 4.0 * 500e-6, 0.02);
    let (copied, _) = burst_after_quiet("garbage_collection.idle_reserve = 36", 60);
    assert!(copied > 0, "the reserve is kept");
    let (copied, seconds) = burst_after_quiet("", 30);
    // The dies work on programs of host data and copies, reads of copies, and one erase per 64 pages of a
    // die.
    let (written, copied) = (30.0 * 256.0, copied as f64);
    let expected = (written + copied) / 4.0 * (500e-6 + 3e-3 / 64.0) + copied / 4.0 * 50e-6;
    assert_close("with cleaning in it", seconds, expected, 0.05);
}

#[test]
fn the_idle_reserve_is_not_spare_space() {
    for kept in [12, 24] {
        let amplification = |settings: &str, mut write: Writes<'_>| {
            let mut device = driven(&format!("{DRIVE}{settings}"));
            let count = device.unit_count();
            write(&mut device, 4 * count);
            device.restart_ledger();
            write(&mut device, count);
            device.check_invariants();
            device.amplification()
        };
        // Each burst has one superblock of writes. Then the drive has enough time to reclaim a superblock.
        let mut draws = random("idle");
        let idle = amplification(
            &format!("garbage_collection.idle_reserve = {}", kept - 4),
            Box::new(move |device, units| {
                let count = device.unit_count();
                for _ in 0..units / 256 {
                    let end = burst(device, 256, || draws.below(count));
                    device.run_to(end + Time::from_ms(1_000));
                }
            }),
        );
        let mut draws = random("pace");
        let reserve = amplification(
            &format!("garbage_collection.reserve = {kept}"),
            Box::new(move |device, units| {
                let count = device.unit_count();
                device.precondition(units, |_| draws.below(count));
            }),
        );
        assert_close(&format!("{kept} erased while idle, and as a reserve"), idle, reserve, 0.02);
    }
}

#[test]
fn idle_garbage_collection_does_not_depend_on_when_the_drive_runs() {
    let ends = [1, 1_000].map(|steps| {
        let mut device = driven(&format!("{DRIVE}garbage_collection.idle_reserve = 36"));
        let (count, mut random) = (device.unit_count(), random("steps"));
        device.precondition(2 * count, |_| random.below(count));
        let end = burst(&mut device, 1_000, || random.below(count));
        (1..=steps).for_each(|step| device.run_to(end + Time::from_ms(500) * step / steps));
        let report = device.report();
        (device.rest(), counter(&report, "units_cleaned"), counter(&report, "flash_erases"))
    });
    assert!(ends[0].1 > 0);
    assert_eq!(ends[0], ends[1]);
}
