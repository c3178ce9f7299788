//! The gaps of a die's line, in order.
//!
//! Copies of one cleaning look for gaps one behind the other, far before the end of a long line; what is far behind them
//! is programmed at its end. So a search begins where the last one ended.

use super::parted::Parted;
use nacre_kernel::Time;

/// A span of the line without a job, in which one has room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) from: Time,
    pub(super) to: Time,
}

/// Gaps in order, apart from each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps(Parted<Gap>);

impl Gaps {
    /// These, in order.
    pub(super) fn of(gaps: impl IntoIterator<Item = Gap>) -> Gaps {
        Gaps(gaps.into_iter().collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Gap> {
        self.0.iter()
    }

    /// Adds `gap` before all others.
    pub(super) fn push_first(&mut self, gap: Gap) {
        self.0.push_first(gap);
    }

    /// Adds `gap` behind all others.
    #[inline]
    pub(super) fn push_last(&mut self, gap: Gap) {
        self.0.push_last(gap);
    }

    /// Takes those away that end at `time` or before.
    #[inline]
    pub(super) fn forget_until(&mut self, time: Time) {
        self.0.forget(|gap| gap.to <= time);
    }

    /// The first gap in which something that takes `duration` begins at `time` or later; the next search begins at it.
    #[inline]
    pub(super) fn first_fit(&mut self, time: Time, duration: Time) -> Option<Gap> {
        if self.0.last()?.to <= time {
            return None;
        }
        self.0.part(|gap| gap.to <= time);
        self.0.seek(|gap| gap.from.max(time) + duration <= gap.to).copied()
    }

    /// What is left of the gap that was found last takes its place: nothing, a gap or two.
    #[inline]
    pub(super) fn replace(&mut self, left: [Option<Gap>; 2]) {
        self.0.take_next();
        for gap in left.into_iter().rev().flatten() {
            self.0.put_next(gap);
        }
    }
}
