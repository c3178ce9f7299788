//! Epochs. Accesses are counted during an epoch, and the placement decides on moves at its end.

use super::model::{EPOCHS_MAX, Epoch, Tiers};
use crate::placement::View;

use nacre_device::Accesses;
use nacre_kernel::{Op, Time};

impl Tiers {
    /// End of the current epoch, or [`Time::MAX`] if extents never move.
    #[inline]
    pub(super) fn epoch_end(&self) -> Time {
        self.epoch.map_or(Time::MAX, |(_, end)| end)
    }

    /// Ends the epoch. Epochs without accesses only age the history, so all epochs that end before `before`
    /// are ended together.
    pub(super) fn end_epoch(&mut self, before: Time) {
        let Some((length, end)) = self.epoch else { return };
        if self.in_epoch.0 > 0 {
            self.epochs_ended += 1;
            self.epoch = Some((length, end + length));
            return self.decide(end);
        }
        let more = (before - end).as_ps().saturating_sub(1) / length.as_ps();
        self.skipped += more + 1;
        self.epochs_ended += more + 1;
        self.epoch = Some((length, end + Time::from_ps(length.as_ps() * (more + 1))));
    }

    fn decide(&mut self, end: Time) {
        let (accesses, fastest) = std::mem::take(&mut self.in_epoch);
        let migrated = self.migration.bytes;
        let migrated_bytes = migrated - std::mem::replace(&mut self.migrated_before, migrated);
        if self.epochs.len() < EPOCHS_MAX {
            self.epochs.push(Epoch { end, accesses, fastest, migrated_bytes });
        }
        let homes: Vec<u8> = self.locations.iter().map(|location| location.tier() as u8).collect();
        let skipped = std::mem::take(&mut self.skipped);
        let view = View { homes: &homes, accesses: &self.accesses, skipped };
        let mut exchanges = Vec::new();
        self.placement.decide(&view, &mut exchanges);
        self.migration.plan(exchanges, end);
        self.accesses.fill(Accesses::default());
    }

    /// Counts one access to an extent.
    #[inline]
    pub(super) fn count(&mut self, extent: usize, op: Op) {
        let tier = self.locations[extent].tier();
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
}
