//! Busy intervals in a flat row, and the search among them.
//!
//! What is asked for lies mostly near the end of the row, but how near differs from one request to the next, and
//! a processor guesses it wrong. So the nearest intervals are compared, and moved, all of them without a branch;
//! only what is far from the end is searched for.

use crate::time::Time;
use std::hint::select_unpredictable;

/// A busy interval `[start, end)`.
pub(super) type Interval = (Time, Time);

/// Most busy intervals one timeline remembers. Past it, the oldest gap closes: a request can then
/// only be served later than possible, never at the same time as another.
pub const INTERVALS_MAX: usize = 1024;

/// Intervals at the end of the row that are compared, and moved, all at once.
const NEAR: usize = 12;
/// Places that are looked at: the nearest intervals, and what they are moved over.
const WINDOW: usize = 32;
/// The same that is tried before: behind what a cache is asked for lie only its fills under way.
const NEXT: usize = 4;
const NEXT_WINDOW: usize = 16;
/// Intervals that are moved at once, in registers; a copy of many would be a call. Both numbers above are multiples.
const MOVED: usize = 4;
/// Places for intervals in a new row.
const PLACES: usize = 14;
/// What stands before the intervals: nothing, which ended before anything was asked for.
const NOTHING: Interval = (Time::ZERO, Time::ZERO);
/// What stands behind them: the end of every search.
const NEVER: Interval = (Time::MAX, Time::MAX);

/// Busy intervals, in order, neither touching nor overlapping; no more than [`INTERVALS_MAX`].
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    /// [`NEAR`] times [`NOTHING`], the intervals, [`NEVER`], and places whose contents mean nothing: so many that
    /// there is a [`WINDOW`] from [`NEAR`] before the end on. Empty before the first reservation.
    row: Vec<Interval>,
    /// Where the intervals begin in the row. Some of the first may be forgotten.
    first: usize,
    /// Where they end.
    end: usize,
    /// Where the row is full.
    limit: usize,
}

impl Default for Intervals {
    fn default() -> Intervals {
        Intervals { row: Vec::new(), first: NEAR, end: NEAR, limit: NEAR }
    }
}

impl Intervals {
    /// These intervals; one that is empty stands for none.
    pub(super) fn of(intervals: &[Interval]) -> Intervals {
        let mut all = Intervals::default();
        all.begin();
        for &interval in intervals.iter().filter(|(start, end)| start < end) {
            all.insert(all.end, interval, Time::ZERO);
        }
        all
    }

    /// Those that end after `forgotten`, and the last one in any case.
    pub(super) fn after(&self, forgotten: Time) -> &[Interval] {
        let all = self.row.get(self.first..self.end).unwrap_or_default();
        let over = all.partition_point(|&(_, end)| end <= forgotten);
        &all[over.min(all.len().saturating_sub(1))..]
    }

    /// The last one.
    #[inline]
    pub(super) fn last(&self) -> Interval {
        self.row.get(self.end - 1).copied().unwrap_or(NOTHING)
    }

    /// Reserves `duration` from `earliest` on, which does not lie before the last one; gives where it starts.
    #[inline]
    pub(super) fn reserve_last(&mut self, earliest: Time, duration: Time, forgotten: Time) -> Time {
        let Some(near) = self.row.get_mut(self.end - 1..).and_then(|row| row.first_chunk_mut::<4>()) else {
            return self.reserve_far(earliest, duration, forgotten);
        };
        let last = near[0];
        let start = last.1.max(earliest);
        let is_any = self.end > self.first;
        // Whether it waits is not to be guessed by a processor.
        let joins = is_any & (start == last.1);
        // An interval nobody may ask about any more needs no place.
        let replaces = joins | (is_any & (last.1 <= forgotten));
        let place = usize::from(!replaces);
        near[place] = (select_unpredictable(joins, last.0, start), start + duration);
        near[place + 1] = NEVER;
        self.end += place;
        if self.end == self.limit {
            self.settle(forgotten);
        }
        start
    }

    /// Reserves the first gap of `duration` from `earliest` on; gives where it starts.
    #[inline(always)]
    pub(super) fn reserve(&mut self, earliest: Time, duration: Time, forgotten: Time) -> Time {
        self.reserve_near::<NEAR, WINDOW>(earliest, duration, forgotten)
            .unwrap_or_else(|| self.reserve_far(earliest, duration, forgotten))
    }

    /// The same where few intervals lie behind `earliest` mostly.
    #[inline(always)]
    pub(super) fn reserve_next(&mut self, earliest: Time, duration: Time, forgotten: Time) -> Time {
        self.reserve_near::<NEXT, NEXT_WINDOW>(earliest, duration, forgotten)
            .unwrap_or_else(|| self.reserve_behind_next(earliest, duration, forgotten))
    }

    #[inline(never)]
    fn reserve_behind_next(&mut self, earliest: Time, duration: Time, forgotten: Time) -> Time {
        self.reserve(earliest, duration, forgotten)
    }

    /// Reserves the first gap of `duration` from `earliest` on if it is near the end of the row, and touches nothing
    /// behind it.
    #[inline(always)]
    fn reserve_near<const NEAREST: usize, const LOOKED: usize>(
        &mut self,
        earliest: Time,
        duration: Time,
        forgotten: Time,
    ) -> Option<Time> {
        let (near, at) = self.near::<NEAREST, LOOKED>(earliest)?;
        let (busy_from, busy_to) = near[at % LOOKED];
        let waits = earliest + duration > busy_from;
        let start = select_unpredictable(waits, busy_to, earliest);
        let at = at + usize::from(waits);
        let (behind, end) = (near[at % LOOKED].0, start + duration);
        if end < behind {
            self.insert_near::<NEAREST, LOOKED>(at, (start, end), forgotten);
            return Some(start);
        }
        // It waits for another one too, which is rare.
        if end > behind {
            return None;
        }
        self.join_behind(self.end - NEAREST + at, start);
        Some(start)
    }

    /// Reserves `duration` from `earliest` on if nothing is busy then; says whether it did.
    #[inline]
    pub(super) fn takes(&mut self, earliest: Time, duration: Time, forgotten: Time) -> bool {
        self.takes_near::<NEXT, NEXT_WINDOW>(earliest, duration, forgotten)
            .unwrap_or_else(|| self.takes_behind_next(earliest, duration, forgotten))
    }

    #[inline(never)]
    fn takes_behind_next(&mut self, earliest: Time, duration: Time, forgotten: Time) -> bool {
        if let Some(takes) = self.takes_near::<NEAR, WINDOW>(earliest, duration, forgotten) {
            return takes;
        }
        let is_free = self.first_gap(earliest, duration) == earliest;
        if is_free {
            self.reserve_far(earliest, duration, forgotten);
        }
        is_free
    }

    /// The same of what is near the end of the row, and touches nothing.
    #[inline(always)]
    fn takes_near<const NEAREST: usize, const LOOKED: usize>(
        &mut self,
        earliest: Time,
        duration: Time,
        forgotten: Time,
    ) -> Option<bool> {
        let end = earliest + duration;
        let (near, at) = self.near::<NEAREST, LOOKED>(earliest)?;
        let busy_from = near[at % LOOKED].0;
        if end < busy_from {
            self.insert_near::<NEAREST, LOOKED>(at, (earliest, end), forgotten);
            return Some(true);
        }
        (end > busy_from).then_some(false)
    }

    /// The last `NEAREST` intervals of the row with what lies behind them, and which of them is the first that ends after
    /// `time`; none if that one may lie before them.
    #[inline(always)]
    fn near<const NEAREST: usize, const LOOKED: usize>(
        &self,
        time: Time,
    ) -> Option<(&[Interval; LOOKED], usize)> {
        let near = self.row.get(self.end - NEAREST..)?.first_chunk::<LOOKED>()?;
        if near[0].1 > time {
            return None;
        }
        let later = near[1..NEAREST].iter().map(|&(_, end)| usize::from(end > time)).sum::<usize>();
        Some((near, NEAREST - later))
    }

    /// Adds `interval` before place `at` of the last `NEAREST` intervals, which it does not touch.
    #[inline(always)]
    fn insert_near<const NEAREST: usize, const LOOKED: usize>(
        &mut self,
        at: usize,
        interval: Interval,
        forgotten: Time,
    ) {
        let base = self.end - NEAREST;
        let is_any = usize::from(base + at > self.first);
        let near = self.row[base..].first_chunk_mut::<LOOKED>().expect("there is a window");
        let before = near[(at - 1) % LOOKED];
        let joins = usize::from(before.1 == interval.0) & is_any;
        // Where it joins the one before, what follows is moved to where it is.
        let place = at - joins;
        for part in (0..NEAREST / MOVED).rev() {
            let from = at + part * MOVED;
            let moved: [Interval; MOVED] = *near[from % LOOKED..].first_chunk().expect("there is room");
            *near[(from + 1 - joins) % LOOKED..].first_chunk_mut().expect("there is room") = moved;
        }
        near[place % LOOKED] = (select_unpredictable(joins != 0, before.0, interval.0), interval.1);
        self.end += 1 - joins;
        if self.end == self.limit {
            self.settle(forgotten);
        }
    }

    /// The same with a search: for gaps that may be far from the end.
    #[inline(never)]
    pub(super) fn reserve_far(&mut self, earliest: Time, duration: Time, forgotten: Time) -> Time {
        if self.row.is_empty() {
            self.begin();
        }
        self.forget(forgotten);
        let (at, start) = self.gap(earliest, duration);
        if start + duration == self.row[at].0 && at < self.end {
            self.join_behind(at, start);
        } else {
            self.insert(at, (start, start + duration), forgotten);
        }
        start
    }

    /// Those that end at or before `forgotten` are left behind, but for the last one. A row that is full loses few at a
    /// time, which a search would take longer to find.
    #[inline]
    fn forget(&mut self, forgotten: Time) {
        while self.first + 1 < self.end && self.row[self.first].1 <= forgotten {
            self.first += 1;
        }
    }

    /// Where the first gap of `duration` from `earliest` on starts.
    pub(super) fn first_gap(&self, earliest: Time, duration: Time) -> Time {
        if self.row.is_empty() { earliest } else { self.gap(earliest, duration).1 }
    }

    /// When something of `duration` that begins at `start` ends, if it stands still during the intervals.
    #[inline(never)]
    pub(super) fn end_standing_still(&self, start: Time, duration: Time) -> Time {
        let behind = &self.row[self.ended_by(start)..self.end];
        let mut end = start + duration;
        for &(from, to) in behind {
            if from >= end {
                break;
            }
            end += to - from.max(start);
        }
        end
    }

    /// The first free time from `from` on: when it begins and ends.
    pub(super) fn free_span(&self, from: Time) -> Interval {
        if self.row.is_empty() {
            return (from, Time::MAX);
        }
        let (at, start) = self.gap(from, Time::from_ps(1));
        (start, self.row[at].0)
    }

    /// The place behind the first gap of `duration` from `earliest` on, and where it starts.
    #[inline]
    fn gap(&self, earliest: Time, duration: Time) -> (usize, Time) {
        let at = self.ended_by(earliest);
        let row = &self.row[at..=self.end];
        if earliest + duration <= row[0].0 {
            return (at, earliest);
        }
        let mut gaps = row[1..].iter().zip(row).map(|(behind, before)| behind.0 - before.1);
        let before = gaps.position(|gap| gap >= duration).expect("nothing is busy behind the last");
        (at + before + 1, row[before].1)
    }

    /// The place of the first interval that ends after `time`.
    #[inline]
    fn ended_by(&self, time: Time) -> usize {
        let row = self.row.get(self.first..self.end).unwrap_or_default();
        match row.len().checked_sub(NEAR) {
            Some(far) if row[far].1 > time => {
                self.first + row[..far].partition_point(|&(_, end)| end <= time)
            }
            _ => self.end - row.iter().rev().take_while(|&&(_, end)| end > time).count(),
        }
    }

    /// Adds `interval`, which lies in the gap before place `at` and does not touch what is there: what is nearer,
    /// before it or behind it, moves.
    #[inline]
    fn insert(&mut self, at: usize, interval: Interval, forgotten: Time) {
        if at > self.first && self.row[at - 1].1 == interval.0 {
            self.row[at - 1].1 = interval.1;
            return;
        }
        if self.first > NEAR && at - self.first < self.end - at {
            self.row.copy_within(self.first..at, self.first - 1);
            self.row[at - 1] = interval;
            self.first -= 1;
            self.limit = self.limit.min(self.first + INTERVALS_MAX + 1);
        } else {
            self.row.copy_within(at..self.end + 1, at + 1);
            self.row[at] = interval;
            self.end += 1;
        }
        if self.end == self.limit {
            self.settle(forgotten);
        }
    }

    /// What reaches from `start` to the interval at `at` becomes part of it. Where all that is served takes the same times, that
    /// is not rare.
    #[inline(never)]
    fn join_behind(&mut self, at: usize, start: Time) {
        let (from, to) = self.row[at - 1];
        if to == start && at > self.first {
            self.row[at].0 = from;
            self.row.copy_within(at..self.end + 1, at - 1);
            self.end -= 1;
        } else {
            self.row[at].0 = start;
        }
    }

    /// Makes the first row.
    #[cold]
    fn begin(&mut self) {
        self.row = vec![NOTHING; PLACES + WINDOW];
        self.row[NEAR] = NEVER;
        self.limit = NEAR + PLACES;
    }

    /// Gives the places of those back that end at or before `forgotten`, or makes the row longer, or closes the
    /// oldest gap.
    #[cold]
    fn settle(&mut self, forgotten: Time) {
        self.forget(forgotten);
        if self.end - self.first > INTERVALS_MAX {
            self.row[self.first + 1].0 = self.row[self.first].0;
            self.first += 1;
        }
        let places = self.row.len() - WINDOW;
        if self.end - NEAR == places {
            if 2 * (self.end - self.first) > places {
                self.row.resize(2 * places + WINDOW, NOTHING);
            }
            self.row.copy_within(self.first..self.end + 1, NEAR);
            self.end -= self.first - NEAR;
            self.first = NEAR;
        }
        self.limit = (self.first + INTERVALS_MAX + 1).min(self.row.len() - WINDOW + NEAR);
    }
}
