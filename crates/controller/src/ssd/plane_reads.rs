//! Reads of a die whose planes read by themselves.
//!
//! A plane senses while others do; a program, an erase or a copy has the whole die. What suspends one suspends it for
//! all planes, and it is resumed when none of them reads any more. The die's own reservations are the times in which
//! any plane reads.

use super::die::{Die, Suspending, Turn};
use nacre_kernel::{Time, Timeline};
use std::ops::Range;

impl Die {
    /// Reserves `planes` for a read of the host that takes `duration`, before everything that has not begun.
    pub(super) fn read_on(&mut self, planes: Range<u32>, at: Time, duration: Time, how: &Suspending) -> Turn {
        self.begin_before(at);
        self.take_back(at);
        let current = &self.current;
        let may_suspend = current.job.task.may_suspend && current.suspensions < how.most;
        let (from, suspend) = match how.suspend {
            _ if current.end <= at => (at, None),
            Some(_) if at <= current.suspended_until => (at, None),
            Some(suspend) if may_suspend => (at, Some(suspend)),
            _ => (current.end, None),
        };
        let stands_still = current.end > at && from == at;
        let open = suspend.map_or(from, |suspend| self.suspend(from, suspend));
        let planes = &mut self.plane_reads[planes.start as usize..planes.end as usize];
        let start = free_together(planes, open, duration);
        planes.iter_mut().for_each(|plane| plane.reserve_at(start, duration));
        let end = start + duration;
        let longer = self.reads.reserve_rest(start, end);
        if stands_still {
            let current = &mut self.current;
            current.suspensions += u32::from(suspend.is_some());
            current.end += longer + suspend.map_or(Time::ZERO, |suspend| suspend + how.resume);
            current.suspended_until = current.suspended_until.max(end);
        }
        Turn { start, suspending: suspend.unwrap_or_default(), has_suspended: suspend.is_some() }
    }

    /// Has the die do nothing but suspend what it does, from `from` on if no plane reads then; gives when that is done.
    fn suspend(&mut self, from: Time, takes: Time) -> Time {
        let start = self.reads.reserve(from, takes);
        self.plane_reads.iter_mut().for_each(|plane| plane.reserve_at(start, takes));
        start + takes
    }
}

/// The first moment from `earliest` on at which all of `planes` are free for `duration`.
fn free_together(planes: &[Timeline], earliest: Time, duration: Time) -> Time {
    let mut start = earliest;
    loop {
        let later =
            planes.iter().fold(start, |start, plane| start.max(plane.earliest_start(start, duration)));
        if later == start {
            return start;
        }
        start = later;
    }
}
