//! Work that was charged when it was asked for and may not have ended: what a loss of power cancels of it.
//!
//! A device says when a request is done as soon as it comes, and charges the time of its resources then. When the power
//! fails, what waits has not been done, and is charged to nothing. Kept by devices that carry bytes, since only these
//! lose power.

use crate::activity::Activity;
use crate::state::{State, Value};
use crate::time::Time;
use std::collections::VecDeque;

/// Pieces of work in the order in which they were asked for.
#[derive(Clone, Debug, Default, State)]
pub struct UnderWay {
    pieces: VecDeque<Piece>,
}

#[derive(Clone, Copy, Debug, Value)]
struct Piece {
    activity: Activity,
    begin: Time,
    end: Time,
    operations: Operations,
}

/// Operations of a medium that begin with a piece of work, by the number of their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Operations {
    /// Which.
    pub kind: u32,
    /// How many.
    pub count: u32,
}

/// What was not done of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// What it was charged to.
    pub activity: Activity,
    /// Of its time, what was left.
    pub time: Time,
    /// All its time.
    pub of: Time,
    /// Operations that began with it, or would have.
    pub operations: Operations,
}

impl Cancelled {
    /// Whether it had not begun.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.time == self.of
    }
}

impl UnderWay {
    /// A resource works from `begin` to `end`, and these operations of its medium begin then.
    #[inline]
    pub fn add(&mut self, activity: Activity, begin: Time, end: Time, operations: Operations) {
        if begin < end {
            self.pieces.push_back(Piece { activity, begin, end, operations });
        }
    }

    /// No loss of power comes before `time`. What ended by then leaves when nothing before it is under way.
    #[inline]
    pub fn settle(&mut self, time: Time) {
        while self.pieces.front().is_some_and(|piece| piece.end <= time) {
            self.pieces.pop_front();
        }
    }

    /// What was charged is in nobody's books any more.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Stored energy finishes what was charged to `activity` and ends by `until`.
    pub fn finish(&mut self, activity: Activity, until: Time) {
        self.pieces.retain(|piece| piece.activity != activity || piece.end > until);
    }

    /// The power fails at `at`: what is not done, in the order in which it was asked for. Nothing is under way
    /// afterwards.
    pub fn cancel(&mut self, at: Time) -> impl Iterator<Item = Cancelled> + use<> {
        let open = std::mem::take(&mut self.pieces).into_iter().filter(move |piece| piece.end > at);
        open.map(move |Piece { activity, begin, end, operations }| Cancelled {
            activity,
            time: end - begin.max(at),
            of: end - begin,
            operations,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_stays_and_what_did_not_is_cancelled_from_the_moment_on() {
        let us = Time::from_us;
        let one = |kind| Operations { kind, count: 1 };
        let mut work = UnderWay::default();
        work.add(Activity::Read, us(0), us(10), one(1));
        work.add(Activity::Write, us(30), us(40), one(2));
        work.add(Activity::Read, us(5), us(25), one(3));
        work.add(Activity::Read, us(7), us(7), one(4));
        work.add(Activity::Drain, us(20), us(30), one(5));
        work.add(Activity::Drain, us(30), us(50), one(6));
        work.settle(us(10));
        work.finish(Activity::Drain, us(40));
        let left: Vec<_> = work.cancel(us(20)).collect();
        let cancelled = |activity, time, of, kind| Cancelled { activity, time, of, operations: one(kind) };
        let expected = [
            cancelled(Activity::Write, us(10), us(10), 2),
            cancelled(Activity::Read, us(5), us(20), 3),
            cancelled(Activity::Drain, us(20), us(20), 6),
        ];
        assert_eq!(left, expected);
        assert_eq!(work.cancel(us(0)).count(), 0, "nothing is under way any more");
    }
}
