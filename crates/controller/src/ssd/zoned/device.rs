//! The drive as the contract of devices has it.

use super::super::book::Book;
use super::model::{Tally, Zoned};
use super::report;
use nacre_kernel::{
    Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured, Op,
    Persistence, Random, Recovery, Request, Time, Transactions, Zone,
};
use nacre_media::store::Store;

impl<S: Store> Device for Zoned<S> {
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        self.book.host.record(request);
        let now = self.outage.wait_until_ready(self.id, now, breakdown);
        self.serve(now, request, data, breakdown)
    }

    fn advance(&mut self, to: Time) {
        self.incoming.settle(to);
        self.interface.forget_before(to);
        self.schedule.forget_before(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.table.geometry.capacity()))
    }

    fn zone(&self, address: u64) -> Option<Zone> {
        let (zone, _) = self.table.zone_of((address >> self.table.geometry.unit_shift) as u32);
        Some(self.table.describe(zone))
    }

    fn busy_until(&self) -> Time {
        self.interface.busy_until().max(self.schedule.busy_until()).max(self.outage.ready)
    }

    fn restart_ledger(&mut self) {
        self.interface.restart_ledger();
        self.schedule.restart_ledger();
        self.tally = Tally::default();
        self.book = Book::behind(self.table.programs, self.table.flash.erases());
    }

    fn precondition(&mut self, requests: &[Request]) {
        for request in requests.iter().filter(|request| request.op == Op::Write && request.bytes > 0) {
            self.put_untimed(request);
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: self.table.geometry.unit_bytes,
            transactions: false,
            preconditions: true,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn power_fail(&mut self, at: Time, _chance: &mut Random) {
        self.lose_power(at);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.repair(at)
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
        self.table.check_invariants();
        self.schedule.check_invariants();
        self.interface.check_invariants();
    }

    fn prefetch(&self, _requests: &[Request]) {}
}
