//! The drive as the contract of devices has it.

use super::config::CompletionPoint;
use super::controller::Controller;
use super::model::{Book, Onyx};
use super::report;
use nacre_kernel::{
    Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured, Op,
    Persistence, Random, Recovery, Request, Time, Transactions, Zone,
};
use nacre_media::store::Store;

impl<S: Store> Device for Onyx<S> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        mut data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        assert!(!self.has_failed, "nothing may be asked of a device without power");
        self.book.host.record(request);
        let mut visit = self.enter(now, request);
        if matches!(request.op, Op::Read | Op::Write) {
            let (mut address, mut left) = (request.address, u64::from(request.bytes));
            while left > 0 {
                let (controller, part) = self.part(address, left);
                match request.op {
                    Op::Read => self.read_part(&mut visit, controller, part),
                    _ => self.write_part(&mut visit, controller, part),
                }
                if S::CARRIES_BYTES {
                    let first = (address - request.address) as usize;
                    self.carry(controller, part, address, data.part(first..first + part.bytes as usize));
                }
                (address, left) = (address + part.bytes, left - part.bytes);
            }
        }
        let completion = self.leave(&visit, breakdown);
        if S::CARRIES_BYTES {
            self.pending.acknowledge(completion.done);
        }
        completion
    }

    fn advance(&mut self, to: Time) {
        self.host.advance(to);
        self.pipeline.forget_before(to);
        self.ring.forget_before(to);
        self.controllers.iter_mut().for_each(|controller| controller.forget_before(to));
        if S::CARRIES_BYTES {
            self.settle(to);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.capacity))
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: match (self.config.completion, self.powered_programs()) {
                (CompletionPoint::Early, Some(_)) => Persistence::WithStoredEnergy,
                _ => Persistence::OnAcknowledgement,
            },
            atomic_unit: 1,
            transactions: false,
            preconditions: true,
            uses_addresses: true,
            wears_out_ahead: !S::CARRIES_BYTES,
        }
    }

    fn busy_until(&self) -> Time {
        let before = self.host.busy_until().max(self.pipeline.free_from()).max(self.ring.free_from());
        self.controllers.iter().map(Controller::free_from).fold(before, Time::max)
    }

    fn restart_ledger(&mut self) {
        self.book = Book::default();
        self.host.restart_ledger();
        self.ring.restart_ledger();
        self.controllers.iter_mut().for_each(Controller::restart);
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.host.check_invariants();
        self.pipeline.check_invariants();
        self.ring.check_invariants();
        self.controllers.iter().for_each(Controller::check_invariants);
        report::check_rows(self);
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.repair(at)
    }

    fn precondition(&mut self, requests: &[Request]) {
        for request in requests.iter().filter(|request| request.op == Op::Write) {
            self.wear_once(request);
        }
    }

    fn wear_out(&mut self, bursts: &[Burst]) -> Endured {
        self.endure(bursts)
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    /// Asks for the counters that writes will change.
    fn prefetch(&self, requests: &[Request]) {
        for request in requests.iter().filter(|request| request.op == Op::Write) {
            let (number, part) = self.part(request.address, u64::from(request.bytes));
            let controller = &self.controllers[number];
            controller.rows.prefetch(controller.leveller.physical(part.row));
        }
    }
}
