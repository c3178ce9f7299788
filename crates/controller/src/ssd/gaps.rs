//! The gaps of a die's line, in order.
//!
//! Copies of one cleaning look for gaps one behind the other, far before the end of a long line; what is far behind them
//! is programmed at its end. So the list is kept in two parts that meet where the last search ended: a search begins
//! there, and what it adds or takes away moves nothing else.

use nacre_kernel::Time;
use nacre_kernel::state::{State, StateError, StateReader, StateWriter, Value};
use std::collections::VecDeque;

/// A span of the line without a job, in which one has room.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Gap {
    pub(super) from: Time,
    pub(super) to: Time,
    /// The place of the job before it on the line.
    pub(super) after: u32,
}

/// Gaps in order, apart from each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// Those before the place where the last search ended.
    before: VecDeque<Gap>,
    behind: VecDeque<Gap>,
}

impl Gaps {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Gap> {
        self.before.iter().chain(&self.behind)
    }

    #[inline]
    pub(super) fn first_mut(&mut self) -> Option<&mut Gap> {
        self.before.front_mut().or(self.behind.front_mut())
    }

    /// Adds `gap` before all others.
    pub(super) fn push_first(&mut self, gap: Gap) {
        self.before.push_front(gap);
    }

    /// Adds `gap` behind all others.
    #[inline]
    pub(super) fn push_last(&mut self, gap: Gap) {
        self.behind.push_back(gap);
    }

    /// Takes those away that end at `time` or before.
    #[inline]
    pub(super) fn forget_until(&mut self, time: Time) {
        let is_over = |gap: &Gap| gap.to <= time;
        while self.before.front().is_some_and(is_over) {
            self.before.pop_front();
        }
        while self.before.is_empty() && self.behind.front().is_some_and(is_over) {
            self.behind.pop_front();
        }
    }

    /// The first gap in which something that takes `duration` begins at `time` or later; the next search begins at it.
    #[inline]
    pub(super) fn first_fit(&mut self, time: Time, duration: Time) -> Option<Gap> {
        if self.behind.back().or(self.before.back())?.to <= time {
            return None;
        }
        while let Some(&gap) = self.before.back().filter(|gap| gap.to > time) {
            self.before.pop_back();
            self.behind.push_front(gap);
        }
        while let Some(&gap) = self.behind.front().filter(|gap| gap.to <= time) {
            self.behind.pop_front();
            self.before.push_back(gap);
        }
        let fits = |gap: &Gap| gap.from.max(time) + duration <= gap.to;
        let short = self.behind.iter().position(fits)?;
        self.before.extend(self.behind.drain(..short));
        self.behind.front().copied()
    }

    /// What is left of the gap that was found last takes its place: nothing, a gap or two.
    #[inline]
    pub(super) fn replace(&mut self, left: [Option<Gap>; 2]) {
        self.behind.pop_front();
        for gap in left.into_iter().rev().flatten() {
            self.behind.push_front(gap);
        }
    }
}

impl State for Gaps {
    fn save(&self, state: &mut StateWriter) {
        let all: VecDeque<Gap> = self.iter().copied().collect();
        all.save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        *self = Gaps { before: VecDeque::new(), behind: Value::read(state)? };
        Ok(())
    }
}
