//! The transactions of a store as a workload.

use super::Config;
use super::layout::pages_start;
use super::method::Method;
use super::store::Store;
use crate::arrival::Pacing;
use crate::error::WorkloadError;
use crate::{Notes, Units, Workload, keep_writes};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Random, Request, Time};

/// A store that is asked for one request after the other.
#[derive(State)]
#[state(bound = "M: Method")]
pub(super) struct Transactions<M> {
    store: Store<M>,
    #[state(skip = "from the configuration")]
    config: Config,
    given: u64,
    /// Transactions that had ended before the latest request was made.
    ended: u64,
}

impl<M: Method> Transactions<M> {
    /// Transactions on a loaded `method`; `keys` says which keys they swap.
    pub(super) fn new(method: M, config: &Config, keys: Random) -> Transactions<M> {
        let store = Store::new(method, config, keys);
        Transactions { store, config: config.clone(), given: 0, ended: 0 }
    }
}

impl<M: Method> Workload for Transactions<M> {
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        if limit == 0 {
            return Ok(());
        }
        if let Some(at) = self.store.asked_at() {
            self.store.complete(at);
        }
        self.ended = self.store.ended();
        if let Some(request) = self.store.next() {
            batch.push(request);
            self.given += 1;
        }
        Ok(())
    }

    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        self.store.never_end();
        let full = batch.len() + limit;
        while batch.len() < full {
            keep_writes(batch, 1, |batch| self.fill(batch, 1))?;
        }
        Ok(())
    }

    fn complete(&mut self, done: Time) {
        self.store.complete(done);
    }

    fn pacing(&self) -> Pacing {
        Pacing::CompletionDriven
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
        let done = if requests < self.given { self.ended } else { self.store.ended() };
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
