//! Implementation of the device contract.
//!
//! The end of a background program or erase is not an event. Each call of the device first advances
//! background work by the idle time since the last call.

use super::model::Envy;
use super::page_table::Location;
use nacre_kernel::event::{Completions, Device, Payload, Preconditioning, RequestId};
use nacre_kernel::{
    Bytes, Capabilities, ComponentReport, Op, Persistence, Random, Recovery, Request, Time, Transactions,
};
use nacre_media::store::Store;

/// Number of requests whose memory is prefetched together when a device is preconditioned. This is about the
/// number of outstanding cache misses that one core supports.
const PREFETCHED: usize = 32;

impl<S: Store> Device for Envy<S> {
    #[inline]
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.accept(now, id, request, data);
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.next()
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let (before, mut until) = (completions.len(), until);
        while self.next() < until {
            self.step(until, completions);
            if completions.len() > before {
                let (completed, _) = completions.get(before);
                until = until.min(completed.at + Time::from_ps(1));
            }
        }
        if self.visits.is_empty() && until < Time::MAX {
            self.work_until(until.saturating_sub(Time::from_ps(1)));
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.array.geometry.capacity()))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: self.config.word.0 as u32,
            transactions: true,
            preconditions: true,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn restart_ledger(&mut self, now: Time) {
        self.start_book(now);
    }

    fn power_fail(&mut self, at: Time, _chance: &mut Random) {
        self.lose_power(at);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.repair(at)
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        Some(self)
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        Some(self)
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        super::report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.array.check_invariants();
        self.buffer.check_invariants();
        super::report::check_programs(self);
        assert_eq!(self.visits.is_empty(), self.service.is_idle(), "the controller serves what is there");
    }

    #[inline]
    fn prefetch(&self, requests: &[Request]) {
        let lpn = |request: &Request| (request.address >> self.page_shift) as u32;
        // Two rounds are needed, because the addresses of the second round depend on data that the first
        // round prefetches.
        requests.iter().for_each(|request| self.array.table.prefetch(lpn(request)));
        for request in requests {
            if let Location::Flash(page) = self.array.table.get(lpn(request)) {
                self.array.prefetch_owner(page);
            }
        }
    }
}

impl<S: Store> Preconditioning for Envy<S> {
    fn precondition(&mut self, requests: &[Request]) {
        for group in requests.chunks(PREFETCHED) {
            self.prefetch(group);
            // As many pages leave the buffer as enter it.
            let leaving = self.buffer.next_to_leave().take(group.len());
            leaving.for_each(|slot| self.array.table.prefetch(slot.lpn));
            for request in group.iter().filter(|request| request.op == Op::Write && request.bytes > 0) {
                let last = request.address + u64::from(request.bytes) - 1;
                for lpn in request.address >> self.page_shift..=last >> self.page_shift {
                    self.precondition_page(lpn as u32);
                }
            }
        }
        // Cleanings without duration are not recorded in the history.
        self.background.take_cleanings_done();
    }
}
