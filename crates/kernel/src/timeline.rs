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
    /// The last busy interval `[start, end)`; empty before the first reservation. Kept apart because
    /// almost every call needs it and no other.
    last: (Time, Time),
    /// The busy intervals before it.
    earlier: Intervals,
    /// Nothing may be reserved before this.
    forgotten: Time,
}

impl Timeline {
    /// A server that has never been busy.
    pub fn new() -> Timeline {
        Timeline::default()
    }

    /// Reserves the server for `duration` at the first moment it is free from `earliest` on, and
    /// returns that moment. An empty duration waits for a free moment and reserves nothing.
    #[inline]
    pub fn reserve(&mut self, earliest: Time, duration: Time) -> Time {
        let (last_start, last_end) = self.last;
        if last_start <= earliest {
            let start = last_end.max(earliest);
            if start == last_end {
                self.last.1 = start + duration;
            } else {
                self.occupy(start, duration);
            }
            start
        } else if duration.is_zero() {
            self.first_gap(earliest, Time::from_ps(1))
        } else {
            self.reserve_within(earliest, duration)
        }
    }

    /// Reserves the server for `duration` from `start` on, which [`Timeline::earliest_start`] has just named:
    /// for what needs several servers at one time.
    #[inline]
    pub fn reserve_at(&mut self, start: Time, duration: Time) {
        debug_assert_eq!(self.earliest_start(start, duration), start, "the server is not free");
        self.occupy(start, duration);
    }

    /// When a reservation of `duration` from `earliest` on would start.
    #[inline]
    pub fn earliest_start(&self, earliest: Time, duration: Time) -> Time {
        let (start, end) = self.last;
        if start <= earliest {
            end.max(earliest)
        } else {
            self.first_gap(earliest, duration.max(Time::from_ps(1)))
        }
    }

    /// Forgets intervals that end at or before `time`; nothing may be reserved before it any more.
    #[inline]
    pub fn forget_before(&mut self, time: Time) {
        self.forgotten = time;
        self.earlier.forget_before(time);
    }

    /// When the last reservation ends.
    pub fn free_from(&self) -> Time {
        self.last.1
    }

    /// Panics unless the intervals are ordered, apart and not empty.
    pub fn check_invariants(&self) {
        let earlier = self.earlier.as_slice();
        assert!(earlier.len() < INTERVALS_MAX, "{} intervals are too many", earlier.len() + 1);
        let mut before = None;
        let intervals = earlier.iter().chain((self.last != Default::default()).then_some(&self.last));
        for &(start, end) in intervals {
            assert!(start < end, "a busy interval is empty: {start} to {end}");
            assert!(before.is_none_or(|before| before < start), "busy twice at {start}");
            before = Some(end);
        }
    }

    /// Reserves the first gap of `duration`, for an `earliest` before the last interval. The search for the gap
    /// finds its neighbours too.
    #[inline(never)]
    fn reserve_within(&mut self, earliest: Time, duration: Time) -> Time {
        let (at, start) = self.earlier.first_gap(earliest, duration);
        if at == self.earlier.len() && start + duration > self.last.0 {
            let start = start.max(self.last.1);
            self.occupy(start, duration);
            return start;
        }
        self.occupy_before(at, start, start + duration);
        start
    }

    /// The first gap of `duration`, for an `earliest` before the last interval.
    #[inline(never)]
    fn first_gap(&self, earliest: Time, duration: Time) -> Time {
        let (at, start) = self.earlier.first_gap(earliest, duration);
        if at == self.earlier.len() && start + duration > self.last.0 {
            start.max(self.last.1)
        } else {
            start
        }
    }

    /// Marks `[start, start + duration)`, which is free, as busy, joining it to its neighbours.
    #[inline]
    fn occupy(&mut self, start: Time, duration: Time) {
        if duration.is_zero() {
            return;
        }
        let end = start + duration;
        if start == self.last.1 {
            self.last.1 = end;
        } else if start > self.last.1 {
            // An interval nobody may ask about any more needs no place.
            if self.last.1 > self.forgotten {
                self.earlier.push(self.last);
            }
            self.last = (start, end);
        } else {
            self.occupy_before(self.earlier.ended_by(start), start, end);
        }
    }

    /// Marks `[start, end)` as busy, which lies in the gap before interval `at`.
    #[inline(never)]
    fn occupy_before(&mut self, at: usize, start: Time, end: Time) {
        if at == self.earlier.len() && end == self.last.0 {
            let joined = at.checked_sub(1).map(|before| self.earlier.as_slice()[before]);
            match joined.filter(|&(_, to)| to == start) {
                Some((from, _)) => {
                    self.earlier.remove(at - 1);
                    self.last.0 = from;
                }
                None => self.last.0 = start,
            }
        } else {
            self.earlier.insert(at, start, end);
        }
    }
}

/// Equal servers behind one queue: a reservation takes the one that can start first.
#[derive(Clone, Debug)]
pub struct Pool {
    servers: Vec<Timeline>,
    /// When each server's last reservation ends; beside each other, because every call looks at all.
    ends: Vec<Time>,
    /// No server's last busy interval starts after this.
    latest_start: Time,
    /// Nothing may be reserved before this. A server learns of it when it is taken.
    forgotten: Time,
}

impl Pool {
    /// `servers` free servers; at least one.
    pub fn new(servers: u32) -> Pool {
        assert!(servers > 0, "a pool needs at least one server");
        let servers = servers as usize;
        Pool {
            servers: vec![Timeline::new(); servers],
            ends: vec![Time::ZERO; servers],
            latest_start: Time::ZERO,
            forgotten: Time::ZERO,
        }
    }

    /// Reserves one server for `duration` as early as possible from `earliest` on; returns the start.
    ///
    /// Of servers that can start equally early the one with the lowest index is taken.
    #[inline]
    pub fn reserve(&mut self, earliest: Time, duration: Time) -> Time {
        let best = if earliest >= self.latest_start {
            self.first_to_end(earliest)
        } else {
            self.first_with_gap(earliest, duration)
        };
        let server = &mut self.servers[best];
        server.forget_before(self.forgotten);
        let start = server.reserve(earliest, duration);
        self.ends[best] = server.last.1;
        self.latest_start = self.latest_start.max(server.last.0);
        start
    }

    /// The server to take where no gap lies behind `earliest`: the first free one, or else the first of
    /// those that are free soonest.
    #[inline]
    fn first_to_end(&self, earliest: Time) -> usize {
        if let Some(free) = self.ends.iter().position(|&end| end <= earliest) {
            return free;
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
        self.ends.iter().copied().max().expect("a pool has a server")
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
            assert_eq!(server.last.1, end, "the pool mistakes when a server is free");
            assert!(server.last.0 <= self.latest_start, "the pool mistakes where gaps are");
        }
    }
}
