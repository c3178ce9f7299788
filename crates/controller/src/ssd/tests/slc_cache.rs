//! Cells with one bit: their rates, what they hold, and that everything in them comes to full cells.

use super::*;
use nacre_kernel::{Breakdown, Data};
use nacre_testkit::{assert_close, closed_loop};

/// Four dies; 21 of 64 pages hold a bit to a cell, so a superblock takes 84 units, and 8 MiB are 24 superblocks.
const CACHED: &str = "program = [\"1500 us\"]\nread = [\"60 us\"]\nbuffer = \"64 KiB\"\nbus = \"4 GB/s\"\n\
    slc_cache = { size = \"8 MiB\", read = \"20 us\", program = \"300 us\" }";
const UNITS: u64 = 24 * 84;

#[test]
fn writes_are_as_fast_as_their_cells() {
    let rate = |from: u64, count: u64| {
        let mut device = drive(CACHED);
        if from > 0 {
            precondition(&mut *device, from, |number| number);
        }
        let seen = closed_loop(&mut *device, 64, count, |number| unit(Op::Write, from + number));
        device.check_invariants();
        seen.per_second()
    };
    assert_close("a bit to a cell", rate(0, UNITS - 64), 4.0 / 300e-6, 0.03);
    assert_close("full cells", rate(UNITS, 2_000), 4.0 / 1500e-6, 0.03);
}

#[test]
fn reads_are_as_fast_as_the_cells_they_find() {
    let mut device = drive(CACHED);
    precondition(&mut *device, UNITS + 512, |number| number);
    assert_eq!(column(&report(&*device), "blocks_by_state.superblocks_slc"), 24.0);
    let mut latency = |now: u64, number: u64| {
        let now = Time::from_us(now);
        let completion = device.submit(now, &unit(Op::Read, number), Data::None, &mut Breakdown::new());
        completion.done - now
    };
    let (cached, full) = (latency(0, 7), latency(1_000, UNITS + 7));
    assert_eq!(full - cached, Time::from_us(40));
}

#[test]
fn a_full_drive_has_folded_what_its_cache_held() {
    let mut device = drive(&format!("{CACHED}\nblocks = 64\nover_provisioning = \"20 %\""));
    let count = unit_count(&*device);
    precondition(&mut *device, count, |number| number);
    let mut random = random("fold");
    precondition(&mut *device, 3 * count, |_| random.below(count));
    device.check_invariants();
    // Nothing is erased beyond the reserve, so nothing is filled with one bit to a cell any more.
    assert_eq!(column(&report(&*device), "blocks_by_state.superblocks_slc"), 0.0);
    assert_eq!(column(&report(&*device), "space.live_units"), count as f64);
    device.restart_ledger();
    let seen = closed_loop(&mut *device, 32, 20_000, |_| unit(Op::Write, random.below(count)));
    let wear = report(&*device).wear.expect("it wears");
    let copies = wear.cleaned as f64 / wear.host as f64;
    // For each unit written: it and the copies are programmed, copies read, and blocks of 64 pages erased, by four dies.
    let each = (1.0 + copies) * 1500e-6 + copies * 60e-6 + (1.0 + copies) / 64.0 * 3e-3;
    assert_close("cleaning takes its share", seen.per_second(), 4.0 / each, 0.03);
    device.check_invariants();
}
