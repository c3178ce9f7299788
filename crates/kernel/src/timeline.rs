//! Timelines: who holds a resource when.
//!
//! A [`Timeline`] is one server (a bus, a die, an arm). It keeps its recent busy intervals and fills
//! gaps: a cache fill reserved for +900 us does not delay a hit that arrives later in the program but
//! earlier in simulated time. A [`Pool`] is several equal servers behind one queue.

mod intervals;
mod state;

use crate::time::Time;
use intervals::Intervals;

pub use intervals::INTERVALS_MAX;

/// The reservations of one server.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    busy: Intervals,
    /// Nothing may be reserved before this.
    forgotten: Time,
    is_out_of_order: bool,
}

impl Timeline {
    /// A server that has never been busy.
    pub fn new() -> Timeline {
        Timeline::default()
    }

    /// The same of a server that is asked for in no order, but for times near each other: reserving is faster then.
    pub fn out_of_order() -> Timeline {
        Timeline { is_out_of_order: true, ..Timeline::default() }
    }

    /// Nothing is reserved any more, nor forgotten.
    pub fn clear(&mut self) {
        *self = Timeline { is_out_of_order: self.is_out_of_order, ..Timeline::default() };
    }

    /// Reserves the server for `duration` at the first moment it is free from `earliest` on, and
    /// returns that moment. An empty duration waits for a free moment and reserves nothing.
    #[inline(always)]
    pub fn reserve(&mut self, earliest: Time, duration: Time) -> Time {
        debug_assert!(earliest >= self.forgotten, "{earliest} was forgotten");
        if self.busy.last().0 <= earliest && !duration.is_zero() {
            self.busy.reserve_last(earliest, duration, self.forgotten)
        } else {
            self.reserve_in_gap(earliest, duration)
        }
    }

    /// The same where later reservations have been made, or for an empty duration.
    #[inline(never)]
    fn reserve_in_gap(&mut self, earliest: Time, duration: Time) -> Time {
        if duration.is_zero() {
            self.earliest_start(earliest, duration)
        } else if self.is_out_of_order {
            self.busy.reserve(earliest, duration, self.forgotten)
        } else {
            self.busy.reserve_next(earliest, duration, self.forgotten)
        }
    }

    /// Reserves the server for `duration` from `start` on, which [`Timeline::earliest_start`] has just named:
    /// for what needs several servers at one time.
    #[inline]
    pub fn reserve_at(&mut self, start: Time, duration: Time) {
        debug_assert_eq!(self.earliest_start(start, duration), start, "the server is not free");
        self.reserve(start, duration);
    }

    /// When a reservation of `duration` from `earliest` on would start.
    #[inline]
    pub fn earliest_start(&self, earliest: Time, duration: Time) -> Time {
        let (start, end) = self.busy.last();
        if start <= earliest {
            end.max(earliest)
        } else {
            self.busy.first_gap(earliest, duration.max(Time::from_ps(1)))
        }
    }

    /// When something of `duration` that begins at `start` ends, if it stands still while the server is reserved.
    #[inline]
    pub fn end_standing_still(&self, start: Time, duration: Time) -> Time {
        if self.busy.last().1 <= start {
            start + duration
        } else {
            self.busy.end_standing_still(start, duration)
        }
    }

    /// Reserves all free time from `start` on until it is `duration`: something stands still while the server is
    /// reserved. Returns when it ends.
    pub fn reserve_standing_still(&mut self, start: Time, duration: Time) -> Time {
        debug_assert!(start >= self.forgotten, "{start} was forgotten");
        let (mut at, mut left) = (start, duration);
        while !left.is_zero() {
            let (begin, end) = self.busy.free_span(at);
            let span = left.min(end - begin);
            self.busy.reserve_far(begin, span, self.forgotten);
            (at, left) = (begin + span, left - span);
        }
        at
    }

    /// Reserves what is free of the time from `from` to `to`; returns how much that is.
    pub fn reserve_rest(&mut self, from: Time, to: Time) -> Time {
        debug_assert!(from >= self.forgotten, "{from} was forgotten");
        let (mut at, mut rest) = (from, Time::ZERO);
        while at < to {
            let (begin, end) = self.busy.free_span(at);
            if begin >= to {
                break;
            }
            let span = end.min(to) - begin;
            self.busy.reserve_far(begin, span, self.forgotten);
            (at, rest) = (begin + span, rest + span);
        }
        rest
    }

    /// Forgets intervals that end at or before `time`; nothing may be reserved before it any more.
    #[inline]
    pub fn forget_before(&mut self, time: Time) {
        self.forgotten = time;
    }

    /// When the last reservation ends.
    #[inline]
    pub fn free_from(&self) -> Time {
        self.busy.last().1
    }

    /// How much of the time behind `at` is reserved.
    pub fn busy_after(&self, at: Time) -> Time {
        let live = self.busy.after(at).iter().filter(|&&(_, end)| end > at);
        live.fold(Time::ZERO, |sum, &(start, end)| sum + (end - start.max(at)))
    }

    /// Panics unless the intervals are ordered, apart and not empty.
    pub fn check_invariants(&self) {
        let intervals = self.busy.after(self.forgotten);
        assert!(intervals.len() <= INTERVALS_MAX, "{} intervals are too many", intervals.len());
        let mut before = None;
        for &(start, end) in intervals {
            assert!(start < end, "a busy interval is empty: {start} to {end}");
            assert!(before.is_none_or(|before| before < start), "busy twice at {start}");
            before = Some(end);
        }
    }
}

/// Servers of a pool that are compared at once.
const COMPARED: usize = 8;

/// Equal servers behind one queue: a reservation takes the one that can start first.
#[derive(Clone, Debug)]
pub struct Pool {
    servers: Vec<Timeline>,
    /// When each server's last reservation ends; beside each other, because every call looks at all. Filled up to a
    /// multiple of [`COMPARED`] with servers that are never free.
    ends: Vec<Time>,
    /// No server's last busy interval starts after this.
    latest_start: Time,
    /// When the last reservation of all ends.
    latest_end: Time,
    /// Nothing may be reserved before this. A server learns of it when it is taken.
    forgotten: Time,
}

/// When the last reservation of each of `servers` ends, and of servers that are never free up to a multiple of
/// [`COMPARED`].
fn ends_of(servers: &[Timeline]) -> Vec<Time> {
    let never = servers.len().next_multiple_of(COMPARED) - servers.len();
    servers.iter().map(Timeline::free_from).chain(std::iter::repeat_n(Time::MAX, never)).collect()
}

impl Pool {
    /// `servers` free servers; at least one.
    pub fn new(servers: u32) -> Pool {
        assert!(servers > 0, "a pool needs at least one server");
        let servers = vec![Timeline::new(); servers as usize];
        Pool {
            ends: ends_of(&servers),
            servers,
            latest_start: Time::ZERO,
            latest_end: Time::ZERO,
            forgotten: Time::ZERO,
        }
    }

    /// Reserves one server for `duration` as early as possible from `earliest` on; returns the start.
    ///
    /// Of servers that can start equally early the one with the lowest index is taken.
    #[inline]
    pub fn reserve(&mut self, earliest: Time, duration: Time) -> Time {
        if duration.is_zero() {
            self.reserve_behind(earliest, duration)
        } else if earliest >= self.latest_end {
            self.reserve_idle(earliest, duration);
            earliest
        } else if earliest < self.latest_start {
            self.reserve_in_gap(earliest, duration)
        } else {
            self.reserve_behind(earliest, duration)
        }
    }

    /// The same where all that was reserved has ended by `earliest`: the first server begins at once.
    fn reserve_idle(&mut self, earliest: Time, duration: Time) {
        let first = &mut self.servers[0];
        first.forget_before(self.forgotten);
        first.busy.reserve_last(earliest, duration, self.forgotten);
        self.latest_end = earliest + duration;
        self.ends[0] = self.latest_end;
        // Where it goes on from what it did before, its last interval starts earlier.
        self.latest_start = earliest;
    }

    /// The same where no later reservations have been made.
    fn reserve_behind(&mut self, earliest: Time, duration: Time) -> Time {
        let best = if earliest >= self.latest_start {
            self.first_to_end(earliest)
        } else {
            self.first_with_gap(earliest, duration)
        };
        let server = &mut self.servers[best];
        server.forget_before(self.forgotten);
        let start = server.reserve(earliest, duration);
        self.note(best);
        start
    }

    /// The same where later reservations have been made: mostly the first server is free between two of them.
    fn reserve_in_gap(&mut self, earliest: Time, duration: Time) -> Time {
        for (index, server) in self.servers.iter_mut().enumerate() {
            if server.busy.takes(earliest, duration, self.forgotten) {
                server.forget_before(self.forgotten);
                self.note(index);
                return earliest;
            }
        }
        let best = self.first_with_gap(earliest, duration);
        let server = &mut self.servers[best];
        server.forget_before(self.forgotten);
        let start = server.reserve(earliest, duration);
        self.note(best);
        start
    }

    /// Has one server work for `duration` as early as possible from `earliest` on; returns when that is done.
    ///
    /// A server that is free all the time begins at once. Where there is none, the one takes it that is done first, in all
    /// its free time: it turns to what was reserved before when the time of that comes, and goes on then. No server is
    /// idle while there is work.
    #[inline]
    pub fn work(&mut self, earliest: Time, duration: Time) -> Time {
        if earliest >= self.latest_start || duration.is_zero() {
            return self.reserve(earliest, duration) + duration;
        }
        for (index, server) in self.servers.iter_mut().enumerate() {
            if server.busy.takes(earliest, duration, self.forgotten) {
                server.forget_before(self.forgotten);
                self.note(index);
                return earliest + duration;
            }
        }
        self.work_standing_still(earliest, duration)
    }

    #[cold]
    fn work_standing_still(&mut self, earliest: Time, duration: Time) -> Time {
        let ends = self.servers.iter().map(|server| server.end_standing_still(earliest, duration));
        let first = ends.enumerate().min_by_key(|&(_, end)| end);
        let (best, _) = first.expect("a pool has a server");
        let server = &mut self.servers[best];
        server.forget_before(self.forgotten);
        let end = server.reserve_standing_still(earliest, duration);
        self.note(best);
        end
    }

    /// Notes when the last reservation of the server at `index` starts and ends.
    #[inline]
    fn note(&mut self, index: usize) {
        let (last_start, last_end) = self.servers[index].busy.last();
        self.ends[index] = last_end;
        self.latest_start = self.latest_start.max(last_start);
        self.latest_end = self.latest_end.max(last_end);
    }

    /// The server to take where no gap lies behind `earliest`: the first free one, or else the first of
    /// those that are free soonest.
    #[inline]
    fn first_to_end(&self, earliest: Time) -> usize {
        // Which one it is differs from one request to the next, and a processor guesses it wrong: several are compared
        // without a branch.
        for (part, ends) in self.ends.as_chunks::<COMPARED>().0.iter().enumerate() {
            let bits = ends.iter().enumerate().map(|(index, &end)| u32::from(end <= earliest) << index);
            let free = bits.fold(0, |all, bit| all | bit);
            if free != 0 {
                return part * COMPARED + free.trailing_zeros() as usize;
            }
        }
        let soonest = self.ends.iter().fold(Time::MAX, |soonest, &end| soonest.min(end));
        self.ends.iter().position(|&end| end == soonest).expect("one end is the soonest")
    }

    /// The first of the servers that can start soonest, with regard to gaps.
    #[cold]
    fn first_with_gap(&self, earliest: Time, duration: Time) -> usize {
        let (mut best, mut best_start) = (0, Time::MAX);
        for (index, server) in self.servers.iter().enumerate() {
            let start = server.earliest_start(earliest, duration);
            if start < best_start {
                (best, best_start) = (index, start);
                if start == earliest {
                    break;
                }
            }
        }
        best
    }

    /// Forgets what ended at or before `time`; nothing may be reserved before it any more.
    #[inline]
    pub fn forget_before(&mut self, time: Time) {
        self.forgotten = time;
    }

    /// When the last reservation of any server ends.
    pub fn free_from(&self) -> Time {
        self.latest_end
    }

    /// How much of all servers' time behind `at` is reserved.
    pub fn busy_after(&self, at: Time) -> Time {
        self.servers.iter().fold(Time::ZERO, |sum, server| sum + server.busy_after(at))
    }

    /// How many servers there are.
    pub fn len(&self) -> u32 {
        self.servers.len() as u32
    }

    /// Never: a pool has at least one server.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Panics unless every server's intervals are ordered and apart.
    pub fn check_invariants(&self) {
        for (server, &end) in self.servers.iter().zip(&self.ends) {
            server.check_invariants();
            let (last_start, last_end) = server.busy.last();
            assert_eq!(last_end, end, "the pool mistakes when a server is free");
            assert!(last_start <= self.latest_start, "the pool mistakes where gaps are");
        }
        let latest = self.ends[..self.servers.len()].iter().max();
        assert_eq!(latest, Some(&self.latest_end), "the pool mistakes when it is idle");
    }
}
