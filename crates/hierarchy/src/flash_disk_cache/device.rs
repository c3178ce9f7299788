//! Implements `Device` for the cache.

use super::FLASH_PAGE;
use super::cache::{FlashCache, SHIFT};
use super::counts::Counts;
use super::operation::{Arrival, NONE, Operation, Purpose};
use super::report;
use nacre_kernel::event::{Completions, Device, Payload, Preconditioning, RequestId};
use nacre_kernel::{
    Bytes, Capabilities, ComponentReport, HostCounts, Op, Persistence, Random, Recovery, Request, Time,
};
use nacre_media::store::Store;

/// The smallest time step.
const INSTANT: Time = Time::from_ps(1);

impl<S: Store> FlashCache<S> {
    /// Serves a request after its look-up has ended.
    #[inline]
    fn serve_request(&mut self, now: Time, came: Time, id: RequestId, request: &Request, data: &Payload) {
        let looked_up = now - came;
        match request.op {
            Op::Read => self.read(now, id, request, looked_up),
            Op::Write => self.write(now, id, request, data, looked_up),
            Op::Trim => self.trim(now, id, request, looked_up),
            Op::Flush => self.flush(now, id, request, looked_up),
        }
    }

    #[inline]
    fn next_own(&self) -> Time {
        let arrival = self.arrivals.front().map_or(Time::MAX, |arrival| arrival.begins);
        self.visits.next().min(self.agenda.next()).min(arrival)
    }

    /// Processes events of the cache at `now`.
    #[inline]
    fn step_own(&mut self, now: Time, completions: &mut Completions) {
        if self.visits.next() == now {
            return self.visits.complete(now, completions);
        }
        if self.arrivals.front().is_some_and(|arrival| arrival.begins == now)
            && let Some(Arrival { came, id, request, data, .. }) = self.arrivals.pop_front()
        {
            self.serve_request(now, came, id, &request, &data);
        } else if let Some((_, event)) = self.agenda.pop_before(now + INSTANT) {
            self.happens(now, event);
        }
    }

    /// Handles operations that the backing completed at the same time.
    fn handle(&mut self) {
        let mut completed = std::mem::take(&mut self.completed);
        for index in 0..completed.len() {
            let data = completed.take_data(index);
            let (of, spans) = completed.get(index);
            let (number, now, status) = (of.id.0, of.at, of.status);
            match self.operations[number].purpose {
                Purpose::Fetch => self.fetched(now, number, status, spans, &data),
                Purpose::Back | Purpose::Safe => self.sent(now, number, status),
                Purpose::Through | Purpose::ThroughSafe => self.passed_by(now, number, status, spans),
                Purpose::Trim | Purpose::Flush => self.passed(now, number, status, spans),
                purpose => unreachable!("the backing was not asked for {purpose:?}"),
            }
        }
        completed.clear();
        self.completed = completed;
    }

    /// Panics unless operations and tables agree.
    fn check_operations(&self) {
        let is_of = |number: u32, purpose: Purpose| {
            self.operations.iter().any(|(known, of)| known == number && of.purpose == purpose)
        };
        for status in self.tables.pages.iter().filter(|status| status.program != NONE) {
            assert!(is_of(status.program, Purpose::Program), "a page that no operation programs: {status:?}");
        }
        for block in self.tables.blocks.iter().filter(|block| block.erase != NONE) {
            assert!(is_of(block.erase, Purpose::Erase), "a block that no operation erases: {block:?}");
        }
        for (key, versions) in &self.versions {
            let is_known = |&number: &u32| {
                let is_it = |of: &Operation| of.key == *key && of.part.is_some();
                self.operations.iter().any(|(known, of)| known == number && is_it(of))
            };
            assert!(!versions.is_empty() && versions.iter().all(is_known), "writes of page {key}");
        }
        let fetched: u64 = self
            .operations
            .iter()
            .filter(|(_, of)| of.purpose == Purpose::Fetch)
            .map(|(_, of)| of.pages)
            .sum();
        let through = self.busy.values().filter(|busy| busy.through != NONE).count() as u64;
        assert_eq!(fetched + through, self.busy.len() as u64, "pages on their way");
    }
}

impl<S: Store> Device for FlashCache<S> {
    #[inline]
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.host.record(request);
        let begins = now.max(self.ready) + self.config.lookup;
        if begins == now && self.arrivals.is_empty() {
            return self.serve_request(now, now, id, request, &data);
        }
        self.arrivals.push_back(Arrival { begins, came: now, id, request: *request, data });
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.next_own().min(self.next)
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let (mut limit, before) = (until, completions.len());
        loop {
            let own = self.next_own();
            if own.min(self.next) >= limit {
                return;
            }
            if own <= self.next {
                self.step_own(own, completions);
            } else {
                // The backing runs up to the next time at which the cache may submit a request.
                let to = limit.min(own).max(self.next + INSTANT);
                self.backing.run(to, &mut self.completed);
                self.next = self.backing.next_event();
                self.handle();
            }
            if completions.len() > before {
                limit = limit.min(completions.get(before).0.at + INSTANT);
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.backing.capacity().map(|capacity| Bytes(capacity.0 / FLASH_PAGE * FLASH_PAGE))
    }

    fn capabilities(&self) -> Capabilities {
        let own = Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: FLASH_PAGE as u32,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        };
        // Not every write reaches the backing, because the cache holds data back. The wear of the backing
        // therefore depends on simulated time.
        Capabilities { wears_out_ahead: false, ..own.and(self.backing.capabilities()) }
    }

    fn restart_ledger(&mut self, now: Time) {
        self.counts = Counts { valid_before: self.tables.valid() as u64, ..Counts::default() };
        self.host = HostCounts::default();
        self.array.restart_ledger();
        self.backing.restart_ledger(now);
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.array.check_invariants();
        self.tables.check_invariants(self.array.flash.pages_per_block());
        self.check_regions();
        self.check_programs();
        self.counts.check_pages(self.tables.valid() as u64);
        self.check_operations();
        assert_eq!(self.backing.next_event(), self.next, "the next event of the backing");
        self.backing.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.find_tables(at)
    }

    fn prefetch(&self, requests: &[Request]) {
        let keys = || requests.iter().map(|request| request.address >> SHIFT);
        keys().for_each(|key| self.tables.prefetch(key));
        keys().for_each(|key| self.tables.prefetch_page(key));
    }

    fn detail(&mut self, is_detailed: bool) {
        self.backing.detail(is_detailed);
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        self.backing.preconditioning()
    }
}
