//! The transactions of a store as a workload.

use super::Config;
use super::layout::pages_start;
use super::method::Method;
use super::store::Store;
use crate::arrival::Pacing;
use crate::error::WorkloadError;
use crate::{Notes, Units, Workload, keep_writes};
use nacre_kernel::{Bytes, Random, Request};

/// Threads that take turns on one store.
pub(super) struct Transactions<M> {
    store: Store<M>,
    config: Config,
    /// Whose turn it is.
    turn: usize,
    given: u64,
    ended: Ended,
}

/// Transactions whose last request was given.
#[derive(Debug, Default)]
struct Ended {
    /// Those that ended before the latest batch.
    before: u64,
    /// Requests given when each of the others had ended.
    at: Vec<u64>,
}

impl<M: Method> Transactions<M> {
    /// Transactions on a loaded `method`; `keys` says which keys they swap.
    pub(super) fn new(method: M, config: &Config, keys: Random) -> Transactions<M> {
        let store = Store::new(method, config, keys);
        Transactions { store, config: config.clone(), turn: 0, given: 0, ended: Ended::default() }
    }

    /// The next request of the next thread that has one.
    #[inline]
    fn next(&mut self) -> Option<Request> {
        let threads = self.store.threads();
        for _ in 0..threads {
            let id = self.turn;
            self.turn = if id + 1 == threads { 0 } else { id + 1 };
            if let Some(request) = self.store.turn(id) {
                return Some(request);
            }
        }
        None
    }

    fn append(&mut self, batch: &mut Vec<Request>, limit: usize) {
        self.ended.before += self.ended.at.len() as u64;
        self.ended.at.clear();
        batch.reserve(limit.min(1 << 20));
        let mut ended = self.store.ended();
        for _ in 0..limit {
            let Some(request) = self.next() else { return };
            batch.push(request);
            self.given += 1;
            if self.store.ended() > ended {
                ended += 1;
                self.ended.at.push(self.given);
            }
        }
    }
}

impl<M: Method> Workload for Transactions<M> {
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        self.append(batch, limit);
        Ok(())
    }

    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        self.store.never_end();
        keep_writes(batch, limit, |batch| {
            self.append(batch, limit);
            Ok(())
        })
    }

    fn pacing(&self) -> Pacing {
        Pacing::Closed { queue_depth: self.config.threads, think: self.config.think }
    }

    fn expected(&self) -> Option<u64> {
        // Transactions differ in their requests.
        self.config.transactions.is_none().then_some(u64::MAX)
    }

    fn reach(&self) -> Option<u64> {
        let pages = u64::from(self.store.method.pages().count());
        Some(pages_start(&self.config) + pages * self.config.page.0)
    }

    fn units(&self, requests: u64) -> Option<Units> {
        let done = self.ended.before + self.ended.at.partition_point(|&at| at <= requests) as u64;
        Some(Units { name: "transactions", done })
    }

    fn notes(&self) -> Notes {
        let pages = u64::from(self.store.method.pages().count());
        let note = format!(
            "{} pairs in {}, {pages} pages of {}, {} in all; the page cache holds {} of them",
            self.config.keys,
            self.store.method.describe(),
            self.config.page,
            Bytes(pages * self.config.page.0),
            pages.min(self.config.cache.0 / self.config.page.0),
        );
        Notes { kind: "kv", records: self.given, bad_records: 0, notes: vec![note] }
    }
}
