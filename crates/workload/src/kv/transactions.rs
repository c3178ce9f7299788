//! Workload that consists of the transactions of a store.

use super::Config;
use super::layout::pages_start;
use super::method::Method;
use super::store::Store;
use crate::arrival::Pacing;
use crate::error::WorkloadError;
use crate::interactive::{Interactive, Issued, Unheard};
use crate::{Notes, Units, Workload};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Random, Request, Status, Time};
use std::mem;

/// A store and its settings.
#[derive(State)]
#[state(bound = "M: Method")]
pub(super) struct Transactions<M> {
    store: Store<M>,
    #[state(skip = "from the configuration")]
    config: Config,
    issued: u64,
    unheard: Unheard,
}

impl<M: Method> Transactions<M> {
    /// Creates transactions on the loaded `method`. `keys` supplies the keys whose values are swapped.
    pub(super) fn new(method: M, config: &Config, keys: Random) -> Transactions<M> {
        let store = Store::new(method, config, keys);
        Transactions { store, config: config.clone(), issued: 0, unheard: Unheard::default() }
    }
}

impl<M: Method> Interactive for Transactions<M> {
    fn next_event(&self) -> Time {
        self.store.next_event()
    }

    fn step(&mut self, now: Time, issued: &mut Vec<Issued>) -> Result<(), WorkloadError> {
        let before = issued.len();
        self.store.step(now, issued)?;
        self.issued += (issued.len() - before) as u64;
        Ok(())
    }

    fn complete(&mut self, now: Time, tag: u32, status: Status) {
        self.store.complete(now, tag, status);
    }
}

impl<M: Method> Workload for Transactions<M> {
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        let mut unheard = mem::take(&mut self.unheard);
        let filled = unheard.fill(self, batch, limit);
        self.unheard = unheard;
        filled
    }

    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        self.store.never_end();
        let mut unheard = mem::take(&mut self.unheard);
        let filled = unheard.fill_writes(self, batch, limit);
        self.unheard = unheard;
        filled
    }

    fn pacing(&self) -> Pacing {
        Pacing::CompletionDriven
    }

    fn interactive(&mut self) -> Option<&mut dyn Interactive> {
        Some(self)
    }

    fn expected(&self) -> Option<u64> {
        // The number of requests differs between transactions.
        self.config.transactions.is_none().then_some(u64::MAX)
    }

    fn reach(&self) -> Option<u64> {
        let pages = u64::from(self.store.method.pages().count());
        Some(pages_start(&self.config) + pages * self.config.page.0)
    }

    fn units(&self, _requests: u64) -> Option<Units> {
        Some(Units { name: "transactions", done: self.store.ended() })
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
        Notes { kind: "kv", records: self.issued, bad_records: 0, notes: vec![note] }
    }
}
