//! Several threads in simulated time: what waits for what, and how many transactions that makes.

use super::{btree, hash, run, small};
use crate::kv::method::Method;
use crate::kv::store::Store;
use crate::kv::{AccessMethod, Config};
use nacre_kernel::{Bytes, Op, Request, Time};

const WRITE: Time = Time::from_us(100);

/// Writes take 100 us, reads 10 us, flushes nothing.
fn device(request: &Request) -> Time {
    match request.op {
        Op::Write => WRITE,
        Op::Read => Time::from_us(10),
        Op::Trim | Op::Flush => Time::ZERO,
    }
}

/// Transactions a second where only log writes take the device's time.
fn rate(config: &Config) -> f64 {
    let requests = run(&mut hash(config), |request| if request.op == Op::Write { WRITE } else { Time::ZERO });
    let end = requests.last().expect("requests").arrival;
    config.transactions.expect("an end") as f64 / end.as_secs_f64()
}

#[test]
fn one_log_write_commits_half_of_the_threads() {
    // Only commits take time, and pages are too many for locks to matter. While a flush is under way the others append theirs and
    // wait; then one of them writes all of those. The threads of the flush before have begun again, but the
    // processor's time makes them a little too late for it. So two groups take turns: T threads, T/2 a write.
    for threads in [2, 4, 8, 16] {
        let config = Config {
            threads,
            transactions: Some(8_000),
            keys: 100_000,
            cache: Bytes(1 << 30),
            commit: Time::from_us(1),
            log: Bytes(64 << 20),
            ..small(AccessMethod::Hash)
        };
        let expected = f64::from(threads) / (2.0 * WRITE.as_secs_f64());
        let rate = rate(&config);
        assert!((rate / expected - 1.0).abs() < 0.01, "{threads} threads: {rate} of {expected} a second");
    }
}

#[test]
fn one_thread_takes_the_sum_of_its_parts() {
    let config = Config {
        transactions: Some(3_000),
        operation: Time::from_us(5),
        commit: Time::from_us(13),
        ..small(AccessMethod::Hash)
    };
    // Four operations, a commit, a log write.
    let expected = 1.0 / (4.0 * 5e-6 + 13e-6 + 100e-6);
    assert!((rate(&config) / expected - 1.0).abs() < 1e-3, "{} of {expected}", rate(&config));
}

#[test]
fn a_thread_asks_for_a_page_when_it_has_the_one_before() {
    let config = Config {
        cache: Bytes(512),
        operation: Time::from_us(3),
        transactions: Some(1),
        ..small(AccessMethod::Btree)
    };
    let times: Vec<u64> =
        run(&mut btree(&config), device).iter().map(|request| request.arrival.as_ps() / 1_000_000).collect();
    // Two gets and a put of three pages each, 3 us of the processor before each; the second put finds one dirty
    // page in its way: log write, flush, page write; then its three pages, and the commit's log write and flush.
    let expected = [3, 13, 23, 36, 46, 56, 69, 79, 89, 102, 202, 202, 302, 312, 322, 332, 432];
    assert_eq!(times, expected);
}

/// Counts of page reads and writes, and pages left dirty.
fn traffic<M: Method>(mut store: Store<M>, config: &Config) -> (u64, u64, u64) {
    let (mut reads, mut writes) = (0, 0);
    for request in run(&mut store, device) {
        let page = ((request.address.wrapping_sub(config.log.0)) / config.page.0) as u32;
        match request.op {
            Op::Read if store.method.pages().level(page) == 0 => reads += 1,
            Op::Write if request.address >= config.log.0 => writes += 1,
            _ => {}
        }
    }
    (reads, writes, store.cache.all_dirty().len() as u64)
}

fn uniform(threads: u32) -> Config {
    Config {
        keys: 20_000,
        page: Bytes(4096),
        cache: Bytes(200 << 12),
        log: Bytes(64 << 20),
        transactions: Some(20_000),
        threads,
        ..small(AccessMethod::Btree)
    }
}

#[test]
fn a_cache_hits_as_often_as_it_holds_pages() {
    // 31 pairs on a leaf: 646 leaves, all equally likely but the last; 5 inner pages and the root stay. A page
    // used last at a time drawn at random is among the 194 other pages with that chance, whatever the order.
    for threads in [1, 4] {
        let config = uniform(threads);
        let (reads, ..) = traffic(btree(&config), &config);
        let cold = 200.0;
        let missed = (reads as f64 - cold) / (2.0 * 20_000.0 - cold);
        let expected = 1.0 - 194.0 / 646.0;
        // 5 deviations of 40,000 draws are 1.1 %.
        assert!((missed - expected).abs() < 0.012, "{missed} missed, expected {expected}");
    }
}

#[test]
fn every_page_that_was_read_is_changed_and_written_once_before_it_leaves() {
    for threads in [1, 4] {
        let config = uniform(threads);
        let (reads, writes, dirty) = traffic(btree(&config), &config);
        assert_eq!(reads, writes + dirty, "with {threads} threads");
    }
}

#[test]
fn a_thread_waits_for_the_page_that_another_one_changes() {
    // Two leaves for all keys: nearly every transaction needs both, so only one at a time gets on, and what
    // threads add is nothing.
    let few = |threads| Config {
        keys: 6,
        threads,
        transactions: Some(2_000),
        commit: Time::from_us(1),
        ..small(AccessMethod::Btree)
    };
    let time =
        |threads| run(&mut btree(&few(threads)), device).last().expect("requests").arrival.as_secs_f64();
    // A fifth of pairs of keys lies on each of the leaves: two such transactions may run at once.
    let (one, eight) = (time(1), time(8));
    assert!((one / (2_000.0 * 101e-6) - 1.0).abs() < 0.01, "{one} s");
    assert!(eight > 0.75 * one && eight < one, "{eight} s with eight threads, {one} s with one");
}
