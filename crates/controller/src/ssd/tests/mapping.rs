//! The mapping table in flash, of which a part is cached.

use super::super::mapping_cache::{Lookup, MappingCache};
use super::*;
use nacre_kernel::Breakdown;
use nacre_kernel::Data;
use nacre_testkit::{assert_close, closed_loop};

#[test]
fn the_page_used_longest_ago_leaves_and_is_programmed_if_it_was_changed() {
    let mut cache = MappingCache::new(10, 2);
    assert_eq!(cache.look_up(1, true), Lookup::Miss { programmed: None });
    assert_eq!(cache.look_up(2, false), Lookup::Miss { programmed: None });
    assert_eq!(cache.look_up(1, false), Lookup::Hit);
    assert_eq!(cache.look_up(3, false), Lookup::Miss { programmed: None }, "2 left, and was not changed");
    assert_eq!(cache.look_up(4, false), Lookup::Miss { programmed: Some(1) });
}

#[test]
fn a_moved_mapping_is_programmed_once_unless_its_page_is_cached_meanwhile() {
    let mut cache = MappingCache::new(10, 2);
    cache.look_up(1, false);
    (0..3).for_each(|page| cache.moved(page));
    cache.moved(2);
    cache.look_up(0, false);
    assert_eq!(cache.take_moved(), Some(2), "1 is cached and changed, 0 has been read since");
    assert_eq!(cache.take_moved(), None);
    assert_eq!(cache.look_up(5, false), Lookup::Miss { programmed: Some(1) });
    assert_eq!(cache.look_up(6, false), Lookup::Miss { programmed: Some(0) });
}

/// A drive whose mapping table has 97 to 98 pages.
fn cached(pages: u32, allocation: &str) -> Box<dyn Device> {
    drive(&format!(
        "mapping_cache = \"{} KiB\"\nover_provisioning = \"31 %\"\nblocks = 512\nallocation = \"{allocation}\"",
        4 * pages
    ))
}

#[test]
fn under_uniform_access_what_is_not_cached_misses() {
    for (pages, op, allocation) in [
        (25, Op::Read, "superblock"),
        (50, Op::Read, "superblock"),
        (50, Op::Write, "superblock"),
        (75, Op::Write, "superblock"),
        (50, Op::Read, "dynamic"),
        (50, Op::Write, "dynamic"),
        (75, Op::Write, "static"),
    ] {
        let mut device = cached(pages, allocation);
        let count = unit_count(&*device);
        let mut random = random("misses");
        precondition(&mut *device, 2 * count, |_| random.below(count));
        device.restart_ledger();
        closed_loop(&mut *device, 16, 50_000, |_| unit(op, random.below(count)));
        device.check_invariants();
        let report = report(&*device);
        let misses = counter(&report, "mapping_misses") as f64 / counter(&report, "mapping_lookups") as f64;
        let table = count as f64 / 1024.0;
        assert_close(&format!("{pages} pages, {op:?}"), misses, 1.0 - f64::from(pages) / table, 0.03);
    }
}

#[test]
fn a_table_that_fits_costs_nothing_and_one_that_does_not_is_written_and_cleaned() {
    ["superblock", "static", "dynamic"].iter().for_each(|allocation| costs_by_what_misses(allocation));
}

fn costs_by_what_misses(allocation: &str) {
    let amplification = |pages| {
        let mut device = cached(pages, allocation);
        let count = unit_count(&*device);
        let mut random = random("table");
        precondition(&mut *device, 3 * count, |_| random.below(count));
        device.restart_ledger();
        precondition(&mut *device, count, |_| random.below(count));
        let wear = device.report(Time::ZERO).wear.unwrap();
        (wear.metadata as f64 / wear.host as f64, wear.write_amplification().unwrap())
    };
    let (none, least) = amplification(98);
    let (some, more) = amplification(50);
    let (many, most) = amplification(5);
    assert!(none == 0.0, "{none}");
    // Nearly every write misses and makes the page that leaves dirty; cleaning adds its own.
    assert!(many > 0.9 && some < many && some > 0.4, "{some} {many}");
    assert!(least < more && more < most, "{least} {more} {most}");
}

#[test]
fn a_miss_reads_a_page_of_the_table_before_the_data() {
    ["superblock", "static"].iter().for_each(|allocation| reads_the_table_first(allocation));
}

fn reads_the_table_first(allocation: &str) {
    let mut device = cached(10, allocation);
    precondition(&mut *device, 98 * 1024, |number| number % 98 * 1000 + number / 98);
    device.restart_ledger();
    let read = |device: &mut dyn Device, number, at| {
        let mut breakdown = Breakdown::new();
        let done = device.submit(at, &unit(Op::Read, number), Data::None, &mut breakdown).done;
        let translated = breakdown.spans().iter().filter(|span| span.activity.name() == "translate");
        let translated = translated.fold(Time::ZERO, |sum, span| sum + span.time);
        ((done - at).as_secs_f64(), translated.as_secs_f64())
    };
    // What was changed leaves first: its programs would be in the way.
    for page in 40..60 {
        read(&mut *device, page * 1024, Time::from_ms(10 * page));
    }
    let (miss, translated) = read(&mut *device, 10, Time::from_s(1));
    let (hit, none) = read(&mut *device, 11, Time::from_s(2));
    assert_close("a page of 50 us over the channel", translated, 50e-6 + 10.54e-6, 0.001);
    assert_close("the rest", miss - translated, hit, 0.001);
    assert_eq!(none, 0.0);
}

/// Reads of the table and behind them of data lie at times that are yet to come, and what waits stands still for them: when
/// all is over is known before, and no die has worked longer.
#[test]
fn what_waits_for_a_die_ends_behind_the_reads_it_stands_still_for() {
    for allocation in ["superblock", "static", "dynamic"] {
        for requests in (100..2_000).step_by(100) {
            let mut device = cached(10, allocation);
            let count = unit_count(&*device);
            let mut random = random("span");
            precondition(&mut *device, count, |number| number);
            device.restart_ledger();
            for number in 0..requests {
                let op = if number % 2 == 0 { Op::Write } else { Op::Read };
                let request = unit(op, random.below(count));
                device.submit(Time::from_us(number), &request, Data::None, &mut Breakdown::new());
            }
            let (end, report) = (device.busy_until(), report(&*device));
            let dies = report.resources.iter().find(|resource| resource.name == "dies").expect("it has dies");
            let used = dies.utilisation(end);
            assert!(used <= 1.0 + 1e-9, "{allocation}: {used} after {requests} requests");
            device.advance(end);
            assert_eq!(device.busy_until(), end, "{allocation}, after {requests} requests");
        }
    }
}
