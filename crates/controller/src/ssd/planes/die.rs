//! Programs of a die that pages of its other planes join.

use super::super::die::Die;
use super::super::line::{Job, Task};
use nacre_kernel::Time;

/// How many jobs that wait are looked at for one that a page may join.
const LOOKED_AT: usize = 64;

impl Die {
    /// Has the page of `task` programmed together with one that waits and takes as long: one of the same page number of
    /// another plane, as `place` says of a program's number, in front of which nothing has to be done for that page. `cross`
    /// is told when that begins and how much longer it takes already, and gives when it may begin and how much longer it
    /// takes for this page, too, if that is in time. Gives where it ends on the line; `None` where no page is joined.
    pub(in super::super) fn join(
        &mut self,
        now: Time,
        (duration, task): (Time, Task),
        place: impl Fn(u32) -> (u32, u32),
        cross: impl FnOnce(Time, Time) -> Option<(Time, Time)>,
    ) -> Option<Time> {
        self.begin_before(now);
        self.take_back(now);
        let program = task.program?;
        let (page, plane) = place(program);
        let joins = &self.joins;
        let is_in_plane = |other| place(other).1 == plane;
        let keeps = |job: &Job| {
            job.task.program.is_none_or(|other| is_in_plane(other) || joins.parts(other).any(is_in_plane))
        };
        let is_it = |job: &Job| {
            let is_alike = job.duration == duration && job.task.activity == task.activity;
            is_alike && job.task.program.is_some_and(|other| place(other).0 == page)
        };
        let Job { from, task: Task { program: with, .. }, .. } =
            *self.line.first_behind(LOOKED_AT, keeps, is_it)?;
        let with = with?;
        let (ready, longer) = cross(self.start_at(from), self.joins.longer(with))?;
        let is_it = |job: &Job| job.task.program == Some(with);
        let job = self.line.first_behind(LOOKED_AT, |_| false, is_it)?;
        job.ready = job.ready.max(ready);
        job.task.count += task.count;
        let to = job.to();
        self.joins.renew(program);
        self.joins.add(program, with, longer);
        self.programs.set(program, true);
        Some(to)
    }

    /// When what waits from `from` of the line on begins, as far as is known.
    fn start_at(&self, from: Time) -> Time {
        self.line.first().map_or(self.current.end, |first| self.start_of(first) + (from - first.from))
    }

    /// `job` begins, and what began last is over: gives how much longer it takes for what joined it.
    #[inline(never)]
    pub(in super::super) fn begin_joined(&mut self, job: &Job) -> Time {
        if let Some(over) = self.current.job.task.program {
            self.joins.parts(over).for_each(|part| self.programs.set(part, false));
        }
        let longer = self.longer(job);
        self.joins.waiting = self.joins.waiting - longer;
        longer
    }

    /// How much longer `job` takes for the pages that joined it.
    #[inline]
    pub(in super::super) fn longer(&self, job: &Job) -> Time {
        match job.task.program {
            Some(program) if !self.joins.is_empty() => self.joins.longer(program),
            _ => Time::ZERO,
        }
    }

    /// `program` of a job, and those of the pages that joined it.
    pub(in super::super) fn all_of(&self, program: u32) -> Vec<u32> {
        [program].into_iter().chain(self.joins.parts(program)).collect()
    }
}
