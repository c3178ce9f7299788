//! Tests of zones that are on only some of the dies.

use super::zoned;
use crate::tests::driven::Driven;
use crate::tests::{problems, units};
use nacre_kernel::{Op, Status, Time};
use nacre_testkit::assert_close;

/// Number of units of a zone on each of its dies.
const UNITS_OF_DIE: u64 = 64;

/// Writes the zones `zones` of `dies` dies, one unit of each zone in turn. Returns the time in seconds until
/// all units are programmed.
fn time_to_fill(device: &mut Driven, zones: &[u64], dies: u64) -> f64 {
    let start = device.now;
    let size = dies * UNITS_OF_DIE;
    for index in 0..size {
        for zone in zones {
            let answer = device.ask(device.now, &units(Op::Write, zone * size + index, 1));
            assert_eq!(answer.status, Status::Done);
        }
    }
    device.rest();
    device.check_invariants();
    (device.now - start).as_secs_f64()
}

/// Creates a drive of 8 dies on 4 channels, whose zones are on `dies` dies.
fn on_dies(dies: u64, more: &str) -> Driven {
    let settings = format!(
        "channels = 4\nways = 2\nblocks = 64\nover_provisioning = \"20 %\"\nzone_dies = {dies}\nactive_zones = 9\n{more}"
    );
    zoned(&settings)
}

#[test]
fn a_zone_has_the_bandwidth_of_its_dies_and_zones_on_other_dies_add_theirs() {
    for dies in [1, 2, 4, 8] {
        let mut device = on_dies(dies, "");
        let groups = 8 / dies;
        // A die programs 64 pages in 500 us each, regardless of other zones.
        let one = UNITS_OF_DIE as f64 * 500e-6;
        let took = time_to_fill(&mut device, &[groups], dies);
        assert_close("a zone", took, one, 0.01);
        let took = time_to_fill(&mut device, &[0, 2 * groups], dies);
        assert_close("two zones on the same dies", took, 2.0 * one, 0.01);
        let of_each: Vec<u64> = (3 * groups..4 * groups).collect();
        let took = time_to_fill(&mut device, &of_each, dies);
        assert_close("a zone on each group of dies", took, one, 0.01);
    }
}

#[test]
fn the_channels_limit_the_bandwidth_of_a_zone() {
    // A page is transferred on its channel in 409.6 us after a command of 300 ns, and is programmed in 500
    // us. Consecutive dies are on different channels.
    let crossing = 4096.0 / 10e6 + 300e-9;
    for (dies, rate) in [(1, 1.0 / 500e-6), (4, 4.0 / 500e-6), (8, 4.0 / crossing)] {
        let mut device = on_dies(dies, "bus = \"10 MB/s\"");
        let took = time_to_fill(&mut device, &[0], dies);
        let law = (dies * UNITS_OF_DIE) as f64 / rate;
        assert_close(&format!("a zone of {dies} dies"), took, law, 0.02);
    }
}

#[test]
fn a_reset_erases_the_blocks_of_the_dies_of_the_zone() {
    let mut device = on_dies(2, "planes = 2");
    let size = 2 * 2 * UNITS_OF_DIE;
    for zone in 0..8 {
        device.ask(device.now, &units(Op::Write, zone * size, size as u32));
    }
    let start = device.rest();
    device.ask(device.now, &units(Op::Trim, 5 * size, size as u32));
    device.rest();
    assert_eq!(device.counter("flash_erases"), 4, "2 dies of 2 planes");
    assert_close("the erase", (device.now - start).as_secs_f64(), 3e-3, 0.01);
    // Reads on other dies do not wait for the erase. Reads of unwritten units use the dies of their zone.
    device.ask(device.now, &units(Op::Trim, 2 * size, size as u32));
    let at = device.now + Time::from_us(10);
    let reads = [0, 1, 2, 3].map(|zone| device.submit(at, &units(Op::Read, zone * size, 1)));
    let is_fast = reads.map(|number| device.answer(number).latency() < Time::from_us(500));
    assert_eq!(is_fast, [true, true, false, true]);
}

#[test]
fn superblocks_of_each_group_wear_evenly() {
    let mut device = on_dies(4, "");
    let size = 4 * UNITS_OF_DIE;
    // Zone 1 is in the second group.
    for _ in 0..128 {
        device.ask(device.now, &units(Op::Trim, size, size as u32));
        device.ask(device.now, &units(Op::Write, size, size as u32));
    }
    device.rest();
    let erases = device.report().wear.expect("it wears").block_erases;
    let (first, second) = erases.split_at(4 * 64);
    assert!(first.iter().all(|&erases| erases == 0), "nothing was written to the first group");
    let (least, most) = (second.iter().min(), second.iter().max());
    assert_eq!((least, most), (Some(&1), Some(&2)), "127 resets of 64 superblocks");
    device.check_invariants();
}

/// Checks that recovery searches zones on different dies in parallel, and zones on one die sequentially.
#[test]
fn recovery_looks_into_zones_of_the_same_dies_in_turn() {
    let page = 50e-6 + 300e-9;
    for (zones, rounds) in [([0, 1, 2], 1.0), ([0, 8, 1], 2.0), ([0, 8, 16], 3.0)] {
        let mut device = on_dies(1, "");
        for zone in zones {
            device.ask(device.now, &units(Op::Write, zone * UNITS_OF_DIE, 3));
        }
        let at = device.rest();
        let recovery = device.fail(at);
        // The table has one page. A binary search among 64 operations takes 7 reads.
        let law = page + 4096.0 / 400e6 + rounds * 7.0 * page;
        assert_close("recovery", (recovery.done - at).as_secs_f64(), law, 1e-6);
        assert_eq!(recovery.pages_scanned, 3 * 7);
    }
}

/// Checks that a zone is not written to the superblock that was erased last on the dies of the zone.
/// Superblock 0 of the first group is erased last in its group, although it has fewer erases than the
/// others. Then a zone of the other group is erased.
#[test]
fn a_zone_avoids_the_superblock_that_its_own_dies_erased_last() {
    let settings =
        "blocks = 8\nover_provisioning = \"60 %\"\nzone_dies = 2\nerases_at_once = 1\nactive_zones = 3";
    let mut device = zoned(settings);
    let size = 2 * UNITS_OF_DIE;
    let fill = |device: &mut Driven, zone: u64| {
        assert_eq!(device.ask(device.now, &units(Op::Write, zone * size, size as u32)).status, Status::Done);
    };
    let reset = |device: &mut Driven, zone: u64| {
        device.ask(device.now, &units(Op::Trim, zone * size, size as u32));
    };
    // Zone 0 uses superblock 0. Zone 2, in the same group, wears the other seven superblocks.
    [0, 1].into_iter().for_each(|zone| fill(&mut device, zone));
    for _ in 0..14 {
        fill(&mut device, 2);
        reset(&mut device, 2);
    }
    reset(&mut device, 0);
    reset(&mut device, 1);
    fill(&mut device, 2);
    reset(&mut device, 2);
    device.rest();
    let erases = device.report().wear.expect("it wears").block_erases;
    assert_eq!(erases[..8], [1, 3, 2, 2, 2, 2, 2, 2], "of the first die");
}

#[test]
fn dies_that_do_not_divide_those_of_the_drive_are_refused() {
    let refused =
        |settings: &str| problems(&format!("kind = \"zns_ssd\"\nover_provisioning = \"7 %\"\n{settings}"));
    let text = refused("channels = 6\nways = 2\nzone_dies = 5");
    assert!(text.contains("the 12 dies are not a whole number for each zone"), "{text}");
    assert!(text.contains("the nearest allowed: 6, 4"), "{text}");
    assert!(refused("zone_dies = 100").contains("the nearest allowed: 4"));
    // There are 2 groups of 2 dies. Each plane has 64 blocks, including 8 spare blocks.
    let text = refused("blocks = 64\nspare_blocks = 8\nzone_dies = 2");
    assert!(text.contains("zones need 60 superblocks on the dies of one, and there are 56"), "{text}");
}
