//! Locks on ranges, which only one job at a time may change, and the jobs that wait for them.

use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;
use std::ops::Range;

/// A range, and the job that uses it or waits for it.
#[derive(Clone, Copy, Debug, Default, Value)]
struct InUse {
    start: u64,
    end: u64,
    job: u32,
}

impl InUse {
    fn overlaps(&self, range: &Range<u64>) -> bool {
        self.start < range.end && range.start < self.end
    }
}

/// Ranges in use, and waiting jobs in order of arrival. Overlapping jobs run in that order.
#[derive(Clone, Debug, Default, State)]
pub(super) struct RangesInUse {
    #[state(varies)]
    used: Vec<InUse>,
    #[state(varies)]
    waiting: VecDeque<InUse>,
}

impl RangesInUse {
    /// Requests the lock on `range` for `job`. Returns whether the job has the lock; otherwise, the job
    /// waits.
    #[inline]
    pub(super) fn take(&mut self, job: u32, range: &Range<u64>) -> bool {
        let wanted = InUse { start: range.start, end: range.end, job };
        let is_free = !self.used.iter().chain(&self.waiting).any(|other| other.overlaps(range));
        if is_free {
            self.used.push(wanted);
        } else {
            self.waiting.push_back(wanted);
        }
        is_free
    }

    /// Releases the range of `job`.
    #[inline]
    pub(super) fn give_back(&mut self, job: u32) {
        let position = self.used.iter().position(|used| used.job == job).expect("it has its range");
        self.used.swap_remove(position);
    }

    /// Locks the range of the first waiting job that can proceed. Returns this job, or `None` if no job can
    /// proceed.
    pub(super) fn next(&mut self) -> Option<u32> {
        let is_free = |index: usize| {
            let wanted = &self.waiting[index];
            let before = self.used.iter().chain(self.waiting.iter().take(index));
            !before.into_iter().any(|other| other.overlaps(&(wanted.start..wanted.end)))
        };
        let index = (0..self.waiting.len()).find(|&index| is_free(index))?;
        let next = self.waiting.remove(index).expect("it waits");
        self.used.push(next);
        Some(next.job)
    }

    /// Withdraws `job` if it is waiting. Returns whether it was waiting.
    pub(super) fn withdraw(&mut self, job: u32) -> bool {
        let position = self.waiting.iter().position(|waiting| waiting.job == job);
        position.is_some_and(|position| self.waiting.remove(position).is_some())
    }

    pub(super) fn clear(&mut self) {
        self.used.clear();
        self.waiting.clear();
    }

    /// Panics if the locked ranges of two jobs overlap.
    pub(super) fn check_invariants(&self) {
        for (index, one) in self.used.iter().enumerate() {
            let others = &self.used[index + 1..];
            assert!(!others.iter().any(|other| other.overlaps(&(one.start..one.end))), "{one:?} is shared");
        }
    }
}
