//! The buffer of a drive: what was read ahead.

use nacre_kernel::Time;
use nacre_kernel::state::Value;
use nacre_media::disk::Layout;

/// One stretch of the disk that the drive reads ahead of the host.
///
/// From `anchor` on, which passed the head at `anchor_at`, bytes come in at the rate of the platter until
/// the buffer is full at `limit`; there the drive pauses until the host has taken something.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct ReadAhead {
    from: u64,
    anchor: u64,
    anchor_at: Time,
    limit: u64,
    /// Bytes it may be ahead.
    depth: u64,
}

impl ReadAhead {
    /// Begins at `end`, where a read ended at `now`.
    pub(super) fn new(layout: &Layout, end: u64, now: Time, depth: u64) -> ReadAhead {
        let limit = (end + depth).min(layout.capacity().0);
        ReadAhead { from: end, anchor: end, anchor_at: now, limit, depth }
    }

    /// When the bytes up to `end` are in the buffer, if a read from `address` to `end` finds all of them
    /// there or on their way.
    pub(super) fn ready(&self, layout: &Layout, address: u64, end: u64) -> Option<Time> {
        (address >= self.from && end <= self.limit).then(|| self.passed(layout, end))
    }

    /// The host took the bytes up to `end` at `now`: there is room to continue.
    pub(super) fn take(&mut self, layout: &Layout, now: Time, end: u64) {
        if self.passed(layout, self.limit) <= now {
            let turns = layout.turns_at(self.limit);
            (self.anchor, self.anchor_at) = (self.limit, now + layout.wait(now, turns));
        }
        self.from = end;
        self.limit = (end + self.depth).min(layout.capacity().0);
    }

    /// When the head passed, or will pass, the last byte before `address`; what lies before the anchor
    /// came in before the last pause.
    fn passed(&self, layout: &Layout, address: u64) -> Time {
        if address <= self.anchor {
            return Time::ZERO;
        }
        self.anchor_at + (layout.turns_at(address) - layout.turns_at(self.anchor))
    }
}
