//! Tests of a limit on the number of dies that erase at the same time, and of the waiting times of writes.

use super::*;

/// Simulates four dies that program 4 KiB in 500 us and erase in 20 ms. Writes are cyclic, so garbage
/// collection copies no unit. Returns the longest latency in seconds, and the writes per second.
fn saturated(settings: &str) -> (f64, f64) {
    let mut device = driven(&format!(
        "channels = 4\nways = 1\npages = 256\nblocks = 64\nerase = \"20 ms\"\nbus = \"4 GB/s\"\ncommand = \"0 s\"\n\
         link = \"40 GB/s\"\nbuffer = \"1 MiB\"\n{settings}"
    ));
    let count = device.unit_count();
    device.precondition(2 * count, |number| number % count);
    device.restart_ledger();
    let seen = device.closed_loop(8, 60_000, |number| unit(Op::Write, number % count));
    device.check_invariants();
    let report = device.report();
    assert_eq!(counter(&report, "copy_reads"), 0);
    (seen.latency.max().expect("it wrote").as_secs_f64(), seen.per_second())
}

/// Checks how long writes wait for erases. If all dies erase at the same time, or the buffer slots form a
/// ring, a write waits for a whole erase. If dies erase one at a time and the slots form a pool, a write
/// waits as if one die were missing. It waits for three programs of 500 us, because three of the eight
/// requests proceed with each program, and for the rest of the program in progress. The pool must hold the
/// operations that the erasing die does not program in the meantime: 3 x 20 ms / 500 us = 120 of 255 slots.
#[test]
fn no_write_waits_for_an_erase_if_dies_erase_in_turn_and_slots_are_a_pool() {
    // A die erases once per 256 programs.
    let rate = 4.0 / (500e-6 + 20e-3 / 256.0);
    for (settings, longest) in [
        ("", None),
        ("buffer_places = \"pool\"", None),
        ("erases_at_once = 1", None),
        ("erases_at_once = 1\nbuffer_places = \"pool\"", Some(4.0 * 500e-6)),
    ] {
        let (found, per_second) = saturated(settings);
        assert_close(&format!("writes a second, {settings}"), per_second, rate, 0.02);
        match longest {
            // A program is in progress, and an erase follows it.
            None => assert_close(&format!("the longest wait, {settings}"), found, 20e-3, 0.1),
            Some(longest) => assert!(found < 1.01 * longest, "a write takes {found} with {settings}"),
        }
    }
}

#[test]
fn dies_that_wait_for_their_turn_to_erase_are_busy_no_longer_than_the_drive() {
    for settings in ["erases_at_once = 1", "erases_at_once = 2\nallocation = \"static\"\nbuffer = \"4 MiB\""]
    {
        // A varying number of erases wait at the end of the run.
        for writes in (1_000..4_000).step_by(150) {
            let mut device = driven(&format!(
                "channels = 4\nways = 1\nblocks = 64\nerase = \"20 ms\"\nbus = \"4 GB/s\"\ncommand = \"0 s\"\n\
                 buffer_places = \"pool\"\n{settings}"
            ));
            let count = device.unit_count();
            device.precondition(2 * count, |number| number % count);
            device.restart_ledger();
            let mut random = random("turns");
            device.closed_loop(32, writes, |_| unit(Op::Write, random.below(count)));
            let (end, report) = (device.rest(), device.report());
            let dies = resource(&report, "dies");
            let used = dies.utilization(end);
            assert!((0.2..=1.0 + 1e-9).contains(&used), "{settings}: {used} after {writes} writes");
        }
    }
}
