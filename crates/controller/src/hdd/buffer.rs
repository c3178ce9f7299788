//! The read-ahead buffer of a drive.

use nacre_kernel::Time;
use nacre_kernel::state::Value;
use nacre_media::disk::Layout;

/// A contiguous range that the drive reads ahead of the host.
///
/// Data from `anchor`, which passed the head at `anchor_at`, arrives at the platter's rate until the buffer
/// is full at `limit`. The drive then pauses until the host reads some of the data.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct ReadAhead {
    from: u64,
    anchor: u64,
    anchor_at: Time,
    limit: u64,
    /// Maximum number of bytes read ahead.
    depth: u64,
}

impl ReadAhead {
    /// Starts read-ahead at `end`, where a read ended at `now`.
    pub(super) fn new(layout: &Layout, end: u64, now: Time, depth: u64) -> ReadAhead {
        let limit = (end + depth).min(layout.capacity().0);
        ReadAhead { from: end, anchor: end, anchor_at: now, limit, depth }
    }

    /// Returns the time at which the data up to `end` is in the buffer. Returns `None` unless all data from
    /// `address` to `end` is in the buffer or will be read ahead.
    pub(super) fn ready(&self, layout: &Layout, address: u64, end: u64) -> Option<Time> {
        (address >= self.from && end <= self.limit).then(|| self.passed(layout, end))
    }

    /// Records that the host read the data up to `end` at `now`, which frees space.
    pub(super) fn take(&mut self, layout: &Layout, now: Time, end: u64) {
        if self.passed(layout, self.limit) <= now {
            let turns = layout.turns_at(self.limit);
            (self.anchor, self.anchor_at) = (self.limit, now + layout.wait(now, turns));
        }
        self.from = end;
        self.limit = (end + self.depth).min(layout.capacity().0);
    }

    /// Time at which the last byte before `address` passes the head. Zero for data before the anchor, which
    /// arrived before the last pause.
    fn passed(&self, layout: &Layout, address: u64) -> Time {
        if address <= self.anchor {
            return Time::ZERO;
        }
        self.anchor_at + (layout.turns_at(address) - layout.turns_at(self.anchor))
    }
}
