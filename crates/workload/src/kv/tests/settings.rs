//! The room as users meet it.

use crate::testing::{check_repeatable, problems, requests, workload};
use crate::{Pacing, Units, Workload};
use nacre_kernel::{Op, Time};

const HASH: &str = "kind = \"kv\"\nkeys = 2_000\ntransactions = 1_000\ncache = \"64 KiB\"\n";
const BTREE: &str = "kind = \"kv\"\nkeys = 2_000\ntransactions = 1_000\ncache = \"64 KiB\"\nmethod = \"btree\"\n\
                     load = \"random\"\ncheckpoint = 50\n";

fn build(settings: &str) -> Box<dyn Workload> {
    workload(settings, 1).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn batches_cut_it_anywhere() {
    for settings in [HASH, BTREE] {
        check_repeatable(settings);
        let whole = requests(settings);
        let (mut workload, mut pieces) = (build(settings), Vec::new());
        for limit in (1..100).cycle() {
            let before = pieces.len();
            workload.fill(&mut pieces, limit).expect("no error while running");
            if pieces.len() == before {
                break;
            }
            assert_eq!(pieces.len(), whole.len().min(before + limit), "batches are full up to the end");
        }
        assert!(pieces == whole, "the same requests in the same order");
    }
}

#[test]
fn transactions_are_counted_at_the_flush_that_ends_them() {
    // Everything is in memory after a while, so with one thread every flush ends a transaction.
    let settings = HASH.replace("64 KiB", "64 MiB") + "threads = 1\n";
    for limit in [1, 7, 64, 10_000] {
        let mut workload = build(&settings);
        let (mut batch, mut given, mut flushes) = (Vec::new(), 0, 0);
        loop {
            batch.clear();
            workload.fill(&mut batch, limit).expect("no error while running");
            assert_eq!(workload.units(given), Some(Units { name: "transactions", done: flushes }));
            for request in &batch {
                given += 1;
                flushes += u64::from(request.op == Op::Flush);
                assert_eq!(workload.units(given).map(|units| units.done), Some(flushes), "after {given}");
            }
            if batch.is_empty() {
                break;
            }
        }
        assert_eq!(flushes, 1_000);
    }
    for settings in [HASH, BTREE] {
        let (mut workload, mut batch) = (build(settings), Vec::new());
        workload.fill(&mut batch, 1_000_000).expect("no error while running");
        let units = |given| workload.units(given).map(|units| units.done);
        assert_eq!((units(0), units(batch.len() as u64)), (Some(0), Some(1_000)));
    }
}

#[test]
fn its_reach_covers_everything_it_touches() {
    // 2,000 pairs at 31 to a leaf are 65 leaves; with the root and page 0 that is 67 pages.
    let sorted = BTREE.replace("random", "sorted").replace("64 KiB", "4 KiB");
    assert_eq!(build(&sorted).reach(), Some((10 << 20) + 67 * 4096));
    let end = |settings: &str| {
        requests(settings).iter().map(|request| request.address + u64::from(request.bytes)).max()
    };
    assert_eq!(end(&sorted), build(&sorted).reach(), "1,000 transactions touch the last leaf");
    // A hash table may have pages behind the last one in use: the rest of a doubling.
    let hash = HASH.replace("64 KiB", "4 KiB");
    assert!(end(&hash) > Some((10 << 20) + 63 * 4096) && end(&hash) <= build(&hash).reach());
    // Pages begin at whole pages, wherever the log ends.
    let odd = format!("{HASH}page = \"64 KiB\"\nlog = \"100 KiB\"\ncache = \"64 KiB\"\n");
    let odd = odd.replacen("cache = \"64 KiB\"\n", "", 1);
    let reach = build(&odd).reach().expect("known at once");
    assert_eq!(reach % (64 << 10), 0);
    let lowest =
        requests(&odd).iter().filter(|request| request.op == Op::Read).map(|request| request.address).min();
    assert_eq!(lowest, Some(128 << 10), "page 0 behind a log of 100 KiB");
}

#[test]
fn threads_are_the_depth_of_a_closed_loop() {
    assert_eq!(build(HASH).pacing(), Pacing::Closed { queue_depth: 4, think: Time::ZERO });
    let other = build(&format!("{HASH}threads = 7\nthink = \"3 us\"\n"));
    assert_eq!(other.pacing(), Pacing::Closed { queue_depth: 7, think: Time::from_us(3) });
    assert!(requests(HASH).iter().all(|request| request.arrival == Time::ZERO));
}

#[test]
fn the_writes_alone_are_those_among_the_requests_and_have_no_end() {
    let writes: Vec<_> = requests(HASH).into_iter().filter(|request| request.op == Op::Write).collect();
    for limit in [1, 7, 4_096] {
        let (mut workload, mut all) = (build(HASH), Vec::new());
        while all.len() < writes.len() + 1_000 {
            let before = all.len();
            workload.fill_writes(&mut all, limit).expect("no error while running");
            assert!(all.len() > before && all.len() <= before + limit);
        }
        // The last threads of a run that ends have their turns sooner.
        assert!(all[..writes.len() - 50] == writes[..writes.len() - 50], "in batches of {limit}");
    }
}

#[test]
fn without_a_number_of_transactions_it_never_ends() {
    let mut endless = build(&HASH.replace("transactions = 1_000\n", ""));
    assert_eq!((endless.expected(), build(HASH).expected()), (Some(u64::MAX), None));
    let mut batch = Vec::new();
    endless.fill(&mut batch, 300_000).expect("no error while running");
    assert_eq!((batch.len(), endless.notes().records), (300_000, 300_000));
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
            "workload.page (default): a page has no room for two keys of 16 B with values of 2 KiB, given 4 KiB; \
          use larger pages, or smaller keys and values"
        ]
    );
    assert_eq!(
        with("page = \"64 KiB\"\ncache = \"32 KiB\""),
        ["workload.cache (test.toml:4): it does not hold a page of 64 KiB, given 32 KiB; use 64 KiB or more"]
    );
    assert_eq!(
        with("keys = 10\nthreads = 3"),
        [
            "workload.threads (test.toml:4): 3 threads hold 6 of 10 keys at once, given 3; use at most 2, or more keys"
        ]
    );
    assert_eq!(
        with("log = \"65 KiB\""),
        ["workload.log (test.toml:3): it is not a whole number of blocks of 4 KiB, given 65 KiB; use 68 KiB"]
    );
    assert_eq!(
        with("log = \"64 KiB\"\nthreads = 128"),
        ["workload.log (test.toml:3): transactions under way may make 77312 B of records, given 64 KiB; \
          use a larger log, or fewer threads"]
    );
}
