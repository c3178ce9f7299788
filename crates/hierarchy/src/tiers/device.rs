//! Implements `Device` for the tiers.

use super::model::Tiers;
use super::operation::{Operation, Purpose};
use super::report;
use crate::visit::Part;
use nacre_kernel::event::{Canceled, Completions, Device, Payload, Preconditioning, RequestId};
use nacre_kernel::{
    Activity, Bytes, Capabilities, ComponentReport, Op, Random, Recovery, Request, Status, Time,
};

/// The smallest time step.
const INSTANT: Time = Time::from_ps(1);

impl Tiers {
    /// Time of the next internal event, i.e. the start of a chunk or the end of an epoch.
    #[inline]
    fn quiet(&self) -> Time {
        self.migration.due().min(self.epoch_end())
    }

    /// Handles internal events that are due before `now`.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        if self.quiet() < now {
            let mut completions = Completions::new();
            self.run(now, &mut completions);
            assert!(completions.is_empty(), "requests that completed before {now} were not asked for");
        }
    }

    /// Starts the chunk that is due at `now` or, if none is due, ends the epoch. No other event occurs
    /// before `before`.
    #[cold]
    fn step_quiet(&mut self, now: Time, before: Time) {
        if self.migration.due() == now {
            return self.take_up_chunk(now);
        }
        self.end_epoch(before.min(self.migration.due()));
    }

    /// Returns the tier with the next event, the time of this event, and the time of the next event of all
    /// other tiers.
    #[inline]
    fn next_device(&self) -> (usize, Time, Time) {
        let (mut first, mut at, mut others) = (0, self.tiers[0].next, Time::MAX);
        for (number, tier) in self.tiers.iter().enumerate().skip(1) {
            if tier.next < at {
                (first, others, at) = (number, at, tier.next);
            } else {
                others = others.min(tier.next);
            }
        }
        (first, at, others)
    }

    /// Handles operations that a device completed at the same time.
    #[inline]
    fn handle(&mut self, completions: &mut Completions) {
        let mut completed = std::mem::take(&mut self.completed);
        for index in 0..completed.len() {
            let data = completed.take_data(index);
            let (of, spans) = completed.get(index);
            let (number, now, status) = (of.id.0, of.at, of.status);
            let Operation { purpose, op, owner, holds_up, address, waited, .. } = self.operations[number];
            self.operations.give_back(number);
            match purpose {
                Purpose::Alone => {
                    completions.push_spans(RequestId(owner), now, status, spans).data = data;
                }
                Purpose::Part => {
                    let own = Some((Activity::Queue, waited));
                    let has_lost = op == Op::Flush
                        && self.migration.report.fails_flush(self.visits.request(owner).arrival, now);
                    let status = if has_lost { Status::MediaError } else { status };
                    let part = Part { status, own, before: &[], spans, data: (address, data) };
                    self.visits.part_ends(now, owner, &part);
                }
                _ => self.chunk_step_ended(now, purpose, owner as usize, status, data),
            }
            if holds_up {
                self.stage_counts_down(now);
            }
        }
        completed.clear();
        self.completed = completed;
    }
}

impl Device for Tiers {
    #[inline]
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.catch_up(now);
        if request.op == Op::Flush {
            return self.flush(now, id, request);
        }
        let (first, count) = request.blocks(1 << self.shift);
        if count == 1 && self.migration.leaves_alone(first as u32) {
            self.count(first as usize, request.op);
            return self.serve_alone(now, id, first, request, data);
        }
        self.serve_in_parts(now, id, request, &data);
    }

    fn cancel(&mut self, now: Time, id: RequestId) -> Canceled {
        let is_it = |(_, of): &(u32, &Operation)| of.purpose == Purpose::Alone && of.owner == id.0;
        let Some((number, &Operation { location, holds_up, .. })) = self.operations.iter().find(is_it) else {
            return Canceled::TooLate;
        };
        let tier = &mut self.tiers[location.tier()];
        let canceled = tier.device.cancel(now, RequestId(number));
        tier.next = tier.device.next_event();
        if canceled == Canceled::Yes {
            self.operations.give_back(number);
            if holds_up {
                self.stage_counts_down(now);
            }
        }
        canceled
    }

    #[inline]
    fn next_event(&self) -> Time {
        // Operations that wait for an interrupted chunk require that the chunk is written again first.
        let own = if self.waiting.is_empty() { Time::MAX } else { self.migration.due() };
        self.tiers.iter().fold(self.visits.next().min(own), |first, tier| first.min(tier.next))
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let (mut limit, before) = (until, completions.len());
        loop {
            let (tier, at, others) = self.next_device();
            let own = self.visits.next();
            let next = own.min(at);
            let quiet = self.quiet();
            // Actions that follow from completions precede events due at the same time.
            if quiet < next.min(limit) && completions.len() == before && next.min(limit) < Time::MAX {
                self.step_quiet(quiet, next.min(limit));
                continue;
            }
            if next >= limit {
                return;
            }
            if own <= at {
                self.visits.complete(own, completions);
            } else {
                // The device runs up to the next time at which a request may be submitted.
                let to = limit.min(own).min(others).min(quiet).max(at + INSTANT);
                let tier = &mut self.tiers[tier];
                tier.device.run(to, &mut self.completed);
                tier.next = tier.device.next_event();
                self.handle(completions);
            }
            if completions.len() > before {
                limit = limit.min(completions.get(before).0.at + INSTANT);
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes((self.locations.len() as u64) << self.shift))
    }

    fn capabilities(&self) -> Capabilities {
        let tiers = self.tiers.iter().map(|tier| tier.device.capabilities());
        let all = tiers.reduce(Capabilities::and).expect("there is a tier");
        Capabilities { transactions: false, uses_addresses: true, wears_out_ahead: false, ..all }
    }

    fn restart_ledger(&mut self, now: Time) {
        self.catch_up(now);
        for tier in &mut self.tiers {
            (tier.reads, tier.writes) = (0, 0);
            tier.device.restart_ledger(now);
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
        for (extent, location) in self.locations.iter().enumerate() {
            let was = std::mem::replace(&mut taken[location.tier()][location.number() as usize], true);
            assert!(!was, "extent {extent} shares its location");
        }
        assert!(taken.iter().flatten().all(|&taken| taken), "a location has no extent");
        self.migration.rejected.check_invariants();
        let ahead = self.operations.iter().filter(|(_, of)| of.holds_up).count();
        let own = |of: &Operation| {
            matches!(of.purpose, Purpose::ChunkRead | Purpose::ChunkWrite | Purpose::ChunkFlush)
        };
        let own = self.operations.iter().filter(|(_, of)| own(of)).count();
        assert_eq!(self.migration.left as usize, ahead + own, "what the chunk waits for");
        for tier in &self.tiers {
            assert_eq!(tier.device.next_event(), tier.next, "the next event of a device");
            tier.device.check_invariants();
        }
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.catch_up(at);
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.recover_all(at)
    }

    fn detail(&mut self, is_detailed: bool) {
        self.tiers.iter_mut().for_each(|tier| tier.device.detail(is_detailed));
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        let has_any = self.tiers.iter_mut().any(|tier| tier.device.preconditioning().is_some());
        if has_any { Some(self) } else { None }
    }
}

impl Preconditioning for Tiers {
    fn precondition(&mut self, requests: &[Request]) {
        // Each tier performs its writes in order.
        let mut by_tier: Vec<Vec<Request>> = vec![Vec::new(); self.tiers.len()];
        for request in requests {
            let (first, count) = request.blocks(1 << self.shift);
            for extent in first..first + count {
                let (from, to) = self.range(extent, request);
                let location = self.locations[extent as usize];
                let address = (u64::from(location.number()) << self.shift) + from;
                by_tier[location.tier()].push(Request { address, bytes: (to - from) as u32, ..*request });
            }
        }
        for (tier, requests) in self.tiers.iter_mut().zip(&by_tier) {
            if let Some(preconditioning) = tier.device.preconditioning() {
                preconditioning.precondition(requests);
            }
            tier.next = tier.device.next_event();
        }
    }
}
