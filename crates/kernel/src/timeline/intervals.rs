//! Busy intervals in a flat row, and the search among them.
//!
//! What is asked for lies mostly near the end of the row: the search walks there, and halves only what is far
//! from it.

use crate::time::Time;

/// Most busy intervals one timeline remembers. Past it, the oldest gap closes: a request can then
/// only be served later than possible, never at the same time as another.
pub const INTERVALS_MAX: usize = 1024;

/// Intervals at the end of the row that are looked at one after the other.
const NEAR: usize = 16;
/// Forgotten intervals that may stand at the front of the row before it moves up.
const FORGOTTEN: usize = 32;

/// Busy intervals `[start, end)`, in order, neither touching nor overlapping; fewer than [`INTERVALS_MAX`].
#[derive(Clone, Debug, Default)]
pub(super) struct Intervals {
    /// Those from `first` on; the ones before are forgotten.
    row: Vec<(Time, Time)>,
    first: usize,
}

impl From<Vec<(Time, Time)>> for Intervals {
    fn from(row: Vec<(Time, Time)>) -> Intervals {
        Intervals { row, first: 0 }
    }
}

impl Intervals {
    #[inline]
    pub(super) fn as_slice(&self) -> &[(Time, Time)] {
        &self.row[self.first..]
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.row.len() - self.first
    }

    /// The first gap of `duration` from `earliest` on, given that nothing is busy behind the last interval: the
    /// interval behind the gap, and where the reservation starts.
    #[inline]
    pub(super) fn first_gap(&self, earliest: Time, duration: Time) -> (usize, Time) {
        let (mut at, mut start) = (self.ended_by(earliest), earliest);
        for &(busy_from, busy_to) in &self.as_slice()[at..] {
            if start + duration <= busy_from {
                break;
            }
            start = start.max(busy_to);
            at += 1;
        }
        (at, start)
    }

    /// How many intervals end at or before `time`.
    #[inline]
    pub(super) fn ended_by(&self, time: Time) -> usize {
        let row = self.as_slice();
        match row.len().checked_sub(NEAR) {
            Some(far) if row[far].1 > time => row[..far].partition_point(|&(_, end)| end <= time),
            _ => row.len() - row.iter().rev().take_while(|&&(_, end)| end > time).count(),
        }
    }

    /// Adds `last`, which begins behind all others.
    #[inline]
    pub(super) fn push(&mut self, last: (Time, Time)) {
        self.row.push(last);
        self.close_oldest_gap();
    }

    /// Adds `[start, end)`, which lies in the gap before interval `at`, joining it to its neighbours.
    #[inline]
    pub(super) fn insert(&mut self, at: usize, start: Time, end: Time) {
        let at = self.first + at;
        let joins_before = at > self.first && self.row[at - 1].1 == start;
        let joins_behind = self.row.get(at).is_some_and(|&(from, _)| from == end);
        match (joins_before, joins_behind) {
            (false, false) => {
                self.make_place(at, (start, end));
                self.close_oldest_gap();
            }
            (false, true) => self.row[at].0 = start,
            (true, false) => self.row[at - 1].1 = end,
            (true, true) => {
                self.row[at - 1].1 = self.row[at].1;
                self.close_place(at);
            }
        }
    }

    /// Takes interval `at` out.
    pub(super) fn remove(&mut self, at: usize) {
        self.close_place(self.first + at);
    }

    /// Puts `interval` into the row before place `at`: what is nearer, before it or behind it, moves.
    #[inline]
    fn make_place(&mut self, at: usize, interval: (Time, Time)) {
        if self.first > 0 && at - self.first < self.row.len() - at {
            self.row.copy_within(self.first..at, self.first - 1);
            self.first -= 1;
            self.row[at - 1] = interval;
        } else {
            self.row.insert(at, interval);
        }
    }

    /// Takes place `at` out of the row.
    #[inline]
    fn close_place(&mut self, at: usize) {
        if at - self.first < self.row.len() - at {
            self.row.copy_within(self.first..at, self.first + 1);
            self.first += 1;
            self.move_up();
        } else {
            self.row.remove(at);
        }
    }

    /// Forgets those that end at or before `time`.
    #[inline]
    pub(super) fn forget_before(&mut self, time: Time) {
        let before = self.first;
        while self.row.get(self.first).is_some_and(|&(_, end)| end <= time) {
            self.first += 1;
        }
        if self.first != before {
            self.move_up();
        }
    }

    /// Keeps their number bounded.
    #[inline]
    fn close_oldest_gap(&mut self) {
        if self.len() == INTERVALS_MAX {
            self.row[self.first + 1].0 = self.row[self.first].0;
            self.first += 1;
            self.move_up();
        }
    }

    /// Gives the places of forgotten intervals back when they are many.
    #[inline]
    fn move_up(&mut self) {
        if self.first == self.row.len() {
            self.row.clear();
            self.first = 0;
        } else if self.first >= FORGOTTEN && self.first >= self.row.len() / 2 {
            self.row.drain(..self.first);
            self.first = 0;
        }
    }
}
