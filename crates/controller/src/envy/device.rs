//! The device as the contract of devices has it.

use super::model::{Envy, Visit};
use super::page_table::Location;
use super::write_buffer::SlotState;
use nacre_kernel::{
    Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured, Op,
    Persistence, Random, Recovery, Request, Status, Time, Transactions, Zone,
};
use nacre_media::store::Store;

/// Requests whose memory is asked for at once before a device is preconditioned with them: as many as one
/// core can wait for side by side.
const PREFETCHED: usize = 32;

impl<S: Store> Device for Envy<S> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        assert!(!self.has_failed, "nothing may be asked of a device without power");
        self.book.host.record(request);
        let at = self.meet(now, breakdown);
        let mut visit = Visit { at, breakdown };
        match request.op {
            Op::Read | Op::Write => self.serve(&mut visit, request, data),
            Op::Trim => {
                assert!(self.writable == SlotState::Dirty, "a transaction has no trims");
                self.trim(request);
            }
            Op::Flush => {}
        }
        let done = visit.at;
        (self.free_at, self.worked_until) = (done, done);
        if S::CARRIES_BYTES {
            self.pending.acknowledge(done);
        }
        Completion { done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.work_until(to);
        if S::CARRIES_BYTES {
            self.pending.settle(to, &());
            self.under_way.settle(to);
            self.flash_under_way.settle(to);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.array.geometry.capacity()))
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
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

    fn busy_until(&self) -> Time {
        self.free_at
    }

    fn restart_ledger(&mut self) {
        self.start_book(self.free_at);
    }

    fn precondition(&mut self, requests: &[Request]) {
        for group in requests.chunks(PREFETCHED) {
            self.prefetch(group);
            // As many pages leave the buffer as come in.
            let leaving = self.buffer.next_to_leave().take(group.len());
            leaving.for_each(|slot| self.array.table.prefetch(slot.lpn));
            for request in group.iter().filter(|request| request.op == Op::Write && request.bytes > 0) {
                let last = request.address + u64::from(request.bytes) - 1;
                for lpn in request.address >> self.page_shift..=last >> self.page_shift {
                    self.precondition_page(lpn as u32);
                }
            }
        }
    }

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("its segments go on after the cycles they are made for, as it says")
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.repair(at)
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        Some(self)
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        super::report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.array.check_invariants();
        self.buffer.check_invariants();
        super::report::check_programs(self);
    }

    #[inline]
    fn prefetch(&self, requests: &[Request]) {
        let lpn = |request: &Request| (request.address >> self.page_shift) as u32;
        // Two rounds: what the second asks for is known only when the table has been read.
        requests.iter().for_each(|request| self.array.table.prefetch(lpn(request)));
        for request in requests {
            if let Location::Flash(page) = self.array.table.get(lpn(request)) {
                self.array.prefetch_owner(page);
            }
        }
    }
}
