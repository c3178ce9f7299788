//! Implements `Device` for the cache.

use super::cache::{Arrival, Counts, ServerCache};
use super::ops::Purpose;
use super::report;
use nacre_kernel::event::{Completions, Device, Endurance, Payload, Preconditioning, RequestId};
use nacre_kernel::{
    Activity, Bytes, Capabilities, ComponentReport, Op, Persistence, Random, Recovery, Request, Status, Time,
};
use std::collections::BTreeSet;

/// Maximum number of blocks that are prefetched together, and maximum number of blocks of one request that
/// are prefetched.
const PREFETCHED: usize = 32;
/// The smallest time step.
const INSTANT: Time = Time::from_ps(1);

impl ServerCache {
    /// Serves a request after its look-up has ended, i.e. decides the actions of levels and devices.
    #[inline]
    fn serve(&mut self, now: Time, id: RequestId, request: &Request, data: &Payload, queued: Time) {
        if let Some(work) = &mut self.write_back {
            work.is_stalled = false;
            self.consider_cleaning(now);
        }
        match request.op {
            Op::Read => self.read(now, id, request, queued),
            Op::Write => self.write(now, id, request, data, queued),
            Op::Trim => self.trim(now, id, request, queued),
            Op::Flush => self.flush(now, id, request, queued),
        }
        self.go(now);
    }

    /// Time of the cache's next event, excluding events of its devices.
    #[inline]
    fn next_own(&self) -> Time {
        let due = self.due.front().map_or(Time::MAX, |&(at, _)| at);
        let due = self.hedging.as_ref().map_or(due, |hedging| due.min(hedging.next()));
        self.arrivals.front().map_or(due, |arrival| due.min(arrival.begins))
    }

    /// Returns the device with the next event, the time of this event, and the time of the next event of all
    /// other devices.
    #[inline]
    fn next_device(&self) -> (usize, Time, Time) {
        let (mut first, mut at, mut others) = (0, self.next[0], Time::MAX);
        for (device, &next) in self.next.iter().enumerate().skip(1) {
            if next < at {
                (first, others, at) = (device, at, next);
            } else {
                others = others.min(next);
            }
        }
        (first, at, others)
    }

    /// Processes events of the cache at `now`.
    fn step_own(&mut self, now: Time, completions: &mut Completions) {
        while let Some(&(at, number)) = self.due.front()
            && at == now
        {
            self.due.pop_front();
            let visit = &mut self.visits[number];
            let status = self.failing_flushes.final_status(now, visit);
            let data = visit.take_data();
            completions.push_spans(visit.id, now, status, &visit.spans).data = data;
            self.visits.give_back(number);
        }
        if self.arrivals.front().is_some_and(|arrival| arrival.begins == now)
            && let Some(Arrival { id, request, data, queued, .. }) = self.arrivals.pop_front()
        {
            self.serve(now, id, &request, &data, queued);
        }
        if self.hedging.is_some() {
            self.hedge_due(now);
            self.go(now);
        }
    }

    /// Handles requests that a device completed at the same time.
    #[inline]
    fn handle(&mut self, completions: &mut Completions) {
        let mut completed = std::mem::take(&mut self.completed);
        for index in 0..completed.len() {
            let data = completed.take_data(index);
            let (of, spans) = completed.get(index);
            let (number, now, status) = (of.id.0, of.at, of.status);
            if self.hedging.is_some() {
                self.settle_hedge(now, number);
            }
            let operation = &self.operations[number];
            if operation.purpose == Purpose::Hedge {
                self.hedge_ends(now, number, status, (spans, data), completions);
            } else if operation.purpose == Purpose::Alone {
                if status == Status::Done {
                    let (id, own) = (RequestId(operation.owner), [(Activity::Software, self.lookup)]);
                    completions.push_behind(id, now, status, self.id, own, spans).data = data;
                } else {
                    self.alone_failed(now, number, spans);
                }
                self.operations.end(number, status != Status::Done, |_| Payload::NONE);
            } else {
                self.ended(now, number, status, spans, data);
            }
            self.go(now);
        }
        completed.clear();
        self.completed = completed;
    }
}

impl Device for ServerCache {
    #[inline]
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        let looked_up = now + self.lookup;
        let begins = looked_up.max(self.ready);
        if begins == now && self.arrivals.is_empty() {
            return self.serve(now, id, request, &data, Time::ZERO);
        }
        let (queued, request) = (begins - looked_up, *request);
        self.arrivals.push_back(Arrival { begins, queued, id, request, data });
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.next.iter().fold(self.next_own(), |first, &next| first.min(next))
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let (mut limit, before) = (until, completions.len());
        loop {
            let own = self.next_own();
            let (device, at, others) = self.next_device();
            let next = own.min(at);
            if next >= limit {
                return;
            }
            if own <= at {
                self.step_own(own, completions);
            } else {
                // The device runs up to the next time at which the cache may submit a request.
                let to = limit.min(own).min(others).max(at + INSTANT);
                self.devices[device].run(to, &mut self.completed);
                self.next[device] = self.devices[device].next_event();
                self.handle(completions);
            }
            if completions.len() > before {
                limit = limit.min(completions.get(before).0.at + INSTANT);
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.devices[self.backing()].capacity()
    }

    fn capabilities(&self) -> Capabilities {
        let carries_bytes = self.carries_bytes;
        let backing = self.devices[self.backing()].capabilities();
        let backing = Capabilities { carries_bytes, transactions: false, uses_addresses: true, ..backing };
        // Without write-back, writes pass through the cache, so the guarantees are those of the backing.
        let Some(work) = &self.write_back else { return backing };
        // Not every write reaches the backing, because the cache holds data back. The wear of the backing
        // therefore depends on simulated time.
        let backing = Capabilities { wears_out_ahead: false, ..backing };
        let atomic_unit = backing.atomic_unit.min(1 << self.shift);
        if work.table.is_none() {
            // A host flush writes the dirty blocks to the backing and then flushes the backing.
            let persistence = Persistence::OnFlush.and(backing.persistence);
            return Capabilities { persistence, atomic_unit, ..backing };
        }
        let levels = self.devices[..self.backing()].iter().map(|device| device.capabilities());
        levels.fold(Capabilities { atomic_unit, ..backing }, |all, level| Capabilities {
            persistence: all.persistence.and(level.persistence),
            atomic_unit: all.atomic_unit.min(level.atomic_unit),
            ..all
        })
    }

    fn restart_ledger(&mut self, now: Time) {
        self.counts = Counts::default();
        self.levels.restart_counts();
        self.write_back.iter_mut().for_each(|work| work.restart_counts());
        self.hedging.iter_mut().for_each(|hedging| hedging.counts = Default::default());
        self.devices.iter_mut().for_each(|device| device.restart_ledger(now));
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.levels.check_invariants();
        self.operations.check_invariants();
        self.in_flight.check_invariants();
        let fetches: BTreeSet<u64> = self.fetches.iter().map(|(number, _)| u64::from(number)).collect();
        let fetched = self.in_flight.iter().all(|(_, fetch)| fetches.contains(&fetch));
        assert!(fetched, "a block is on its way without a fetch");
        if let Some(hedging) = &self.hedging {
            let waiting = self.operations.iter().filter(|(_, of)| of.hedged_at < Time::MAX).count();
            assert_eq!(waiting, hedging.waiting(), "a read is not hedged");
        }
        if let Some(work) = &self.write_back {
            work.check_invariants();
            let is_held = |(block, _)| self.levels.hold(block);
            assert!(work.dirty.iter().all(is_held), "a dirty block is in no level");
        }
        self.devices.iter().for_each(|device| device.check_invariants());
        for (device, &next) in self.devices.iter().zip(&self.next) {
            assert_eq!(device.next_event(), next, "the next event of a device");
        }
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.recover_all(at)
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

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        let backing = self.backing();
        self.devices[backing].preconditioning()
    }

    fn endurance(&mut self) -> Option<&mut dyn Endurance> {
        let backing = self.backing();
        if self.write_back.is_some() { None } else { self.devices[backing].endurance() }
    }
}
