//! The store at work: threads run transactions, and what they need from the device becomes requests.
//!
//! Threads take turns. In its turn a thread goes on until it needs the device, and makes exactly one request;
//! so the order of the requests is the order in which the store changed, and the log is written before the
//! pages it speaks of.

use super::Config;
use super::cache::Cache;
use super::layout::{pages_start, update_bytes};
use super::log::{Log, request};
use super::method::Method;
use super::searches::{Searches, Way};
use nacre_kernel::{Op, Random, Request};

/// A store under transactions that swap values.
pub(super) struct Store<M> {
    pub(super) method: M,
    pub(super) cache: Cache,
    pub(super) log: Log,
    searches: Searches,
    threads: Vec<Thread>,
    sizes: Sizes,
    checkpoint: Checkpoint,
    /// Transactions begun and ended, and how many there may be.
    begun: u64,
    ended: u64,
    limit: u64,
}

/// What the configuration fixes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    page: u32,
    /// Address of the first page.
    start: u64,
    /// Bytes of an update's log record and of one without data.
    update: u64,
    bare: u64,
}

/// Writing dirty pages every so many transactions.
#[derive(Clone, Debug)]
struct Checkpoint {
    /// Zero: never.
    every: u64,
    /// Whether a thread is at it.
    runs: bool,
    /// Pages still to look at, the next one last.
    pages: Vec<u32>,
}

/// One thread.
#[derive(Clone, Debug)]
struct Thread {
    keys: [u32; 2],
    ways: [Way; 2],
    values: [u32; 2],
    stage: Stage,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Begin a transaction.
    Idle,
    /// Get (0 and 1) or put (2 and 3) the first or second key; the search has come to this page of its way.
    Search { operation: usize, step: usize },
    /// Write the log as far as this record, which ends a transaction or, as a mark, a checkpoint.
    WriteLog { lsn: u64, mark: bool },
    /// Make it durable.
    Flush { mark: bool },
    /// Write the pages that are dirty.
    WritePages,
}

impl<M: Method> Store<M> {
    /// A store over a loaded `method`, its cache empty.
    pub(super) fn new(method: M, config: &Config, keys: Random) -> Store<M> {
        let idle =
            Thread { keys: [u32::MAX; 2], ways: Default::default(), values: [0; 2], stage: Stage::Idle };
        let (page, update) = (config.page.0, update_bytes(config));
        Store {
            cache: Cache::new(method.pages().count(), config.cache.0 / page),
            log: Log::new(config.log.0, config.log_block.0),
            method,
            searches: Searches::new(config.keys, keys),
            threads: vec![idle; config.threads as usize],
            sizes: Sizes { page: page as u32, start: pages_start(config), update, bare: config.log_record.0 },
            checkpoint: Checkpoint { every: config.checkpoint.unwrap_or(0), runs: false, pages: Vec::new() },
            begun: 0,
            ended: 0,
            limit: config.transactions.unwrap_or(u64::MAX),
        }
    }

    /// The next request of thread `id`; none if it has nothing left to do.
    #[inline]
    pub(super) fn turn(&mut self, id: usize) -> Option<Request> {
        loop {
            match self.threads[id].stage {
                Stage::Idle if self.begun == self.limit => return None,
                Stage::Idle => self.begin(id),
                Stage::Search { operation, step } => {
                    let page = self.threads[id].ways[operation % 2].pages[step];
                    if self.cache.touch(page) {
                        self.visit(id, operation, step);
                    } else if let Some(request) = self.make_room() {
                        return Some(request);
                    } else {
                        self.cache.admit(page);
                        self.visit(id, operation, step);
                        return Some(self.page_request(Op::Read, page));
                    }
                }
                Stage::WriteLog { lsn, mark } if self.log.is_written(lsn) => {
                    self.threads[id].stage = Stage::Flush { mark };
                }
                Stage::WriteLog { .. } => return Some(self.log.write()),
                Stage::Flush { mark } => {
                    self.threads[id].stage =
                        if mark { self.end_checkpoint() } else { self.end_transaction() };
                    return Some(self.log.flush());
                }
                Stage::WritePages => return Some(self.write_pages(id)),
            }
        }
    }

    /// Transactions that are durable.
    pub(super) fn ended(&self) -> u64 {
        self.ended
    }

    pub(super) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// There is no last transaction any more.
    pub(super) fn never_end(&mut self) {
        self.limit = u64::MAX;
    }

    /// Draws two keys that no other transaction has in its hands: so nobody waits for a lock.
    fn begin(&mut self, id: usize) {
        self.begun += 1;
        self.threads[id].keys = [u32::MAX; 2];
        for place in 0..2 {
            let mut way = std::mem::take(&mut self.threads[id].ways[place]);
            let key = self.searches.next(&self.method, &mut way, |key| {
                !self.threads.iter().any(|thread| thread.keys.contains(&key))
            });
            self.threads[id].keys[place] = key;
            self.threads[id].ways[place] = way;
        }
        self.threads[id].stage = Stage::Search { operation: 0, step: 0 };
    }

    /// A search has come to a page of its way, which is in memory.
    #[inline]
    fn visit(&mut self, id: usize, operation: usize, step: usize) {
        let thread = &mut self.threads[id];
        let place = operation % 2;
        let Way { pages, at } = &thread.ways[place];
        if step + 1 < pages.len() {
            thread.stage = Stage::Search { operation, step: step + 1 };
            return;
        }
        let page = pages[step];
        if operation < 2 {
            thread.values[place] = self.method.pages().entries(page)[*at].value;
        } else {
            // Each key gets the value of the other.
            self.method.pages_mut().set(page, *at, thread.values[1 - place]);
            self.cache.changed(page, self.log.append(self.sizes.update));
        }
        thread.stage = if operation < 3 {
            Stage::Search { operation: operation + 1, step: 0 }
        } else {
            Stage::WriteLog { lsn: self.log.append(self.sizes.bare), mark: false }
        };
    }

    /// Makes room for a page, or returns the request that must be made before.
    #[inline]
    fn make_room(&mut self) -> Option<Request> {
        let victim = self.cache.victim()?;
        let request = self.write_back(victim);
        if request.is_none() {
            self.cache.drop(victim);
        }
        request
    }

    /// The next request on the way to a clean `page`; none if it is clean. Its records must be durable before
    /// it is written.
    #[inline]
    fn write_back(&mut self, page: u32) -> Option<Request> {
        let lsn = self.cache.dirty(page)?;
        if !self.log.is_written(lsn) {
            return Some(self.log.write());
        }
        if !self.log.is_durable(lsn) {
            return Some(self.log.flush());
        }
        self.cache.written(page);
        Some(self.page_request(Op::Write, page))
    }

    /// What a thread does after its commit.
    fn end_transaction(&mut self) -> Stage {
        self.ended += 1;
        let Checkpoint { every, runs, .. } = self.checkpoint;
        if runs || every == 0 || !self.ended.is_multiple_of(every) {
            return Stage::Idle;
        }
        self.checkpoint = Checkpoint { every, runs: true, pages: self.cache.all_dirty() };
        Stage::WritePages
    }

    fn end_checkpoint(&mut self) -> Stage {
        self.checkpoint.runs = false;
        Stage::Idle
    }

    /// Writes the next of the pages that were dirty when the checkpoint began; behind the last one, makes
    /// them durable and marks the checkpoint in the log.
    fn write_pages(&mut self, id: usize) -> Request {
        while let Some(&page) = self.checkpoint.pages.last() {
            if let Some(request) = self.write_back(page) {
                return request;
            }
            self.checkpoint.pages.pop();
        }
        self.threads[id].stage = Stage::WriteLog { lsn: self.log.append(self.sizes.bare), mark: true };
        self.log.flush()
    }

    #[inline]
    fn page_request(&self, op: Op, page: u32) -> Request {
        request(op, self.sizes.start + u64::from(page) * u64::from(self.sizes.page), self.sizes.page)
    }
}
