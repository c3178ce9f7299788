//! Compares a single-threaded store with a simple reference program, request by request, and with results
//! calculated by hand.

use super::{alone, btree, hash, random, run, small};
use crate::kv::method::{Method, SearchStep};
use crate::kv::store::Store;
use crate::kv::{AccessMethod, Config, btree_of, hash_of};
use nacre_kernel::{Bytes, Op, Request, Time};

/// A simple store with serial transactions. Its cache is a list, and its log consists of three numbers.
struct Plain<M> {
    method: M,
    config: Config,
    /// Cached pages in LRU order, each with the end of its latest log record.
    held: Vec<(u32, u64)>,
    appended: u64,
    written: u64,
    durable: u64,
    requests: Vec<Request>,
}

impl<M: Method> Plain<M> {
    fn run(mut self) -> (M, Vec<Request>) {
        let mut keys = random("keys");
        let mut draw = |other: u64| loop {
            let key = keys.below(self.config.keys);
            if key != other {
                break key;
            }
        };
        let pairs: Vec<[u64; 2]> = (0..self.config.transactions.expect("an end"))
            .map(|_| {
                let first = draw(u64::MAX);
                [first, draw(first)]
            })
            .collect();
        for pair in pairs {
            let [mut a, mut b] = pair.map(|key| key as u32);
            // Keys are sorted by the pages that are locked: the second page of a path in a hash table, and
            // the last in a tree.
            if self.locked(a) > self.locked(b) {
                (a, b) = (b, a);
            }
            let (value_a, value_b) = (self.access(a, None), self.access(b, None));
            self.access(a, Some(value_b));
            self.access(b, Some(value_a));
            self.appended += self.config.log_record.0;
            self.force(self.appended);
        }
        (self.method, self.requests)
    }

    fn locked(&self, key: u32) -> u32 {
        let (mut page, mut way) = (self.method.first(), Vec::new());
        loop {
            way.push(page);
            match self.method.step(page, key) {
                SearchStep::Go(next) => page = next,
                _ if self.config.method == AccessMethod::Hash => return way[1],
                _ => return page,
            }
        }
    }

    fn push(&mut self, op: Op, address: u64, bytes: u64) {
        self.requests.push(Request { arrival: Time::ZERO, address, bytes: bytes as u32, volume: 0, op });
    }

    fn page(&mut self, op: Op, page: u32) {
        let bytes = self.config.page.0;
        self.push(op, self.config.log.0 + u64::from(page) * bytes, bytes);
    }

    /// Makes the log durable up to `lsn`.
    fn force(&mut self, lsn: u64) {
        if lsn <= self.durable {
            return;
        }
        let (block, size) = (self.config.log_block.0, self.config.log.0);
        while self.written < lsn {
            let first = self.written / block;
            let last = (self.appended - 1) / block;
            let blocks = (last - first + 1).min(size / block - first % (size / block));
            self.push(Op::Write, first * block % size, blocks * block);
            self.written = self.appended.min((first + blocks) * block);
        }
        self.push(Op::Flush, 0, 0);
        self.durable = self.written;
    }

    fn clean(&mut self, page: u32, lsn: u64) {
        if lsn > 0 {
            self.force(lsn);
            self.page(Op::Write, page);
        }
    }

    fn access(&mut self, key: u32, put: Option<u32>) -> u32 {
        let mut page = self.method.first();
        loop {
            let found = match self.held.iter().position(|&(held, _)| held == page) {
                Some(place) => self.held.remove(place),
                None => {
                    if self.held.len() as u64 == self.config.cache.0 / self.config.page.0 {
                        let (victim, lsn) = self.held.remove(0);
                        self.clean(victim, lsn);
                    }
                    self.page(Op::Read, page);
                    (page, 0)
                }
            };
            self.held.push(found);
            match self.method.step(page, key) {
                SearchStep::Go(next) => page = next,
                SearchStep::Found(at) => {
                    let value = self.method.pages().entries(page)[at].value;
                    if let Some(put) = put {
                        self.method.pages_mut().set(page, at, put);
                        self.appended += self.config.log_record.0 + 2 * self.config.value.0;
                        self.held.last_mut().expect("just pushed").1 = self.appended;
                    }
                    return value;
                }
                SearchStep::Missing => panic!("key {key} is there"),
            }
        }
    }
}

fn check<M: Method>(mut store: Store<M>, method: M, config: &Config) {
    let requests = run(&mut store, |_| Time::ZERO);
    let (held, requests_made) = (Vec::new(), Vec::new());
    let plain = Plain {
        method,
        config: config.clone(),
        held,
        appended: 0,
        written: 0,
        durable: 0,
        requests: requests_made,
    };
    let (method, expected) = plain.run();
    if let Some(place) = requests.iter().zip(&expected).position(|(got, expected)| got != expected) {
        panic!("request {place} is {:?}, expected {:?}: {config:?}", requests[place], expected[place]);
    }
    assert_eq!(requests.len(), expected.len(), "{config:?}");
    for key in 0..config.keys as u32 {
        let value = |method: &M| method.find(key).map(|(page, at)| method.pages().entries(page)[at].value);
        assert_eq!(value(&store.method), value(&method), "key {key}");
    }
}

#[test]
fn a_thread_does_what_a_plain_program_does() {
    for pages in [1, 2, 3, 5, 10, 30, 1_000] {
        for fill in [None, Some(9)] {
            let config =
                |method| Config { cache: Bytes(512 * pages), fill, transactions: Some(400), ..small(method) };
            let (table, tree) = (config(AccessMethod::Hash), config(AccessMethod::Btree));
            check(hash(&table), hash_of(&table, random("load")), &table);
            check(btree(&tree), btree_of(&tree, random("load")), &tree);
        }
    }
}

/// Returns one letter per request: `r` for a page read, `w` for a page write, `l` for a log write, and `f`
/// for a flush.
fn shape(requests: &[Request], config: &Config) -> String {
    let letter = |request: &Request| match request.op {
        Op::Read => 'r',
        Op::Write if request.address < config.log.0 => 'l',
        Op::Write => 'w',
        Op::Flush => 'f',
        Op::Trim => panic!("nothing is trimmed"),
    };
    requests.iter().map(letter).collect()
}

#[test]
fn with_one_page_of_cache_every_step_of_a_search_is_a_read() {
    // Each bucket has one pair and space for 15, so no page overflows. Two gets and two puts each read the
    // page of the table and the page of a bucket. The first dirty page is evicted before the commit, so a log
    // write and a flush precede its write. The second is written during the next transaction, when the commit
    // has made its record durable.
    let config = Config { cache: Bytes(512), fill: Some(1), value: Bytes(10), ..small(AccessMethod::Hash) };
    let table = hash_of(&config, random("load"));
    assert!((0..200).all(|key| table.page(table.bucket(key)) == table.find(key).expect("it is there").0));
    assert_eq!(
        shape(&alone(hash(&config)), &config),
        ["rrrrrrlfwrrlf", &"wrrrrrrlfwrrlf".repeat(99)].concat()
    );

    // Pages of 512 B hold 3 pairs on a leaf and 16 pointers on an inner page. The tree has 67 leaves, 5 pages
    // above them, and the root.
    let config = Config { cache: Bytes(512), ..small(AccessMethod::Btree) };
    assert_eq!(btree_of(&config, random("load")).levels(), 3);
    let transaction = ["rrr", "rrr", "rrr", "lfw", "rrr", "lf"].concat();
    let expected = [transaction.clone(), ["w", &transaction].concat().repeat(99)].concat();
    assert_eq!(shape(&alone(btree(&config)), &config), expected);
}

#[test]
fn with_everything_in_memory_a_transaction_is_one_log_write_and_one_flush() {
    for method in [AccessMethod::Hash, AccessMethod::Btree] {
        let config = Config { transactions: Some(3_000), ..small(method) };
        let requests = match method {
            AccessMethod::Hash => alone(hash(&config)),
            AccessMethod::Btree => alone(btree(&config)),
        };
        let reads: Vec<u64> =
            requests.iter().filter(|request| request.op == Op::Read).map(|request| request.address).collect();
        let mut pages = reads.clone();
        pages.sort_unstable();
        pages.dedup();
        assert_eq!(reads.len(), pages.len(), "a page is read once");
        let others: Vec<Request> = requests.into_iter().filter(|request| request.op != Op::Read).collect();
        assert_eq!(shape(&others, &config), "lf".repeat(3_000));
        // Two updates of 68 + 200 B and a commit of 68 B append 604 B to a log with blocks of 512 B.
        for (number, pair) in others.chunks(2).enumerate() {
            let (from, to) = (604 * number as u64 / 512, (604 * (number as u64 + 1)).div_ceil(512));
            assert_eq!((pair[0].address, pair[0].bytes), (from * 512, (to - from) as u32 * 512));
        }
    }
}

#[test]
fn a_checkpoint_writes_dirty_pages_and_marks_the_log() {
    // There is one thread, and its CPU time after every commit is longer than the checkpoint.
    let config = Config { checkpoint: Some(1), operation: Time::from_ms(1), ..small(AccessMethod::Btree) };
    let requests: Vec<Request> = run(&mut btree(&config), |_| Time::from_us(1))
        .into_iter()
        .filter(|request| request.op != Op::Read)
        .collect();
    let shape = shape(&requests, &config);
    // Expected requests: the commit, one or two pages in ascending order, the flush of the pages, and the
    // checkpoint record and its flush.
    let (one, two) = ("lfwflf", "lfwwflf");
    let (mut rest, mut ones, mut twos) = (&shape[..], 0, 0);
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix(one) {
            (rest, ones) = (behind, ones + 1);
        } else {
            (rest, twos) = (rest.strip_prefix(two).expect("a transaction and its checkpoint"), twos + 1);
        }
    }
    assert_eq!(ones + twos, 100);
    // The probability that two different keys of 200 are on the same leaf of three is about 1 %.
    assert!(twos >= 90, "{twos} of 100 change two pages");
    let addresses = |pair: &[Request]| pair[0].address < pair[1].address;
    let mut writes = requests
        .windows(2)
        .filter(|pair| pair.iter().all(|request| request.op == Op::Write && request.address >= config.log.0));
    assert!(writes.all(addresses));
}

#[test]
fn checkpoints_keep_the_log_within_its_region() {
    // 64 KiB hold 108 transactions. A checkpoint starts when half of the log is used, and ends before the log
    // is full.
    let config = Config { transactions: Some(2_000), log: Bytes(64 << 10), ..small(AccessMethod::Btree) };
    let requests = run(&mut btree(&config), |_| Time::from_us(1));
    // Each transaction has one flush. The others belong to checkpoints, which have two each.
    let flushes = requests.iter().filter(|request| request.op == Op::Flush).count();
    let checkpoints = (flushes - 2_000) / 2;
    assert!((2_000 / 108..=2_000 / 54).contains(&checkpoints), "{checkpoints} checkpoints");
}
