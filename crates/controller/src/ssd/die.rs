//! A die: one operation at a time, reads of the host before all others.
//!
//! A read is told at once when it has the die, so reads lie at fixed times. Programs, erases and copies wait in a
//! [`Line`] and begin when the die has nothing of what came before and no read to do: only what has begun has a
//! time of its own, and only that delays a read. What has not begun is expected as soon as possible.

use super::joins::Joins;
use super::line::{Job, Line, Task};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Cancelled, Time, Timeline};
use std::collections::VecDeque;

/// How many jobs that have begun a die remembers, for a request that comes before their time.
const BEGUN_MAX: usize = 1024;

/// How a die suspends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspending {
    /// Time to suspend; `None` where nothing is ever suspended.
    pub(super) suspend: Option<Time>,
    pub(super) resume: Time,
    pub(super) most: u32,
}

/// A program, erase or copy that has begun.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Begun {
    pub(super) job: Job,
    start: Time,
    /// Moves on with every read that suspends it.
    pub(super) end: Time,
    pub(super) suspensions: u32,
    /// It is not resumed before.
    pub(super) suspended_until: Time,
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

/// A set of small numbers.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Bits(#[state(sparse)] Vec<u64>);

impl Bits {
    #[inline]
    fn has(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 == 1
    }

    #[inline]
    pub(super) fn set(&mut self, number: u32, is_in: bool) {
        let word = &mut self.0[number as usize / 64];
        *word = *word & !(1 << (number % 64)) | u64::from(is_in) << (number % 64);
    }
}

/// What the die does when.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Die {
    /// The channel it lies on.
    #[state(skip = "from the configuration")]
    pub(super) channel: u32,
    /// When it reads for the host, or some plane of it does.
    pub(super) reads: Timeline,
    /// When each plane does, where they read by themselves.
    pub(super) plane_reads: Vec<Timeline>,
    /// What has not begun.
    pub(super) line: Line,
    /// The programs that wait, and the one that began last.
    pub(super) programs: Bits,
    /// Pages of other planes that are programmed together with these.
    pub(super) joins: Joins,
    /// What began last.
    pub(super) current: Begun,
    /// What began before that, the latest last.
    earlier: VecDeque<Begun>,
    /// Nothing begins before this any more.
    forgotten: Time,
}

impl Die {
    /// A die on `channel` that never did anything, with programs of so many numbers. No program, erase or copy
    /// is shorter than `shortest`.
    pub(super) fn on(channel: u32, programs: usize, shortest: Time) -> Die {
        let programs = Bits(vec![0; programs.div_ceil(64)]);
        Die { channel, programs, line: Line::new(shortest), ..Die::default() }
    }

    /// The same with so many planes that read by themselves.
    pub(super) fn with_planes(self, planes: u32) -> Die {
        Die { plane_reads: vec![Timeline::new(); planes as usize], ..self }
    }

    /// The die has nothing to do any more, as after a loss of power.
    pub(super) fn clear(&mut self) {
        let programs = Bits(vec![0; self.programs.0.len()]);
        let line = Line::new(self.line.shortest);
        let planes = self.plane_reads.len() as u32;
        *self = Die { channel: self.channel, programs, line, ..Die::default() }.with_planes(planes);
    }

    /// When all it has to do so far is done, if what waits stands still for no read.
    pub(super) fn free_from(&self) -> Time {
        let last = self.line.last().map_or(self.current.end, |job| self.time_of(job.to()));
        last.max(self.reads.free_from())
    }

    /// When all it has to do so far is over, if nothing comes any more: what waits begins when it may, and stands still for
    /// reads whose time is yet to come.
    pub(super) fn over_from(&self) -> Time {
        let ends = self.line.jobs().fold(self.current.end, |end, job| {
            let start = self.reads.earliest_start(job.ready.max(end).max(self.forgotten), Time::ZERO);
            self.reads.end_standing_still(start, job.duration + job.longer)
        });
        ends.max(self.reads.free_from())
    }

    /// When the operation that is last of all began: from then on the next one's data may come in.
    #[inline]
    pub(super) fn last_start(&self) -> Time {
        self.line.last().map_or(self.current.start, |job| self.time_of(job.to()).saturating_sub(job.duration))
    }

    /// The simulated time of `end`, where something ends on the line, as far as is known.
    #[inline(always)]
    pub(super) fn time_of(&self, end: Time) -> Time {
        match self.line.first() {
            Some(first) if end > self.current.job.to() => {
                let time = self.start_of(first) + (end - first.from);
                if self.joins.waiting.is_zero() { time } else { time + self.line.longer_until(end) }
            }
            // What ended before the last began did so in time for it.
            _ if end < self.current.job.to() => self.current.start,
            _ => self.current.end,
        }
    }

    /// Adds an operation that may begin at `ready`, in the first gap of what waits; gives where it ends on the
    /// line.
    pub(super) fn work(&mut self, now: Time, ready: Time, duration: Time, task: Task) -> Time {
        self.begin_before(now);
        self.take_back(now);
        let from = self.on_line(self.reads.earliest_start(ready, Time::ZERO));
        if let Some(program) = task.program {
            self.programs.set(program, true);
            if !self.joins.is_empty() {
                self.joins.renew(program);
            }
        }
        self.line.add(self.current.job.to(), Job { from, duration, longer: Time::ZERO, ready, task })
    }

    /// Where `time` lies on the line: never before what has begun.
    #[inline]
    fn on_line(&self, time: Time) -> Time {
        let begun = self.current.job.to();
        let Some(first) = self.line.first() else {
            return begun + time.saturating_sub(self.current.end);
        };
        let start = self.start_of(first);
        if time >= start {
            let time = first.from + (time - start);
            if self.joins.waiting.is_zero() { time } else { self.line.without_longer(time) }
        } else {
            first.from.saturating_sub(start - time).max(begun)
        }
    }

    /// When `first`, which is first on the line, begins if no read comes before.
    #[inline]
    pub(super) fn start_of(&self, first: &Job) -> Time {
        let earliest = first.ready.max(self.current.end).max(self.forgotten);
        self.reads.earliest_start(earliest, Time::ZERO)
    }

    /// What begins before `now` has begun: no read comes before it any more.
    #[inline]
    pub(super) fn begin_before(&mut self, now: Time) {
        while let Some(first) = self.line.first() {
            let start = self.start_of(first);
            if start >= now {
                break;
            }
            self.begin(start);
        }
    }

    fn begin(&mut self, start: Time) {
        let job = self.line.pop().expect("something begins");
        // Only reads that came out of order lie behind its start: it stands still for them.
        if !self.joins.is_empty() {
            self.begin_joined(&job);
        }
        let end = self.reads.end_standing_still(start, job.duration + job.longer);
        if let Some(over) = self.current.job.task.program {
            self.programs.set(over, false);
        }
        if self.earlier.len() == BEGUN_MAX {
            self.earlier.pop_front();
        }
        self.earlier.push_back(self.current);
        self.current = Begun { job, start, end, ..Begun::default() };
    }

    /// What begins at `at` or later waits again, for something that comes at `at`.
    #[inline]
    pub(super) fn take_back(&mut self, at: Time) {
        while self.current.start >= at && self.current.end > at {
            let Some(before) = self.earlier.pop_back() else { break };
            self.line.put_back(before.job.to(), self.current.job);
            self.joins.waiting += self.current.job.longer;
            self.current = before;
            if let Some(program) = before.job.task.program {
                self.programs.set(program, true);
                self.joins.parts(program).for_each(|part| self.programs.set(part, true));
            }
        }
    }

    /// From when on nothing but reads keeps the die from a read of the host, which comes at `at`, and what suspending
    /// takes.
    pub(super) fn before_read(&mut self, at: Time, how: &Suspending) -> (Time, Time) {
        self.begin_before(at);
        self.take_back(at);
        let current = &self.current;
        let may_suspend = current.job.task.may_suspend && current.suspensions < how.most;
        match how.suspend {
            _ if current.end <= at => (at, Time::ZERO),
            Some(_) if at <= current.suspended_until => (at, Time::ZERO),
            Some(suspend) if may_suspend => (at, suspend),
            _ => (current.end, Time::ZERO),
        }
    }

    /// When the last read ends that was given the die.
    pub(super) fn reads_until(&self) -> Time {
        self.reads.free_from()
    }

    /// Reserves the die for a read of the host that takes `duration`, before everything that has not begun.
    #[inline(always)]
    pub(super) fn read(&mut self, at: Time, duration: Time, how: &Suspending) -> Turn {
        if self.line.is_empty() && self.current.end <= at {
            let start = self.reads.reserve(at, duration);
            return Turn { start, suspending: Time::ZERO, has_suspended: false };
        }
        // Field by field: a whole turn would be written to memory, and a processor waits to read back what it just wrote in
        // other pieces.
        let Turn { start, suspending, has_suspended } = self.read_between(at, duration, how);
        Turn { start, suspending, has_suspended }
    }

    /// The same where something is under way or waits.
    #[inline(never)]
    fn read_between(&mut self, at: Time, duration: Time, how: &Suspending) -> Turn {
        self.begin_before(at);
        self.take_back(at);
        let mut turn = Turn { start: at, suspending: Time::ZERO, has_suspended: false };
        let current = &mut self.current;
        if current.end <= at {
            turn.start = self.reads.reserve(at, duration);
            return turn;
        }
        let is_suspended = at <= current.suspended_until;
        let may_suspend = current.job.task.may_suspend && current.suspensions < how.most;
        match how.suspend {
            // The die is not resumed before this read either.
            Some(_) if is_suspended => {
                turn.start = self.reads.reserve(at, duration);
                current.end += duration;
            }
            Some(suspend) if may_suspend => {
                // Suspending takes the die too; what is left is the read's.
                turn.start = self.reads.reserve(at, suspend + duration) + suspend;
                (turn.suspending, turn.has_suspended) = (suspend, true);
                current.suspensions += 1;
                current.end += suspend + duration + how.resume;
            }
            _ => {
                turn.start = self.reads.reserve(current.end, duration);
                return turn;
            }
        }
        current.suspended_until = turn.start + duration;
        turn
    }

    /// Reads go in their turn, behind what was reserved before.
    #[inline]
    pub(super) fn read_in_turn(&mut self, now: Time, at: Time, duration: Time, task: Task) -> Turn {
        let end = self.work(now, at, duration, task);
        let start = self.time_of(end).saturating_sub(duration);
        Turn { start, suspending: Time::ZERO, has_suspended: false }
    }

    /// The die keeps what it read until `until`.
    #[inline]
    pub(super) fn hold(&mut self, from: Time, until: Time) {
        if until > from && self.reads.earliest_start(from, until - from) == from {
            self.reads.reserve(from, until - from);
            let current = &mut self.current;
            if current.start < from && from < current.end {
                current.end += until - from;
                current.suspended_until = current.suspended_until.max(until);
            }
        }
    }

    /// Whether something but reads waits at `now`, or is under way.
    #[inline]
    pub(super) fn has_work(&self, now: Time) -> bool {
        !self.line.is_empty() || self.current.end > now
    }

    /// Whether `program` is yet to end at `now`, where the die has work.
    #[inline]
    pub(super) fn is_programming(&mut self, now: Time, program: u32) -> bool {
        self.begin_before(now);
        self.take_back(now);
        let whole = if self.joins.is_empty() { program } else { self.joins.whole(program) };
        self.programs.has(program) && (self.current.job.task.program != Some(whole) || self.current.end > now)
    }

    /// The programs that have not ended at `at`, before which nothing comes any more.
    pub(super) fn unfinished_programs(&mut self, at: Time) -> Vec<u32> {
        let programs: Vec<u32> = self.unfinished(at).filter_map(|job| job.task.program).collect();
        programs.into_iter().flat_map(|program| self.all_of(program)).collect()
    }

    /// What has not ended at `at`, before which nothing comes any more.
    pub(super) fn unfinished(&mut self, at: Time) -> impl Iterator<Item = &Job> {
        self.begin_before(at);
        let begun = self.earlier.iter().chain([&self.current]).filter(move |begun| begun.end > at);
        begun.map(|begun| &begun.job).chain(self.line.jobs())
    }

    /// What of all tasks is not done at `at`, before which nothing comes any more.
    pub(super) fn cancelled(&mut self, at: Time) -> Vec<(Task, Cancelled)> {
        self.begin_before(at);
        let whole = |job: &Job| job.duration + job.longer;
        let cancelled = |job: Job, time| {
            let (task, of) = (job.task, whole(&job));
            (task, Cancelled { activity: task.activity, time, of, operations: task.operations() })
        };
        let begun = self.earlier.iter().chain([&self.current]).filter(|begun| begun.end > at);
        let begun = begun.map(|begun| {
            // It stands still for reads.
            let (from, Begun { job, end, .. }) = (begun.start.max(at), *begun);
            let standing = self.reads.busy_after(from).saturating_sub(self.reads.busy_after(end));
            let left = (end - from).saturating_sub(standing).min(whole(&job));
            cancelled(job, left)
        });
        begun.chain(self.line.jobs().map(|&job| cancelled(job, whole(&job)))).collect()
    }

    /// The programs that one command has under way at `at`, before which nothing comes any more.
    pub(super) fn interrupted(&mut self, at: Time) -> Vec<u32> {
        self.begin_before(at);
        let mut begun = self.earlier.iter().chain([&self.current]);
        let interrupted = begun.find(|begun| begun.start < at && begun.end > at);
        let program = interrupted.and_then(|begun| begun.job.task.program);
        program.map_or_else(Vec::new, |program| self.all_of(program))
    }

    /// No read comes before `now` any more.
    pub(super) fn forget_before(&mut self, now: Time) {
        self.begin_before(now);
        self.reads.forget_before(now);
        self.plane_reads.iter_mut().for_each(|plane| plane.forget_before(now));
        self.forgotten = now;
        // One of those that are over stays: what comes next lies behind it.
        while self.earlier.get(1).is_some_and(|begun| begun.end <= now) {
            self.earlier.pop_front();
        }
        if !self.joins.is_empty() {
            let Die { joins, programs, earlier, .. } = self;
            let has_begun = |with| earlier.iter().any(|begun| begun.job.task.program == Some(with));
            joins.forget(|with| programs.has(with) || has_begun(with));
        }
    }

    /// Panics unless the die does one thing at a time.
    pub(super) fn check_invariants(&self) {
        self.reads.check_invariants();
        self.plane_reads.iter().for_each(Timeline::check_invariants);
        self.line.check_invariants(self.current.job.to());
    }
}
