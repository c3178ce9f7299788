//! The buffer of a drive: what was read ahead, and what waits to be written.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use nacre_media::disk::Layout;
use std::collections::VecDeque;

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

    /// The host took the bytes up to `end` at `now`: there is room to go on.
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

/// Writes that are acknowledged and not yet on the platter.
#[derive(Debug, State)]
pub(super) struct WriteCache {
    #[state(same)]
    capacity: u64,
    used: u64,
    /// In order of arrival.
    dirty: VecDeque<Dirty>,
}

/// A write that is acknowledged and on the platter at `written`.
#[derive(Clone, Copy, Debug, Value)]
struct Dirty {
    written: Time,
    address: u64,
    bytes: u64,
}

impl WriteCache {
    pub(super) fn new(capacity: u64) -> WriteCache {
        WriteCache { capacity, used: 0, dirty: VecDeque::new() }
    }

    /// Whether a write of `bytes` can be cached at all.
    pub(super) fn takes(&self, bytes: u64) -> bool {
        bytes <= self.capacity
    }

    /// When there is room for `bytes`, from `now` on; makes that room.
    pub(super) fn make_room(&mut self, now: Time, bytes: u64) -> Time {
        let mut free_at = now;
        while let Some(&first) = self.dirty.front() {
            if first.written > now && self.used + bytes <= self.capacity {
                break;
            }
            free_at = free_at.max(first.written);
            self.used -= first.bytes;
            self.dirty.pop_front();
        }
        free_at
    }

    /// Keeps a write that is on the platter at `written`.
    pub(super) fn keep(&mut self, written: Time, address: u64, bytes: u64) {
        self.used += bytes;
        self.dirty.push_back(Dirty { written, address, bytes });
    }

    pub(super) fn check_invariants(&self) {
        assert!(self.used <= self.capacity, "{} dirty bytes in a cache of {}", self.used, self.capacity);
        assert_eq!(
            self.used,
            self.dirty.iter().map(|dirty| dirty.bytes).sum::<u64>(),
            "dirty bytes are lost"
        );
    }
}
