//! The programs, erases and copies that wait for a die, in the order in which it will do them.
//!
//! Each has a span on the *line*: a scale of time on which only these count, one behind the other, with gaps
//! where the die would have nothing of the kind to do. What comes later takes the first gap that is long enough.
//!
//! Jobs and gaps are two lists that are changed at their ends and where a gap was last filled, so that adding a job does
//! not take longer the more jobs wait. A gap too short for the shortest job is not listed: nothing will ever fill it.

use super::gaps::{Gap, Gaps};
use super::parted::Parted;
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Operations, Time};
use nacre_media::flash::Operation;

/// What a die does, and what its time is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Task {
    /// The number of a program on its die; `None` for what is no program.
    pub(super) program: Option<u32>,
    pub(super) may_suspend: bool,
    pub(super) activity: Activity,
    /// Pages of a program or a read, blocks of an erase.
    pub(super) count: u16,
}

impl Default for Task {
    fn default() -> Task {
        Task::read(Activity::Read, 0)
    }
}

impl Task {
    #[inline]
    pub(super) fn program(number: u32, activity: Activity, pages: u32) -> Task {
        Task { program: Some(number), may_suspend: true, activity, count: pages as u16 }
    }

    #[inline]
    pub(super) fn erase(blocks: u32) -> Task {
        Task { program: None, may_suspend: true, activity: Activity::Erase, count: blocks as u16 }
    }

    #[inline]
    pub(super) fn read(activity: Activity, pages: u32) -> Task {
        Task { program: None, may_suspend: false, activity, count: pages as u16 }
    }

    /// What of the medium it is.
    pub(super) fn operations(&self) -> Operations {
        let kind = match self.activity {
            _ if self.program.is_some() => Operation::Program,
            Activity::Erase => Operation::Erase,
            _ => Operation::Read,
        };
        Operations { kind: kind as u32, count: u32::from(self.count) }
    }
}

/// One program, erase or copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) struct Job {
    /// Where it begins on the line.
    pub(super) from: Time,
    pub(super) duration: Time,
    /// How much longer it takes for pages that joined it, which is no part of its span of the line.
    pub(super) longer: Time,
    /// It begins no earlier in simulated time.
    pub(super) ready: Time,
    pub(super) task: Task,
}

impl Job {
    /// Where it ends on the line.
    #[inline]
    pub(super) fn to(&self) -> Time {
        self.from + self.duration
    }
}

/// What waits for a die.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// No job is shorter.
    pub(super) shortest: Time,
    /// What begins next, kept apart: it is looked at with whatever comes to the die.
    first: Option<Job>,
    /// What waits behind it.
    jobs: Parted<Job>,
    gaps: Gaps,
}

impl Default for Line {
    fn default() -> Line {
        Line::new(Time::ZERO)
    }
}

impl Line {
    /// A line on which nothing waits, for jobs that take `shortest` or longer.
    pub(super) fn new(shortest: Time) -> Line {
        Line { shortest, first: None, jobs: Parted::default(), gaps: Gaps::default() }
    }

    /// A line with these jobs and gaps, each in order.
    pub(super) fn of(shortest: Time, jobs: Vec<Job>, gaps: Vec<Gap>) -> Line {
        // Taken from the list and not from the iterator: a `VecDeque` made from an iterator of a `Vec` that has given its only
        // entry away begins behind its own memory (Rust 1.95).
        let mut jobs: Parted<Job> = jobs.into_iter().collect();
        Line { shortest, first: jobs.pop_first(), jobs, gaps: Gaps::of(gaps) }
    }

    /// What begins next.
    #[inline]
    pub(super) fn first(&self) -> Option<&Job> {
        self.first.as_ref()
    }

    /// What begins last.
    #[inline]
    pub(super) fn last(&self) -> Option<&Job> {
        self.jobs.last().or(self.first.as_ref())
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// All that waits, in order.
    pub(super) fn jobs(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.first.iter().chain(self.jobs.iter())
    }

    /// What lies between it.
    pub(super) fn gaps(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter()
    }

    /// The first job that `is_it` and stands behind every one that `keeps` others behind itself, and how many stand
    /// before it.
    pub(super) fn first_behind(
        &self,
        keeps: impl Fn(&Job) -> bool,
        is_it: impl Fn(&Job) -> bool,
    ) -> Option<(usize, Job)> {
        let behind = (0..=self.jobs.len()).rev().zip(self.jobs().rev()).take_while(|(_, job)| !keeps(job));
        let found = behind.filter(|(_, job)| is_it(job)).last();
        found.map(|(at, job)| (at, *job))
    }

    /// The job that so many stand before.
    pub(super) fn at(&mut self, at: usize) -> &mut Job {
        let job = match at.checked_sub(1) {
            Some(behind) => self.jobs.get_mut(behind),
            None => self.first.as_mut(),
        };
        job.expect("it waits")
    }

    /// How much longer all takes that ends at `end` of the line or before.
    pub(super) fn longer_until(&self, end: Time) -> Time {
        let jobs = self.jobs().take_while(|job| job.to() <= end);
        jobs.fold(Time::ZERO, |sum, job| sum + job.longer)
    }

    /// The place on the line of `time`, which says when it would be if all that waits were as long as its span.
    pub(super) fn without_longer(&self, time: Time) -> Time {
        let mut longer = Time::ZERO;
        for job in self.jobs() {
            let over = time.saturating_sub(job.to() + longer);
            longer += job.longer.min(over);
            if over <= job.longer {
                break;
            }
        }
        time - longer
    }

    /// Takes what begins next.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Job> {
        let job = self.first?;
        self.first = self.jobs.pop_first();
        self.gaps.forget_until(job.from);
        Some(job)
    }

    /// `job`, taken before, waits again. What has begun ends at `begun` of the line.
    pub(super) fn put_back(&mut self, begun: Time, job: Job) {
        self.insert_first(job);
        let gap = Gap { from: begun, to: job.from };
        if self.has_room(&gap) {
            self.gaps.push_first(gap);
        }
    }

    /// Adds `job` in the first gap from `job.from` on, which lies behind `begun`, where what has begun ends on the
    /// line; gives where it ends.
    #[inline]
    pub(super) fn add(&mut self, begun: Time, mut job: Job) -> Time {
        assert!(job.duration >= self.shortest, "a job of {} is shorter than any", job.duration);
        let end = self.last().map_or(begun, Job::to);
        if job.from < end {
            if let Some(to) = self.fill_gap(&mut job) {
                return to;
            }
            job.from = end;
        } else {
            let gap = Gap { from: end, to: job.from };
            if self.has_room(&gap) {
                self.gaps.push_last(gap);
            }
        }
        match self.first {
            Some(_) => self.jobs.push_last(job),
            None => self.first = Some(job),
        }
        job.to()
    }

    /// Adds `job` before all others.
    fn insert_first(&mut self, job: Job) {
        if let Some(second) = self.first.replace(job) {
            self.jobs.push_first(second);
        }
    }

    /// Puts `job` into the first gap from `job.from` on, if there is one; gives where it ends.
    fn fill_gap(&mut self, job: &mut Job) -> Option<Time> {
        let gap = self.gaps.first_fit(job.from, job.duration)?;
        job.from = gap.from.max(job.from);
        if self.first.is_some_and(|first| first.from < gap.to) {
            self.jobs.part(|other| other.from < gap.to);
            self.jobs.insert(*job);
        } else {
            self.insert_first(*job);
        }
        let before = Gap { to: job.from, ..gap };
        let behind = Gap { from: job.to(), to: gap.to };
        self.gaps.replace([before, behind].map(|gap| self.has_room(&gap).then_some(gap)));
        Some(job.to())
    }

    /// Whether any job fits into `gap`.
    #[inline]
    fn has_room(&self, gap: &Gap) -> bool {
        gap.from < gap.to && gap.from + self.shortest <= gap.to
    }

    /// Panics unless the spans are in order and apart, and begin at `begun` or later, and gaps lie between them in their order.
    pub(super) fn check_invariants(&self, begun: Time) {
        let (mut last, mut last_gap) = (begun, Time::ZERO);
        let mut gaps = self.gaps.iter().peekable();
        for job in self.jobs() {
            assert!(last <= job.from && job.from < job.to(), "a die works twice at {} of its line", job.from);
            while let Some(gap) = gaps.next_if(|gap| gap.to <= job.from) {
                assert!(last_gap <= gap.from && gap.from < gap.to, "the gap at {} is out of order", gap.from);
                last_gap = gap.to;
            }
            let is_free = gaps.peek().is_none_or(|gap| gap.from >= job.to());
            assert!(is_free, "the gap at {} of a die's line is none", job.from);
            last = job.to();
        }
    }
}
