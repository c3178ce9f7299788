//! Tests of the settings, errors, and requests of the workload.

use crate::testing::{Host, check_repeatable, problems, requests, serve, workload};
use crate::{Pacing, Units, Workload};
use nacre_kernel::{Op, Request, Time};

const HASH: &str = "kind = \"kv\"\nkeys = 2_000\ntransactions = 1_000\ncache = \"64 KiB\"\n";
const BTREE: &str = "kind = \"kv\"\nkeys = 2_000\ntransactions = 1_000\ncache = \"64 KiB\"\nmethod = \"btree\"\n\
                     load = \"random\"\ncheckpoint = 50\n";

fn build(settings: &str) -> Box<dyn Workload> {
    workload(settings, 1).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn the_same_seed_gives_the_same_requests_however_many_are_asked_for() {
    check_repeatable(HASH);
    check_repeatable(BTREE);
}

/// Returns all requests of a workload with `settings` on a device with the latency `latency`.
fn requests_over(settings: &str, latency: Time) -> Vec<Request> {
    serve(build(settings).interactive().expect("it is notified of completions"), |_| latency)
}

#[test]
fn what_it_asks_for_depends_on_when_it_is_told_that_a_request_is_done() {
    let [fast, slow] = [1, 100].map(|us| requests_over(HASH, Time::from_us(us)));
    let flushes =
        |requests: &[Request]| requests.iter().filter(|request| request.op == Op::Flush).count() as f64;
    // With four threads, more commits share a flush on a slow device.
    assert!(flushes(&slow) < flushes(&fast), "{} and {}", flushes(&slow), flushes(&fast));
    assert!(fast.is_sorted_by_key(|request| request.arrival));
    // Requests without completion events complete immediately.
    assert_eq!(requests(HASH), requests_over(HASH, Time::ZERO));
    assert_eq!(build(HASH).pacing(), Pacing::CompletionDriven);
}

#[test]
fn transactions_are_counted_at_the_flush_that_ends_them() {
    // All pages stay in memory, so with one thread every flush ends a transaction.
    let settings = HASH.replace("64 KiB", "64 MiB") + "threads = 1\n";
    let (mut workload, mut host, mut flushes) = (build(&settings), Host::default(), 0);
    while flushes < 1_000 {
        let outstanding = host.outstanding();
        let asked = workload.interactive().expect("it is notified of completions");
        assert!(host.advance(asked, |_| Time::from_us(50)), "it ends with the last flush");
        let completed = host.outstanding() < outstanding;
        flushes +=
            u64::from(completed && host.issued.last().is_some_and(|last| last.request.op == Op::Flush));
        let units = workload.units(host.issued.len() as u64);
        assert_eq!(units, Some(Units { name: "transactions", done: flushes }), "at {}", host.now);
    }
    assert_eq!(host.outstanding(), 0);
}

#[test]
fn its_reach_covers_everything_it_touches() {
    // 2,000 pairs with 31 pairs per leaf take 65 leaves: 67 pages including the root and page 0.
    let sorted = BTREE.replace("random", "sorted").replace("64 KiB", "4 KiB");
    assert_eq!(build(&sorted).reach(), Some((10 << 20) + 67 * 4096));
    let end = |settings: &str| {
        requests(settings).iter().map(|request| request.address + u64::from(request.bytes)).max()
    };
    assert_eq!(end(&sorted), build(&sorted).reach(), "1,000 transactions touch the last leaf");
    // A hash table may have unused pages at its end, which were allocated with a doubling.
    let hash = HASH.replace("64 KiB", "4 KiB");
    assert!(end(&hash) > Some((10 << 20) + 63 * 4096) && end(&hash) <= build(&hash).reach());
    // Pages are aligned to their size, regardless of the end of the log.
    let odd = format!("{HASH}page = \"64 KiB\"\nlog = \"100 KiB\"\ncache = \"64 KiB\"\n");
    let odd = odd.replacen("cache = \"64 KiB\"\n", "", 1);
    let reach = build(&odd).reach().expect("known at once");
    assert_eq!(reach % (64 << 10), 0);
    let lowest =
        requests(&odd).iter().filter(|request| request.op == Op::Read).map(|request| request.address).min();
    assert_eq!(lowest, Some(128 << 10), "page 0 behind a log of 100 KiB");
}

#[test]
fn the_writes_alone_are_those_among_the_requests_and_have_no_end() {
    let writes: Vec<_> = requests(HASH).into_iter().filter(|request| request.op == Op::Write).collect();
    for limit in [1, 7, 4_096] {
        let (mut workload, mut all) = (build(HASH), Vec::new());
        while all.len() < writes.len() + 1_000 {
            let before = all.len();
            workload.fill_writes(&mut all, limit).expect("no error while running");
            assert_eq!(all.len(), before + limit, "there are always more");
        }
        let times: Vec<Time> = all.iter().map(|request| request.arrival).collect();
        assert!(times.iter().all(|time| time.is_zero()), "without times");
        let untimed = |request: &Request| Request { arrival: Time::ZERO, ..*request };
        // The order of the last threads differs at the end of a run.
        let same = writes.iter().map(untimed).take(writes.len() - 50).zip(&all).all(|(a, b)| a == *b);
        assert!(same, "in batches of {limit}");
    }
}

#[test]
fn without_a_number_of_transactions_it_never_ends() {
    let mut endless = build(&HASH.replace("transactions = 1_000\n", ""));
    assert_eq!((endless.expected(), build(HASH).expected()), (Some(u64::MAX), None));
    let mut batch = Vec::new();
    (0..50_000).for_each(|_| endless.fill(&mut batch, 1).expect("no error while running"));
    assert_eq!((batch.len(), endless.notes().records), (50_000, 50_000));
}

#[test]
fn its_notes_say_how_large_it_is() {
    let notes = build(&BTREE.replace("random", "sorted")).notes();
    assert_eq!(notes.kind, "kv");
    let expected = "2000 pairs in a B+tree of 2 levels, 67 pages of 4 KiB, 268 KiB in all; the page cache holds 16 of them";
    assert_eq!(notes.notes, [expected]);
}

#[test]
fn mistakes_name_the_setting_and_a_remedy() {
    let with = |lines: &str| problems(&format!("kind = \"kv\"\n{lines}\n"));
    assert_eq!(
        with("page = \"6 KiB\"\nlog_block = \"3 KiB\""),
        [
            "workload.page (test.toml:3): it is not a power of two, given 6 KiB; use 8 KiB",
            "workload.log_block (test.toml:4): it is not a power of two, given 3 KiB; use 4 KiB",
        ]
    );
    assert_eq!(
        with("value = \"2 KiB\""),
        [
            "workload.page (default): a page has no space for two keys of 16 B with values of 2 KiB, given 4 KiB; \
          use larger pages, or smaller keys and values"
        ]
    );
    assert_eq!(
        with("page = \"64 KiB\"\ncache = \"32 KiB\""),
        [
            "workload.cache (test.toml:4): it is smaller than a page of 64 KiB, given 32 KiB; use 64 KiB or more"
        ]
    );
    assert_eq!(
        with("log = \"65 KiB\""),
        ["workload.log (test.toml:3): it is not a whole number of blocks of 4 KiB, given 65 KiB; use 68 KiB"]
    );
    assert_eq!(
        with("log = \"64 KiB\"\nthreads = 128"),
        [
            "workload.log (test.toml:3): records of transactions in progress may need 81476 B, which must be at most half of the log, given 64 KiB; \
          use a larger log, or fewer threads"
        ]
    );
}
