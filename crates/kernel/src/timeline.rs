//! Timelines: who holds a resource when.
//!
//! A [`Timeline`] is one server (a bus, a die, an arm). It keeps its recent busy intervals and fills
//! gaps: a cache fill reserved for +900 us does not delay a hit that arrives later in the program but
//! earlier in simulated time. A [`Pool`] is several equal servers behind one queue.

use crate::time::Time;
use std::collections::VecDeque;

/// Most busy intervals one timeline remembers. Past it, the oldest gap closes: a request can then
/// only be served later than possible, never at the same time as another.
pub const INTERVALS_MAX: usize = 1024;

/// The reservations of one server.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Busy intervals `[start, end)`, in order, neither touching nor overlapping.
    busy: VecDeque<(Time, Time)>,
}

impl Timeline {
    /// A server that has never been busy.
    pub fn new() -> Timeline {
        Timeline::default()
    }

    /// Reserves the server for `duration` at the first moment it is free from `earliest` on, and
    /// returns that moment. An empty duration reserves nothing.
    #[inline]
    pub fn reserve(&mut self, earliest: Time, duration: Time) -> Time {
        let start = self.earliest_start(earliest, duration);
        self.occupy(start, duration);
        start
    }

    /// When a reservation of `duration` from `earliest` on would start.
    #[inline]
    pub fn earliest_start(&self, earliest: Time, duration: Time) -> Time {
        match self.busy.back() {
            None => earliest,
            Some(&(_, end)) if end <= earliest => earliest,
            Some(_) => self.first_gap(earliest, duration),
        }
    }

    /// Forgets intervals that end at or before `time`; nothing may be reserved before it any more.
    #[inline]
    pub fn forget_before(&mut self, time: Time) {
        while self.busy.front().is_some_and(|&(_, end)| end <= time) {
            self.busy.pop_front();
        }
    }

    /// When the last reservation ends.
    pub fn free_from(&self) -> Time {
        self.busy.back().map_or(Time::ZERO, |&(_, end)| end)
    }

    /// Panics unless the intervals are ordered, apart and not empty.
    pub fn check_invariants(&self) {
        let mut last = None;
        for &(start, end) in &self.busy {
            assert!(start < end, "a busy interval is empty: {start} to {end}");
            assert!(last.is_none_or(|last| last < start), "busy twice at {start}");
            last = Some(end);
        }
    }

    fn first_gap(&self, earliest: Time, duration: Time) -> Time {
        let from = self.busy.partition_point(|&(_, end)| end <= earliest);
        let mut start = earliest;
        for &(busy_from, busy_to) in self.busy.range(from..) {
            if start + duration <= busy_from {
                return start;
            }
            start = start.max(busy_to);
        }
        start
    }

    /// Marks `[start, start + duration)`, which is free, as busy, joining it to its neighbours.
    #[inline]
    fn occupy(&mut self, start: Time, duration: Time) {
        if duration.is_zero() {
            return;
        }
        let end = start + duration;
        match self.busy.back_mut() {
            Some(last) if last.1 == start => last.1 = end,
            Some(last) if last.1 > start => self.occupy_within(start, end),
            _ => self.busy.push_back((start, end)),
        }
        if self.busy.len() > INTERVALS_MAX {
            let (oldest, _) = self.busy.pop_front().expect("more than INTERVALS_MAX intervals");
            self.busy[0].0 = oldest;
        }
    }

    fn occupy_within(&mut self, start: Time, end: Time) {
        let at = self.busy.partition_point(|&(busy_from, _)| busy_from < start);
        let joins_next = self.busy[at].0 == end;
        let joins_last = at > 0 && self.busy[at - 1].1 == start;
        match (joins_last, joins_next) {
            (true, true) => {
                self.busy[at - 1].1 = self.busy[at].1;
                self.busy.remove(at);
            }
            (true, false) => self.busy[at - 1].1 = end,
            (false, true) => self.busy[at].0 = start,
            (false, false) => self.busy.insert(at, (start, end)),
        }
    }
}

/// Equal servers behind one queue: a reservation takes the one that can start first.
#[derive(Clone, Debug)]
pub struct Pool {
    servers: Vec<Timeline>,
    /// Reservations since the pool last forgot.
    fresh: usize,
}

impl Pool {
    /// `servers` free servers; at least one.
    pub fn new(servers: u32) -> Pool {
        assert!(servers > 0, "a pool needs at least one server");
        Pool { servers: vec![Timeline::new(); servers as usize], fresh: 0 }
    }

    /// Reserves one server for `duration` as early as possible from `earliest` on; returns the start.
    ///
    /// Of servers that can start equally early the one with the lowest index is taken.
    #[inline]
    pub fn reserve(&mut self, earliest: Time, duration: Time) -> Time {
        let mut best = 0;
        let mut best_start = Time::MAX;
        for (index, server) in self.servers.iter().enumerate() {
            let start = server.earliest_start(earliest, duration);
            if start < best_start {
                (best, best_start) = (index, start);
                if start == earliest {
                    break;
                }
            }
        }
        self.servers[best].occupy(best_start, duration);
        self.fresh += 1;
        best_start
    }

    /// Forgets what ended at or before `time`; nothing may be reserved before it any more.
    ///
    /// It may put this off until there are about as many reservations to forget as servers, so that a
    /// call between any two requests costs next to nothing.
    #[inline]
    pub fn forget_before(&mut self, time: Time) {
        if self.fresh >= self.servers.len().min(INTERVALS_MAX / 4) {
            self.fresh = 0;
            self.servers.iter_mut().for_each(|server| server.forget_before(time));
        }
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
        self.servers.iter().for_each(Timeline::check_invariants);
    }
}
