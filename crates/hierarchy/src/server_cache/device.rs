//! The cache as the contract of devices has it.

use super::cache::{Counts, ServerCache};
use super::in_flight::InFlight;
use super::report;
use super::transit::Transit;
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured, Op,
    Persistence, Random, Recovery, Request, Time, Transactions, Zone,
};

/// Blocks that are prefetched at once, and the most of one request.
const PREFETCHED: usize = 32;

impl Device for ServerCache {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        breakdown.add(self.id, Activity::Software, self.lookup);
        let mut start = now + self.lookup;
        if let Some(work) = &self.write_back {
            let ready = work.ready.max(start);
            breakdown.add(self.id, Activity::Queue, ready - start);
            start = ready;
            self.clean_until(start);
        }
        match request.op {
            Op::Read => self.read(start, request, data, breakdown),
            Op::Write => self.write(start, request, data, breakdown),
            Op::Trim => self.trim(start, request, breakdown),
            Op::Flush => self.flush(start, request, breakdown),
        }
    }

    fn advance(&mut self, to: Time) {
        self.in_flight.advance(to);
        // Cleaning goes on with the next request, from when it should.
        let cleans_from = self.write_back.as_ref().and_then(|work| work.cleans_from());
        let to = cleans_from.map_or(to, |start| start.min(to));
        for level in &mut self.levels.all {
            level.device.advance(to);
        }
        self.backing.advance(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        self.backing.capacity()
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        let carries_bytes = self.carries_bytes;
        let backing = self.backing.capabilities();
        let backing = Capabilities { carries_bytes, transactions: false, uses_addresses: true, ..backing };
        // Writes go through: what the backing promises holds.
        let Some(work) = &self.write_back else { return backing };
        // What it holds back never reaches the backing, whose wear would be that of other writes.
        let backing = Capabilities { wears_out_ahead: false, ..backing };
        let atomic_unit = backing.atomic_unit.min(1 << self.shift);
        if work.table.is_none() {
            // Flushed blocks are in the backing, which is flushed after them.
            let persistence = Persistence::OnFlush.and(backing.persistence);
            return Capabilities { persistence, atomic_unit, ..backing };
        }
        let levels = self.levels.all.iter().map(|level| level.device.capabilities());
        levels.fold(Capabilities { atomic_unit, ..backing }, |all, level| Capabilities {
            persistence: all.persistence.and(level.persistence),
            atomic_unit: all.atomic_unit.min(level.atomic_unit),
            ..all
        })
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.clean_until(at);
        for level in &mut self.levels.all {
            level.device.power_fail(at, chance);
        }
        self.backing.power_fail(at, chance);
        // Which block is where is known in DRAM only, but for a table that outlives it.
        self.forgotten += self.levels.forget();
        (self.in_flight, self.transit) = (InFlight::new(), Transit::new());
        self.lose_dirty(at);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        let blocks_forgotten = std::mem::take(&mut self.forgotten);
        let own = Recovery { done: at, blocks_forgotten, ..Recovery::default() };
        let levels = self.levels.all.iter_mut().map(|level| level.device.recover(at));
        let devices = levels.fold(self.backing.recover(at).beside(own), Recovery::beside);
        self.recover_dirty(devices)
    }

    fn precondition(&mut self, requests: &[Request]) {
        self.backing.precondition(requests);
    }

    fn wear_out(&mut self, bursts: &[Burst]) -> Endured {
        assert!(self.write_back.is_none(), "it holds writes back, and says that it cannot");
        self.backing.wear_out(bursts)
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn busy_until(&self) -> Time {
        let levels = self.levels.all.iter().map(|level| level.device.busy_until());
        levels.fold(self.backing.busy_until(), Time::max)
    }

    fn restart_ledger(&mut self) {
        self.counts = Counts::default();
        self.levels.restart_counts();
        self.write_back.iter_mut().for_each(|work| work.restart_counts());
        self.backing.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.levels.check_invariants();
        self.in_flight.check_invariants();
        if let Some(work) = &self.write_back {
            work.check_invariants();
            let is_held = |block| self.levels.hold(block);
            assert!(work.dirty.blocks().all(is_held), "a dirty block is in no level");
        }
        self.backing.check_invariants();
    }

    fn prefetch(&self, requests: &[Request]) {
        let (mut group, mut used) = ([0; PREFETCHED], 0);
        for request in requests {
            let (first, count) = request.blocks(1 << self.shift);
            for block in first..first + count.min(PREFETCHED as u64) {
                group[used] = block;
                used += 1;
                if used == PREFETCHED {
                    self.levels.prefetch(&group);
                    used = 0;
                }
            }
        }
        self.levels.prefetch(&group[..used]);
    }
}
