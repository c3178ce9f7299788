//! Tests of the SLC cache: bandwidth, capacity, and moves of its data to blocks with all bits per cell.

use super::*;

/// A drive of four dies. In SLC mode, 21 of 64 pages are available, so a superblock holds 84 units, and 8 MiB
/// are 24 superblocks.
const CACHED: &str = "program = [\"1500 us\"]\nread = [\"60 us\"]\nbuffer = \"64 KiB\"\nbus = \"4 GB/s\"\n\
    slc_cache = { size = \"8 MiB\", read = \"20 us\", program = \"300 us\" }";
const UNITS: u64 = 24 * 84;

#[test]
fn writes_are_as_fast_as_their_cells() {
    let rate = |from: u64, count: u64| {
        let mut device = driven(CACHED);
        if from > 0 {
            device.precondition(from, |number| number);
        }
        let seen = device.closed_loop(64, count, |number| unit(Op::Write, from + number));
        device.check_invariants();
        seen.per_second()
    };
    assert_close("a bit to a cell", rate(0, UNITS - 64), 4.0 / 300e-6, 0.03);
    assert_close("full cells", rate(UNITS, 2_000), 4.0 / 1500e-6, 0.03);
}

#[test]
fn reads_are_as_fast_as_the_cells_they_find() {
    let mut device = driven(CACHED);
    device.precondition(UNITS + 512, |number| number);
    assert_eq!(device.column("blocks_by_state.superblocks_slc"), 24.0);
    let mut latency =
        |now: u64, number: u64| device.ask(Time::from_us(now), &unit(Op::Read, number)).latency();
    let (cached, full) = (latency(0, 7), latency(1_000, UNITS + 7));
    assert_eq!(full - cached, Time::from_us(40));
}

#[test]
fn a_full_drive_has_folded_its_slc_cache() {
    let mut device = driven(&format!("{CACHED}\nblocks = 64\nover_provisioning = \"20 %\""));
    let count = device.unit_count();
    device.precondition(count, |number| number);
    let mut random = random("fold");
    device.precondition(3 * count, |_| random.below(count));
    device.check_invariants();
    // No superblock is erased in addition to the reserve, so SLC mode is no longer used.
    assert_eq!(device.column("blocks_by_state.superblocks_slc"), 0.0);
    assert_eq!(device.column("space.valid_units"), count as f64);
    device.restart_ledger();
    let seen = device.closed_loop(32, 20_000, |_| unit(Op::Write, random.below(count)));
    let wear = device.report().wear.expect("it wears");
    let copies = wear.cleaned as f64 / wear.host as f64;
    // This is the work of four dies per unit written: programs of the unit and of copies, reads of copies,
    // and erases of blocks of 64 pages.
    let each = (1.0 + copies) * 1500e-6 + copies * 60e-6 + (1.0 + copies) / 64.0 * 3e-3;
    assert_close("cleaning takes its share", seen.per_second(), 4.0 / each, 0.03);
    device.check_invariants();
}

/// Checks read disturb in a superblock of two blocks per plane. In SLC mode, the first 32 rows of pages of
/// the superblock are in the first block of each plane, and the other rows are in the second block.
#[test]
fn reads_in_slc_mode_disturb_the_block_of_their_page() {
    let settings = "allocation = { kind = \"superblock\", reclaim_unit = 2 }\n\
        slc_cache = { size = \"8 MiB\", read = \"20 us\", program = \"300 us\", bits = 2 }\n\
        errors = { ecc = { kind = \"ldpc\" }, bit_error_rate = 0, cycles = 1000, refresh_reads = 100 }";
    let mut device = driven(settings);
    device.write_all(Time::ZERO, 0..256);
    device.rest();
    let read = |device: &mut Driven, row: u64, times: u64| {
        for _ in 0..times {
            device.ask(device.now + Time::from_ms(1), &unit(Op::Read, 4 * row));
        }
        device.rest();
        device.counter("refreshes")
    };
    assert_eq!(read(&mut device, 0, 99), 0);
    assert_eq!(read(&mut device, 40, 99), 0, "it is another block");
    assert_eq!(read(&mut device, 31, 1), 1, "it is the block of row 0");
}
