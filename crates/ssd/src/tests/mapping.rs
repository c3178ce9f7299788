//! Tests of a mapping table in flash with a cache.

use super::*;
use crate::ftl::mapping_cache::CachedPages;
use crate::ftl::mapping_cache::{Lookup, MappingCache};

#[test]
fn the_page_used_longest_ago_leaves_and_is_programmed_if_it_was_changed() {
    let mut cache = CachedPages::new(10, 1, 2);
    assert_eq!(cache.look_up(1, true), Lookup::Miss { page: 1, programmed: None });
    assert_eq!(cache.look_up(2, false), Lookup::Miss { page: 2, programmed: None });
    assert_eq!(cache.look_up(1, false), Lookup::Hit);
    assert_eq!(
        cache.look_up(3, false),
        Lookup::Miss { page: 3, programmed: None },
        "2 left, and was not changed"
    );
    assert_eq!(cache.look_up(4, false), Lookup::Miss { page: 4, programmed: Some(1) });
}

#[test]
fn a_moved_mapping_is_programmed_once_unless_its_page_is_cached_meanwhile() {
    let mut cache = CachedPages::new(10, 1, 2);
    cache.look_up(1, false);
    (0..3).for_each(|page| cache.moved(page));
    cache.moved(2);
    cache.look_up(0, false);
    assert_eq!(cache.take_moved(), Some(2), "1 is cached and changed, 0 has been read since");
    assert_eq!(cache.take_moved(), None);
    assert_eq!(cache.look_up(5, false), Lookup::Miss { page: 5, programmed: Some(1) });
    assert_eq!(cache.look_up(6, false), Lookup::Miss { page: 6, programmed: Some(0) });
}

/// Creates a drive with a mapping cache of `pages` pages. The mapping table of the drive has 97 to 98
/// pages.
fn cached(pages: u32, allocation: &str) -> Driven {
    driven(&format!(
        "mapping = {{ kind = \"cached_pages\", size = \"{} KiB\" }}\nover_provisioning = \"31 %\"\nblocks = 512\nallocation = \"{allocation}\"",
        4 * pages
    ))
}

#[test]
fn the_miss_ratio_under_uniform_access_is_the_uncached_share() {
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
        let count = device.unit_count();
        let mut random = random("misses");
        device.precondition(2 * count, |_| random.below(count));
        device.restart_ledger();
        device.closed_loop(16, 50_000, |_| unit(op, random.below(count)));
        device.check_invariants();
        let report = device.report();
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
        let count = device.unit_count();
        let mut random = random("table");
        device.precondition(3 * count, |_| random.below(count));
        device.restart_ledger();
        device.precondition(count, |_| random.below(count));
        let wear = device.report().wear.unwrap();
        (wear.metadata as f64 / wear.host as f64, wear.write_amplification().unwrap())
    };
    let (none, least) = amplification(98);
    assert_eq!(amplification(1_000), (none, least), "a larger cache holds the same table");
    let (some, more) = amplification(50);
    let (many, most) = amplification(5);
    assert!(none == 0.0, "{none}");
    // Almost every write misses and evicts a dirty page. Garbage collection adds more misses.
    assert!(many > 0.9 && some < many && some > 0.4, "{some} {many}");
    assert!(least < more && more < most, "{least} {more} {most}");
}

#[test]
fn a_miss_reads_a_page_of_the_table_before_the_data() {
    ["superblock", "static"].iter().for_each(|allocation| reads_the_table_first(allocation));
}

fn reads_the_table_first(allocation: &str) {
    let mut device = cached(10, allocation);
    device.precondition(98 * 1024, |number| number % 98 * 1000 + number / 98);
    device.restart_ledger();
    let read = |device: &mut Driven, number, at| {
        let answer = device.ask(at, &unit(Op::Read, number));
        (answer.latency_s(), answer.spent(Activity::Translate).as_secs_f64())
    };
    // These reads evict dirty pages first. Otherwise, the programs of these pages would delay the reads
    // below.
    for page in 40..60 {
        read(&mut device, page * 1024, Time::from_ms(10 * page));
    }
    let (miss, translated) = read(&mut device, 10, Time::from_s(1));
    let (hit, none) = read(&mut device, 11, Time::from_s(2));
    assert_close("a page of 50 us over the channel", translated, 50e-6 + 10.54e-6, 0.001);
    assert_close("the rest", miss - translated, hit, 0.001);
    assert_eq!(none, 0.0);
}

/// Checks that the busy time of the dies is at most the elapsed time. Writes and reads arrive much faster
/// than the dies serve them. Reads of the table and of data have priority over programs and erases.
#[test]
fn dies_with_a_table_in_flash_are_busy_no_longer_than_the_drive() {
    for allocation in ["superblock", "static", "dynamic"] {
        for requests in (100..2_000).step_by(100) {
            let mut device = cached(10, allocation);
            let count = device.unit_count();
            let mut random = random("span");
            device.precondition(count, |number| number);
            device.restart_ledger();
            for number in 0..requests {
                let op = if number % 2 == 0 { Op::Write } else { Op::Read };
                let request = unit(op, random.below(count));
                device.submit(Time::from_us(number), &request);
            }
            let (end, report) = (device.rest(), device.report());
            let dies = resource(&report, "dies");
            let used = dies.utilization(end);
            assert!(used <= 1.0 + 1e-9, "{allocation}: {used} after {requests} requests");
            device.check_invariants();
        }
    }
}
