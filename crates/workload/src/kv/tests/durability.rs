//! Several threads: what is durable before what, and that every transaction swaps.

use super::{btree, hash, small};
use crate::kv::method::Method;
use crate::kv::store::Store;
use crate::kv::{AccessMethod, Config};
use nacre_kernel::{Bytes, Op, Request};
use std::collections::BTreeMap;

/// What a watcher of the requests knows, who also sees the pages but not what the store thinks of its log.
struct Watcher {
    config: Config,
    appended: u64,
    written: u64,
    durable: u64,
    /// The end of the record of each page's latest change.
    changes: BTreeMap<u32, u64>,
    /// Pages as the device has them.
    device: Vec<Vec<u32>>,
    /// Of each thread: the first change of its transaction (key, before, after), and the end of its commit.
    half: Vec<Option<(u32, u32, u32)>>,
    commits: Vec<u64>,
}

type Contents = Vec<Vec<(u32, u32)>>;

fn contents(store: &Store<impl Method>) -> Contents {
    let pages = store.method.pages();
    let page = |page| pages.entries(page).iter().map(|entry| (entry.key, entry.value)).collect();
    (0..pages.count()).map(page).collect()
}

fn values(page: &[(u32, u32)]) -> Vec<u32> {
    page.iter().map(|pair| pair.1).collect()
}

impl Watcher {
    /// Thread `id` changed pages from `before` to `after`.
    fn changed(&mut self, id: usize, before: &Contents, after: &Contents) {
        let record = self.config.log_record.0 + 2 * self.config.value.0;
        let mut changes = Vec::new();
        for (page, (before, after)) in before.iter().zip(after).enumerate() {
            for (before, after) in before.iter().zip(after).filter(|(before, after)| before != after) {
                assert_eq!(before.0, after.0, "keys stay");
                changes.push((page as u32, (before.0, before.1, after.1)));
            }
        }
        let first_end = self.appended + record;
        for (page, change) in changes {
            self.appended += record;
            // Of two changes in one turn the first is not known: the earlier end is the one that must hold.
            self.changes.insert(page, first_end);
            match self.half[id].take() {
                None => self.half[id] = Some(change),
                Some((other, value_before, value_after)) => {
                    assert_eq!(
                        (change.1, change.2),
                        (value_after, value_before),
                        "{other} and {} swap",
                        change.0
                    );
                    self.appended += self.config.log_record.0;
                    self.commits[id] = self.appended;
                }
            }
        }
    }

    fn requested(&mut self, request: &Request, before: &Contents) {
        let (log, block) = (self.config.log.0, self.config.log_block.0);
        match request.op {
            Op::Flush => self.durable = self.written,
            Op::Write if request.address < log => {
                let first = self.written / block * block;
                assert_eq!(request.address, first % log, "the log goes on where it was");
                assert!(request.address + u64::from(request.bytes) <= log);
                self.written = self.appended.min(first + u64::from(request.bytes));
            }
            Op::Write | Op::Read => {
                assert_eq!(u64::from(request.bytes), self.config.page.0);
                let page = ((request.address - log) / self.config.page.0) as u32;
                assert_eq!((request.address - log) % self.config.page.0, 0);
                let now = values(&before[page as usize]);
                if request.op == Op::Read {
                    assert_eq!(now, self.device[page as usize], "page {page} was dropped with a change");
                    return;
                }
                let lsn = self.changes.get(&page).copied().expect("only changed pages are written");
                assert!(lsn <= self.durable, "page {page} was written before its record was durable");
                self.device[page as usize] = now;
            }
            Op::Trim => panic!("nothing is trimmed"),
        }
    }
}

fn watch<M: Method>(mut store: Store<M>, config: &Config) {
    let threads = config.threads as usize;
    let mut before = contents(&store);
    let mut watcher = Watcher {
        config: config.clone(),
        appended: 0,
        written: 0,
        durable: 0,
        changes: BTreeMap::new(),
        device: before.iter().map(|page| values(page)).collect(),
        half: vec![None; threads],
        commits: vec![0; threads],
    };
    let (mut ended, mut idle) = (0, 0);
    for id in (0..threads).cycle() {
        let Some(request) = store.turn(id) else {
            idle += 1;
            if idle == threads {
                break;
            }
            continue;
        };
        idle = 0;
        let after = contents(&store);
        // A write or a flush is made before what the store does next, a read before what it is for.
        if request.op == Op::Read {
            watcher.requested(&request, &before);
            watcher.changed(id, &before, &after);
        } else {
            watcher.changed(id, &before, &after);
            watcher.requested(&request, &after);
        }
        if store.ended() > ended {
            ended += 1;
            assert!(
                watcher.commits[id] <= watcher.durable,
                "a transaction ended before its commit was durable"
            );
        }
        before = after;
    }
    assert_eq!(ended, config.transactions.expect("an end"));
    assert!(watcher.half.iter().all(Option::is_none));
    let pages = store.method.pages();
    let mut all: Vec<u32> = (0..pages.count())
        .filter(|&page| pages.level(page) == 0)
        .flat_map(|page| values(&before[page as usize]))
        .collect();
    all.sort_unstable();
    assert_eq!(all, (0..config.keys as u32).collect::<Vec<_>>(), "swaps lose no value");
}

#[test]
fn no_page_is_written_before_its_record_and_every_transaction_swaps() {
    for threads in [1, 2, 5] {
        for pages in [1, 2, 4, 9, 1_000] {
            let config = |method| Config {
                threads,
                cache: Bytes(512 * pages),
                transactions: Some(60),
                ..small(method)
            };
            let (table, tree) = (config(AccessMethod::Hash), config(AccessMethod::Btree));
            watch(hash(&table), &table);
            watch(btree(&tree), &tree);
        }
    }
}
