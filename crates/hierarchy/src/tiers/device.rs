//! The tiers as the contract of devices has them.

use super::model::Tiers;
use super::report;
use crate::parts::Parts;
use nacre_kernel::{
    Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured, Op, Random,
    Recovery, Request, Time, Transactions, Zone,
};

impl Device for Tiers {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        mut data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        self.catch_up(now);
        if request.op == Op::Flush {
            return self.flush(now, request, breakdown);
        }
        let (first, count) = request.blocks(1 << self.shift);
        if count == 1 {
            self.count(first as usize, request.op);
            return self.serve(now, first, request, data, breakdown);
        }
        let mut parts = Parts::new(now, breakdown);
        for extent in first..first + count {
            self.count(extent as usize, request.op);
            let mark = breakdown.mark();
            let (from, to) = self.range(extent, request);
            let start = ((extent << self.shift) + from - request.address) as usize;
            let data = data.part(start..start + (to - from) as usize);
            let done = self.serve(now, extent, request, data, breakdown);
            parts.add(done, mark, breakdown);
        }
        parts.completion()
    }

    fn advance(&mut self, to: Time) {
        self.catch_up(to);
        self.migration.buffer.settle(to);
        self.tiers.iter_mut().for_each(|tier| tier.device.advance(to));
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes((self.places.len() as u64) << self.shift))
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        let tiers = self.tiers.iter().map(|tier| tier.device.capabilities());
        let all = tiers.reduce(Capabilities::and).expect("there is a tier");
        Capabilities { transactions: false, uses_addresses: true, wears_out_ahead: false, ..all }
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.catch_up(at);
        self.tiers.iter_mut().for_each(|tier| tier.device.power_fail(at, chance));
        self.migration.power_fail(at);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        let tiers = self.tiers.iter_mut().map(|tier| tier.device.recover(at));
        let recovery = tiers.reduce(Recovery::beside).expect("there is a tier");
        self.migration.recover(recovery, &mut self.tiers, self.shift)
    }

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("which tier wears out first is not asked: it says so")
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, _requests: &[Request]) {}

    fn busy_until(&self) -> Time {
        self.tiers.iter().map(|tier| tier.device.busy_until()).fold(Time::ZERO, Time::max)
    }

    fn restart_ledger(&mut self) {
        for tier in &mut self.tiers {
            (tier.reads, tier.writes) = (0, 0);
            tier.device.restart_ledger();
        }
        self.migration.restart_ledger();
        self.migrated_before = 0;
        self.epochs.clear();
        self.epochs_ended = 0;
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        let mut taken: Vec<Vec<bool>> =
            self.tiers.iter().map(|tier| vec![false; tier.extents as usize]).collect();
        for (extent, place) in self.places.iter().enumerate() {
            let was = std::mem::replace(&mut taken[place.tier()][place.number() as usize], true);
            assert!(!was, "extent {extent} shares its place");
        }
        assert!(taken.iter().flatten().all(|&taken| taken), "a place has no extent");
        self.migration.buffer.check_invariants();
        self.tiers.iter().for_each(|tier| tier.device.check_invariants());
    }

    fn precondition(&mut self, requests: &[Request]) {
        // Every write in its own tier, in its order there.
        let mut by_tier: Vec<Vec<Request>> = vec![Vec::new(); self.tiers.len()];
        for request in requests {
            let (first, count) = request.blocks(1 << self.shift);
            for extent in first..first + count {
                let (place, part) = self.part(extent, request);
                by_tier[place.tier()].push(part);
            }
        }
        for (tier, requests) in self.tiers.iter_mut().zip(&by_tier) {
            tier.device.precondition(requests);
        }
    }
}
