//! Programs of a die that pages of its other planes join.

use super::super::die::Die;
use super::super::line::{Job, Task};
use nacre_kernel::Time;

impl Die {
    /// Has the page of `task` programmed together with one that waits and takes as long: one of the same page number of
    /// another plane, as `place` says of a program's number, in front of which nothing has to be done for that page, and which
    /// does not begin before `least`. `cross` is told when that begins and how much longer it takes already, and gives when it
    /// may begin and how much longer it takes for this page, too. Gives where it ends on the line; `None` where no page is
    /// joined.
    pub(in super::super) fn join(
        &mut self,
        now: Time,
        (duration, task): (Time, Task),
        place: impl Fn(u32) -> (u32, u32),
        least: Time,
        cross: impl FnOnce(Time, Time) -> (Time, Time),
    ) -> Option<Time> {
        self.begin_before(now);
        self.take_back(now);
        let program = task.program?;
        let (page, plane) = place(program);
        let is_in_plane = |other| place(other).1 == plane;
        // Programs of a plane keep their order, so that none of its pages joined one behind that.
        let joined_last = self.joins.last_with(is_in_plane);
        let keeps =
            |job: &Job| job.task.program.is_none_or(|other| is_in_plane(other) || Some(other) == joined_last);
        let first = self.line.first()?;
        let (start, first) = (self.start_of(first), first.from);
        let has_longer = !self.joins.waiting.is_zero();
        let start_at = |from: Time| {
            let longer = if has_longer { self.line.longer_until(from) } else { Time::ZERO };
            start + (from - first) + longer
        };
        let is_it = |job: &Job| {
            let is_alike = job.duration == duration && job.task.activity == task.activity;
            let is_at = |other| place(other).0 == page;
            is_alike && job.task.program.is_some_and(is_at) && start_at(job.from) >= least
        };
        let (at, job) = self.line.first_behind(keeps, is_it)?;
        let with = job.task.program?;
        let (ready, longer) = cross(start_at(job.from), job.longer);
        let job = self.line.at(at);
        job.longer += longer;
        job.ready = job.ready.max(ready);
        job.task.count += task.count;
        let to = job.to();
        self.joins.renew(program);
        self.joins.add(program, with, longer);
        self.programs.set(program, true);
        Some(to)
    }

    /// `job` begins, and what began last is over.
    #[inline(never)]
    pub(in super::super) fn begin_joined(&mut self, job: &Job) {
        if let Some(over) = self.current.job.task.program {
            self.joins.parts(over).for_each(|part| self.programs.set(part, false));
        }
        self.joins.waiting = self.joins.waiting - job.longer;
    }

    /// `program` of a job, and those of the pages that joined it.
    pub(in super::super) fn all_of(&self, program: u32) -> Vec<u32> {
        [program].into_iter().chain(self.joins.parts(program)).collect()
    }
}
