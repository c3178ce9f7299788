//! Units beyond the code, rebuilt from the others of their stripe while the host waits.

use super::super::geometry::Spot;
use super::super::model::Ssd;
use super::super::reading::Found;
use super::super::retry_times::RetryTimes;
use super::super::stripe_members::Member;
use nacre_kernel::{Activity, Time};
use nacre_media::store::Store;
use std::ops::Range;

/// What rebuilding a unit came to.
pub(in super::super) struct Rebuilt {
    pub(in super::super) done: Time,
    /// Where the time of the slowest read went.
    pub(in super::super) again: RetryTimes,
    /// Another unit of the stripe is beyond the code, too.
    pub(in super::super) is_lost: bool,
}

impl<S: Store> Ssd<S> {
    /// Reads the others of the stripe of `unit`, which lies where it was `found`, from `from` on, for a request that came
    /// at `now`: all dies at once. What the drive still has of them in its buffer need not be read.
    #[inline(never)]
    pub(in super::super) fn rebuild(
        &mut self,
        (now, from): (Time, Time),
        unit: u32,
        found: &Found,
    ) -> Rebuilt {
        let mut all = Rebuilt { done: from, again: RetryTimes::default(), is_lost: false };
        let open = self.array.frontiers.iter().find(|open| open.superblock == found.superblock);
        let (units, is_closed) = match open {
            Some(open) => (open.issued, false),
            None => (self.array.flash.blocks()[found.superblock as usize].programmed, true),
        };
        let page = self.array.table[unit as usize] - 1;
        for other in self.array.geometry.others(page, units, is_closed) {
            let spot = self.array.spot(found.superblock, other.operation);
            if self.schedule.is_programming(now, found.superblock, other.operation, spot.die) {
                continue;
            }
            let one = self.read_other((now, from), &other, found);
            all.is_lost |= one.is_lost;
            if one.done > all.done {
                (all.done, all.again) = (one.done, one.again);
            }
        }
        if let Some(errors) = &mut self.schedule.errors.0 {
            errors.count_rebuilt(!all.is_lost);
        }
        all
    }

    /// Reads and decodes one of them, and senses it again as often as its bits need.
    fn read_other(&mut self, (now, from): (Time, Time), other: &Member, found: &Found) -> Rebuilt {
        let spot = self.array.spot(found.superblock, other.operation);
        let erases = self.array.flash.blocks()[found.superblock as usize].erases;
        let mut one = Rebuilt { done: from, again: RetryTimes::default(), is_lost: false };
        let plane =
            self.array.geometry.lane_within(other.operation, other.within) % self.array.geometry.planes;
        let spot = (spot, plane..plane + 1);
        self.sense_other(now, &spot, &mut one);
        let Some(errors) = &mut self.schedule.errors.0 else { return one };
        let sensing = errors.decode_other(other, erases, spot.0.cells, one.done);
        errors.count_read_of(other, sensing.senses);
        (0..sensing.senses).for_each(|_| self.sense_other(now, &spot, &mut one));
        (one.again.decoding, one.is_lost) = (sensing.decoding, sensing.is_lost);
        one.done += sensing.decoding;
        one
    }

    fn sense_other(&mut self, now: Time, (spot, planes): &(Spot, Range<u32>), one: &mut Rebuilt) {
        let spot = (*spot, planes.clone());
        let fetch = self.schedule.fetch((now, one.done), spot, 1, Activity::Read);
        self.schedule.count_read(Activity::Read, 1);
        one.again.add(one.done, &fetch);
        one.done = fetch.done;
    }
}
