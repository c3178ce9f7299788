//! The device of tiers: which request goes where.

use super::Config;
use super::migration::Migration;
use super::tier::{Place, Tier};
use crate::parts::Parts;
use crate::placement::{Placement, View};
use nacre_device::Accesses;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Breakdown, Completion, ComponentId, Data, Op, Request, Time};

/// How one epoch went, for drawing.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Epoch {
    pub(super) end: Time,
    pub(super) accesses: u64,
    /// Of them, those served by the first tier.
    pub(super) fastest: u64,
    pub(super) migrated_bytes: u64,
}

/// Epochs that are kept for drawing.
pub(super) const EPOCHS_MAX: usize = 1 << 16;

/// Extents over tiers of devices.
#[derive(State)]
#[state(after = "Tiers::check_restored")]
pub(super) struct Tiers {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) shift: u32,
    pub(super) tiers: Vec<Tier>,
    pub(super) places: Vec<Place>,
    pub(super) placement: Box<dyn Placement>,
    pub(super) migration: Migration,
    /// Accesses of this epoch; empty where extents never move.
    accesses: Vec<Accesses>,
    /// Length and end of this epoch.
    epoch: Option<(Time, Time)>,
    /// Accesses of this epoch, in all and in the first tier.
    in_epoch: (u64, u64),
    pub(super) migrated_before: u64,
    /// Epochs without accesses since the last decision.
    skipped: u64,
    #[state(varies)]
    pub(super) epochs: Vec<Epoch>,
    pub(super) epochs_ended: u64,
}

impl Tiers {
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: &Config,
        tiers: Vec<Tier>,
        placement: Box<dyn Placement>,
    ) -> Tiers {
        let mut next = vec![0; tiers.len()];
        let place = |home: u8| {
            let number = &mut next[usize::from(home)];
            *number += 1;
            Place::new(usize::from(home), *number - 1)
        };
        let places: Vec<Place> = placement.start().into_iter().map(place).collect();
        let epoch = placement.epoch().map(|epoch| (epoch, epoch));
        let counted = if epoch.is_some() { places.len() } else { 0 };
        Tiers {
            id,
            path,
            shift: config.extent.0.trailing_zeros(),
            tiers,
            places,
            placement,
            migration: Migration::new(config),
            accesses: vec![Accesses::default(); counted],
            epoch,
            in_epoch: (0, 0),
            migrated_before: 0,
            skipped: 0,
            epochs: Vec::new(),
            epochs_ended: 0,
        }
    }

    /// Every place of every tier has its extent.
    fn check_restored(&mut self) -> Result<(), String> {
        let mut taken: Vec<Vec<bool>> =
            self.tiers.iter().map(|tier| vec![false; tier.extents as usize]).collect();
        for place in &self.places {
            match taken.get_mut(place.tier()).and_then(|tier| tier.get_mut(place.number() as usize)) {
                Some(is_taken) if !*is_taken => *is_taken = true,
                _ => return Err(format!("an extent at place {} of tier {}", place.number(), place.tier())),
            }
        }
        Ok(())
    }

    /// Everything that was to happen up to `now`: chunks, and ends of epochs.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time) {
        if self.epoch.is_some_and(|(_, end)| end <= now) {
            self.end_epochs(now);
        }
        if self.migration.is_due(now) {
            self.migration.run(now, &mut self.tiers, &mut self.places, self.shift);
        }
    }

    #[cold]
    fn end_epochs(&mut self, now: Time) {
        while let Some((length, end)) = self.epoch.filter(|&(_, end)| end <= now) {
            self.migration.run(end, &mut self.tiers, &mut self.places, self.shift);
            // Epochs in which nothing was asked change nothing but what is remembered.
            let idle = if self.in_epoch.0 == 0 { (now - end).as_ps() / length.as_ps() + 1 } else { 0 };
            self.skipped += idle;
            self.epochs_ended += idle.max(1);
            self.epoch = Some((length, end + Time::from_ps(length.as_ps() * idle.max(1))));
            if idle == 0 {
                self.decide(end);
            }
        }
    }

    fn decide(&mut self, end: Time) {
        let (accesses, fastest) = std::mem::take(&mut self.in_epoch);
        let migrated = self.migration.bytes;
        let migrated_bytes = migrated - std::mem::replace(&mut self.migrated_before, migrated);
        if self.epochs.len() < EPOCHS_MAX {
            self.epochs.push(Epoch { end, accesses, fastest, migrated_bytes });
        }
        let homes: Vec<u8> = self.places.iter().map(|place| place.tier() as u8).collect();
        let skipped = std::mem::take(&mut self.skipped);
        let view = View { homes: &homes, accesses: &self.accesses, skipped };
        let mut exchanges = Vec::new();
        self.placement.decide(&view, &mut exchanges);
        self.migration.plan(exchanges, end);
        self.accesses.fill(Accesses::default());
    }

    /// Serves the part of `request` that lies in `extent`.
    #[inline]
    pub(super) fn serve(
        &mut self,
        now: Time,
        extent: u64,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let (from, to) = self.range(extent, request);
        match self.migration.split(extent as u32, from, to) {
            None => self.at(now, self.places[extent as usize], (from, to), request, data, breakdown),
            Some((at, before, behind)) => {
                let (mut data, first) = (data, from);
                let mut parts = Parts::new(now, breakdown);
                for (place, from, to) in [(before, from, at), (behind, at, to)] {
                    if from < to {
                        let mark = breakdown.mark();
                        let data = data.part((from - first) as usize..(to - first) as usize);
                        let done = self.at(now, place, (from, to), request, data, breakdown);
                        parts.add(done, mark, breakdown);
                    }
                }
                parts.completion()
            }
        }
    }

    /// What `request` asks of `extent`: from and to, in bytes of the extent.
    #[inline]
    pub(super) fn range(&self, extent: u64, request: &Request) -> (u64, u64) {
        let start = extent << self.shift;
        let from = request.address.max(start) - start;
        (from, (request.address + u64::from(request.bytes)).min(start + (1 << self.shift)) - start)
    }

    /// The place of `extent`, and what `request` asks of it there.
    #[inline]
    pub(super) fn part(&self, extent: u64, request: &Request) -> (Place, Request) {
        let (from, to) = self.range(extent, request);
        let place = self.places[extent as usize];
        let address = (u64::from(place.number()) << self.shift) + from;
        (place, Request { address, bytes: (to - from) as u32, ..*request })
    }

    /// Serves the bytes `from` to `to` of `place`.
    #[inline]
    fn at(
        &mut self,
        now: Time,
        place: Place,
        (from, to): (u64, u64),
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        if self.migration.buffer.keeps_any() {
            return self.beside_kept(now, place, (from, to), request, data, breakdown);
        }
        self.on_device(now, place, (from, to), request, data, breakdown)
    }

    fn on_device(
        &mut self,
        now: Time,
        place: Place,
        (from, to): (u64, u64),
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let address = (u64::from(place.number()) << self.shift) + from;
        let part = Request { address, bytes: (to - from) as u32, ..*request };
        if let Data::Write(bytes) = &data {
            self.migration.buffer.overwrite(place, from, bytes);
        }
        self.tiers[place.tier()].device.submit(now, &part, data, breakdown)
    }

    /// Serves from the buffer what a tier refused, and the rest from its device.
    #[cold]
    fn beside_kept(
        &mut self,
        now: Time,
        place: Place,
        (from, to): (u64, u64),
        request: &Request,
        mut data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let mut parts = Parts::new(now, breakdown);
        let mut start = from;
        while start < to {
            let (end, kept) = self.migration.buffer.kept_at(place, start, to);
            let data = data.part((start - from) as usize..(end - from) as usize);
            if let Some(chunk) = kept {
                chunk.serve(start, data);
            } else {
                let mark = breakdown.mark();
                let done = self.on_device(now, place, (start, end), request, data, breakdown);
                parts.add(done, mark, breakdown);
            }
            start = end;
        }
        parts.completion()
    }

    /// Counts one access to an extent.
    #[inline]
    pub(super) fn count(&mut self, extent: usize, op: Op) {
        let tier = self.places[extent].tier();
        let (reads, writes) = (u64::from(op == Op::Read), u64::from(op == Op::Write));
        self.tiers[tier].reads += reads;
        self.tiers[tier].writes += writes;
        if let Some(of) = self.accesses.get_mut(extent) {
            of.reads += reads;
            of.writes += writes;
            self.in_epoch.0 += reads + writes;
            self.in_epoch.1 += if tier == 0 { reads + writes } else { 0 };
        }
    }

    pub(super) fn flush(&mut self, now: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let mut parts = Parts::new(now, breakdown);
        for tier in &mut self.tiers {
            let mark = breakdown.mark();
            let done = tier.device.submit(now, request, Data::None, breakdown);
            parts.add(done, mark, breakdown);
        }
        parts.completion()
    }
}
