//! The cache as the contract of devices has it.

use super::FLASH_PAGE;
use super::cache::{FlashCache, SHIFT};
use super::counts::Counts;
use super::report;
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured,
    HostCounts, Op, Persistence, Random, Recovery, Request, Status, Time, Transactions, Zone,
};
use nacre_media::store::Store;

impl<S: Store> Device for FlashCache<S> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        breakdown.add(self.id, Activity::Software, self.config.lookup);
        let start = now + self.config.lookup;
        self.host.record(request);
        match request.op {
            Op::Read => self.read(start, request, data, breakdown),
            Op::Write => self.write(start, request, &data, breakdown),
            Op::Trim => {
                self.trim(request);
                self.backing.submit(start, request, Data::None, breakdown)
            }
            Op::Flush => {
                let mut flushed = self.backing.submit(start, request, Data::None, breakdown);
                if std::mem::take(&mut self.has_lost) {
                    flushed.status = Status::MediaError;
                }
                flushed
            }
        }
    }

    fn advance(&mut self, to: Time) {
        self.array.forget_before(to);
        self.unfinished.settle(to);
        self.backing.advance(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        self.backing.capacity().map(|capacity| Bytes(capacity.0 / FLASH_PAGE * FLASH_PAGE))
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
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
        // What it holds back never reaches the device behind, whose wear would be that of other writes.
        Capabilities { wears_out_ahead: false, ..own.and(self.backing.capabilities()) }
    }

    fn busy_until(&self) -> Time {
        self.array.busy_until().max(self.backing.busy_until())
    }

    fn restart_ledger(&mut self) {
        self.counts = Counts { valid_before: self.tables.valid() as u64, ..Counts::default() };
        self.host = HostCounts::default();
        self.array.restart_ledger();
        self.backing.restart_ledger();
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
        self.backing.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.find_tables(at)
    }

    fn precondition(&mut self, requests: &[Request]) {
        self.backing.precondition(requests);
    }

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("it holds writes back, and says that it cannot")
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, requests: &[Request]) {
        let keys = || requests.iter().map(|request| request.address >> SHIFT);
        keys().for_each(|key| self.tables.prefetch(key));
        keys().for_each(|key| self.tables.prefetch_page(key));
    }
}
