//! A die: one operation at a time, reads of the host before all others.
//!
//! Programs, erases and copies run on the die's own clock, which stands still while reads of the host take
//! the die. What such a read takes is added to `stolen`: a time of this clock and that sum are a moment of
//! simulated time. So a read delays everything behind it without touching it.

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Time, Timeline};
use std::collections::VecDeque;

/// One program, erase or copy on the die's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
struct Busy {
    start: Time,
    end: Time,
    /// The number of a program over all superblocks; `None` for what is no program.
    program: Option<u32>,
    may_suspend: bool,
}

/// How a die suspends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspending {
    /// Time to suspend; `None` where nothing is ever suspended.
    pub(super) suspend: Option<Time>,
    pub(super) resume: Time,
    pub(super) most: u32,
}

/// What is being suspended, how often it was, and until when its die is not resumed.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Suspended {
    start: Time,
    count: u32,
    until: Time,
}

/// When a read of the host has the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) start: Time,
    /// Of the time before, what suspending took.
    pub(super) suspending: Time,
    /// Whether it suspended something.
    pub(super) has_suspended: bool,
}

/// What the die does when.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Die {
    /// The channel it lies on.
    #[state(skip = "from the configuration")]
    pub(super) channel: u32,
    reads: Timeline,
    stolen: Time,
    /// In order, apart from each other.
    work: VecDeque<Busy>,
    /// Between these there is no gap.
    packed: (Time, Time),
    suspended: Suspended,
}

impl Die {
    /// A die on `channel` that never did anything.
    pub(super) fn on(channel: u32) -> Die {
        Die { channel, ..Die::default() }
    }

    /// The die's clock at `at`.
    #[inline]
    fn clock(&self, at: Time) -> Time {
        at.saturating_sub(self.stolen)
    }

    /// The simulated time of `clock`, as far as is known.
    #[inline]
    pub(super) fn time_of(&self, clock: Time) -> Time {
        clock + self.stolen
    }

    /// When all it has to do so far is done.
    #[inline]
    pub(super) fn free_from(&self) -> Time {
        let last = self.work.back().map_or(Time::ZERO, |busy| self.time_of(busy.end));
        last.max(self.reads.free_from())
    }

    /// When the operation that is last of all began: from then on the next one's data may come in.
    #[inline]
    pub(super) fn last_start(&self) -> Time {
        self.work.back().map_or(Time::ZERO, |busy| self.time_of(busy.start))
    }

    /// Reserves the die for `duration`, in the first gap from `ready` on; gives the end on the die's clock.
    pub(super) fn work(
        &mut self,
        ready: Time,
        duration: Time,
        program: Option<u32>,
        may_suspend: bool,
    ) -> Time {
        let earliest = self.clock(self.reads.earliest_start(ready, Time::ZERO));
        let last = self.work.back().map_or(Time::ZERO, |busy| busy.end);
        if last <= earliest {
            let end = earliest + duration;
            self.work.push_back(Busy { start: earliest, end, program, may_suspend });
            return end;
        }
        let is_in_packed = self.packed.0 <= earliest && earliest < self.packed.1;
        let (from, mut start) = if is_in_packed { self.packed } else { (earliest, earliest) };
        let mut at = self.work.partition_point(|busy| busy.end <= start);
        let mut is_packed = true;
        while let Some(busy) = self.work.get(at).filter(|busy| start + duration > busy.start) {
            is_packed &= busy.start <= start;
            start = start.max(busy.end);
            at += 1;
        }
        let end = start + duration;
        if is_packed {
            self.packed = (from, end);
        }
        self.work.insert(at, Busy { start, end, program, may_suspend });
        end
    }

    /// Reserves the die for a read of the host that takes `duration`, before everything that has not begun.
    #[inline(always)]
    pub(super) fn read(&mut self, at: Time, duration: Time, how: &Suspending) -> Turn {
        if self.work.is_empty() && self.suspended.until <= at {
            self.stolen += duration;
            let start = self.reads.reserve(at, duration);
            return Turn { start, suspending: Time::ZERO, has_suspended: false };
        }
        self.read_before(at, duration, how)
    }

    /// The same where something is under way, or has been suspended.
    #[inline(never)]
    fn read_before(&mut self, at: Time, duration: Time, how: &Suspending) -> Turn {
        let free = self.reads.earliest_start(at, duration);
        self.forget(free);
        let clock = self.clock(free);
        let current = self.work.front().filter(|busy| busy.start < clock).copied();
        let mut turn = Turn { start: free, suspending: Time::ZERO, has_suspended: false };
        let mut resume = Time::ZERO;
        if let Some(current) = current {
            let is_same = self.suspended.start == current.start && self.suspended.count > 0;
            let count = if is_same { self.suspended.count } else { 0 };
            let is_suspended = is_same && at < self.suspended.until;
            match how.suspend {
                // The die is not resumed before this read either.
                Some(_) if is_suspended => {}
                Some(suspend) if current.may_suspend && count < how.most => {
                    turn = Turn { start: free + suspend, suspending: suspend, has_suspended: true };
                    resume = how.resume;
                    self.suspended.start = current.start;
                    self.suspended.count = count + 1;
                }
                _ => turn.start = self.time_of(current.end),
            }
        }
        if turn.start == free {
            self.reads.reserve_at(free, duration);
        } else {
            // Suspending takes the die too; what is left is the read's.
            let begin = turn.start.saturating_sub(turn.suspending);
            turn.start = self.reads.reserve(begin, turn.suspending + duration) + turn.suspending;
        }
        self.stolen += turn.suspending + duration + resume;
        if !turn.suspending.is_zero() || self.suspended.until > at {
            self.suspended.until = turn.start + duration;
        }
        turn
    }

    /// Reads go in their turn, behind what was reserved before.
    #[inline]
    pub(super) fn read_in_turn(&mut self, at: Time, duration: Time) -> Turn {
        let end = self.work(at, duration, None, false);
        let start = self.time_of(end).saturating_sub(duration);
        Turn { start, suspending: Time::ZERO, has_suspended: false }
    }

    /// The die keeps what it read until `until`.
    #[inline]
    pub(super) fn hold(&mut self, from: Time, until: Time) {
        if until > from && self.reads.earliest_start(from, until - from) == from {
            self.reads.reserve(from, until - from);
            self.stolen += until - from;
        }
    }

    /// Whether `program` is yet to end at `now`.
    #[inline]
    pub(super) fn is_programming(&self, now: Time, program: u32) -> bool {
        if self.work.is_empty() {
            return false;
        }
        let clock = self.clock(now);
        self.work.iter().rev().any(|busy| busy.program == Some(program) && busy.end > clock)
    }

    /// Forgets what ended before `now`.
    #[inline]
    fn forget(&mut self, now: Time) {
        let clock = self.clock(now);
        while self.work.front().is_some_and(|busy| busy.end <= clock) {
            self.work.pop_front();
        }
    }

    /// No read comes before `now` any more.
    pub(super) fn forget_before(&mut self, now: Time) {
        self.reads.forget_before(now);
        self.forget(now);
    }

    /// Panics unless the die does one thing at a time.
    pub(super) fn check_invariants(&self) {
        self.reads.check_invariants();
        let mut last = Time::ZERO;
        for busy in &self.work {
            assert!(last <= busy.start && busy.start < busy.end, "a die works twice at {}", busy.start);
            last = busy.end;
        }
    }
}
