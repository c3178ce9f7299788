//! The drive as the contract of devices has it.

use super::book::Book;
use super::model::Ssd;
use super::report;
use nacre_kernel::{
    Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured, Op,
    Persistence, Random, Recovery, Request, Time, Transactions, Zone,
};
use nacre_media::store::Store;

/// Requests whose memory is asked for at once before a drive is preconditioned with them.
const PREFETCHED: usize = 32;

impl<S: Store> Device for Ssd<S> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        self.book.host.record(request);
        let now = self.outage.wait_until_ready(self.id, now, breakdown);
        match self.is_plain {
            true => self.serve::<true>(now, request, data, breakdown),
            false => self.serve_otherwise(now, request, data, breakdown),
        }
    }

    fn advance(&mut self, to: Time) {
        if self.config.idle_cleaning.is_some() {
            self.clean_while_idle(to);
        }
        if S::CARRIES_BYTES {
            self.versions.settle(to, &mut self.schedule);
        }
        self.interface.forget_before(to);
        self.schedule.forget_before(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.array.geometry.capacity()))
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    fn busy_until(&self) -> Time {
        self.interface.busy_until().max(self.schedule.busy_until()).max(self.outage.ready)
    }

    fn restart_ledger(&mut self) {
        self.interface.restart_ledger();
        self.schedule.restart_ledger();
        self.array.handles.restart_ledger();
        if let Some(parity) = &mut self.array.parity.0 {
            parity.restart_ledger();
        }
        self.book = Book::behind(self.array.programs, self.array.flash.erases());
        self.history.restart(&self.array.programs);
    }

    fn precondition(&mut self, requests: &[Request]) {
        for group in requests.chunks(PREFETCHED) {
            self.prefetch_entries(group);
            for request in group.iter().filter(|request| request.op == Op::Write && request.bytes > 0) {
                let (first, last) = self.array.geometry.units_of(request);
                self.array.handles.choose(request.volume);
                for unit in first..=last {
                    self.translate(Time::ZERO, unit, true, false);
                    match self.put_untimed(unit) {
                        true => self.replace(unit),
                        false => _ = self.refuse(Time::ZERO),
                    }
                }
            }
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: match self.config.power_protected {
                true => Persistence::OnAcknowledgement,
                false if self.config.loses_paired_pages() => Persistence::OnFlushWithStoredEnergy,
                false => Persistence::OnFlush,
            },
            atomic_unit: self.array.geometry.unit_bytes,
            transactions: false,
            preconditions: true,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn power_fail(&mut self, at: Time, _chance: &mut Random) {
        self.clean_while_idle(at);
        self.lose_power(at);
        // Nothing is cleaned until the power is back.
        self.quiet_from = Time::MAX;
    }

    fn recover(&mut self, at: Time) -> Recovery {
        let recovery = self.repair(at);
        self.quiet_from = recovery.done;
        recovery
    }

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("it wears out under requests, and says so")
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.array.check_invariants();
        self.schedule.check_invariants();
        self.interface.check_invariants();
    }

    #[inline]
    fn prefetch(&self, requests: &[Request]) {
        self.prefetch_entries(requests);
    }
}
