//! Tests of waits and throughput of several threads in simulated time.

use super::{btree, hash, run, small};
use crate::Interactive;
use crate::kv::method::Method;
use crate::kv::store::Store;
use crate::kv::{AccessMethod, Config};
use crate::testing::Host;
use nacre_kernel::{Bytes, Op, Request, Status, Streams, Time};

const WRITE: Time = Time::from_us(100);

/// Latencies of a device: 100 us for writes, 10 us for reads, and zero for flushes.
fn device(request: &Request) -> Time {
    match request.op {
        Op::Write => WRITE,
        Op::Read => Time::from_us(10),
        Op::Trim | Op::Flush => Time::ZERO,
    }
}

/// Transactions per second on a device on which only log writes take time.
fn rate(config: &Config) -> f64 {
    let requests = run(&mut hash(config), |request| if request.op == Op::Write { WRITE } else { Time::ZERO });
    let end = requests.last().expect("requests").arrival;
    config.transactions.expect("an end") as f64 / end.as_secs_f64()
}

#[test]
fn one_log_write_commits_half_of_the_threads() {
    // Only commits take time, and the number of pages is so large that lock contention is negligible. During
    // a flush, the other threads append commits and wait. Then one of them writes all of these commits. The
    // threads of the previous flush have restarted, but their CPU time makes them slightly too late for this
    // write. Therefore two groups alternate: with T threads, each write contains T/2 commits.
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
    // A transaction takes four operations, a commit, and a log write.
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
    // Two gets and a put read three pages each, with 3 us of CPU time before each page. The second put must
    // evict a dirty page, which takes a log write, a flush, and a page write. Then it reads its three pages,
    // and the commit writes and flushes the log.
    let expected = [3, 13, 23, 36, 46, 56, 69, 79, 89, 102, 202, 202, 302, 312, 322, 332, 432];
    assert_eq!(times, expected);
}

/// Numbers of page reads and page writes, and number of dirty pages at the end.
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
    // With 31 pairs per leaf, there are 646 leaves, which are equally likely except the last. The 5 inner
    // pages and the root stay cached, which leaves space for 194 other leaves. The expected value is the
    // probability that the leaf of a random access is not among them.
    for threads in [1, 4] {
        let config = uniform(threads);
        let (reads, ..) = traffic(btree(&config), &config);
        let cold = 200.0;
        let missed = (reads as f64 - cold) / (2.0 * 20_000.0 - cold);
        let expected = 1.0 - 194.0 / 646.0;
        // 5 standard deviations of 40,000 samples are 1.1 %.
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
    // All keys are on two leaves, so nearly every transaction locks both. Only one transaction runs at a
    // time, and more threads do not increase the throughput.
    let few = |threads| Config {
        keys: 6,
        threads,
        transactions: Some(2_000),
        commit: Time::from_us(1),
        ..small(AccessMethod::Btree)
    };
    let time =
        |threads| run(&mut btree(&few(threads)), device).last().expect("requests").arrival.as_secs_f64();
    // For 20 % of the pairs of keys, both keys are on the same leaf. Two such transactions on different
    // leaves may run concurrently.
    let (one, eight) = (time(1), time(8));
    assert!((one / (2_000.0 * 101e-6) - 1.0).abs() < 0.01, "{one} s");
    assert!(eight > 0.75 * one && eight < one, "{eight} s with eight threads, {one} s with one");
}

/// Tests that threads share the read of a page. Three threads need the root, but only the first thread
/// reads it. After this read, the threads continue in arrival order.
#[test]
fn threads_wait_for_a_page_that_another_one_reads() {
    for latency in [1, 10, 5_000].map(Time::from_us) {
        let config = Config { keys: 6, threads: 3, ..small(AccessMethod::Btree) };
        let mut store = btree(&config);
        let (root, mut issued) = (store.method.first(), Vec::new());
        let address = config.log.0 + u64::from(root) * config.page.0;
        store.step(Time::ZERO, &mut issued).expect("it never fails");
        let [read] = issued[..] else { panic!("only one reads: {issued:?}") };
        assert_eq!((read.tag, read.request.op, read.request.address), (0, Op::Read, address));
        assert_eq!(store.next_event(), Time::MAX, "all wait for the root");
        store.complete(latency, read.tag, Status::Done);
        assert_eq!(store.next_event(), latency);
        store.step(latency, &mut issued).expect("it never fails");
        let leaves = &issued[1..];
        assert!(leaves[0].tag == 0 && leaves.is_sorted_by_key(|leaf| leaf.tag), "{leaves:?}");
        assert!(leaves.iter().all(|leaf| leaf.request.arrival == latency && leaf.request.address != address));
        // There are two leaves, so the third thread finds its leaf locked or being read.
        assert!(leaves.len() <= 2);
        leaves.iter().for_each(|leaf| store.complete(latency + latency, leaf.tag, Status::Done));
        let rest = run(&mut store, |_| latency);
        assert!(rest.iter().all(|request| request.address != address || request.op != Op::Read));
        assert_eq!(store.ended(), 100);
    }
}

/// Tests that all threads finish with a cache of a single page, for any order of completions and of
/// simultaneous events. A page is evicted only after the thread that read it has used it.
#[test]
fn threads_share_a_cache_of_one_page() {
    for (threads, completions_first) in [(2, false), (2, true), (3, true), (8, false), (8, true)] {
        let config = Config {
            threads,
            cache: Bytes(512),
            operation: Time::from_us(3),
            checkpoint: Some(9),
            writers: 2,
            ..small(AccessMethod::Btree)
        };
        let mut random = Streams::new(u64::from(threads)).stream("latencies");
        let (mut store, mut host) = (btree(&config), Host::default());
        host.completions_first = completions_first;
        // Latencies of whole microseconds cause many simultaneous events. Some latencies are zero.
        while host.advance(&mut store, |_| Time::from_us(random.below(12))) {}
        assert_eq!((store.ended(), host.outstanding()), (100, 0));
        // A search reads at least two of its three pages.
        assert!(host.issued.iter().filter(|issued| issued.request.op == Op::Read).count() >= 400);
    }
}
