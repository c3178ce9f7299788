//! The programs, erases and copies that wait for a die, in the order in which it will do them.
//!
//! Each has a span on the *line*: a scale of time on which only these count, one behind the other, with gaps
//! where the die would have nothing of the kind to do. What comes later takes the first gap that is long enough.
//!
//! The jobs are a linked list in a flat row, and the gaps are listed apart, so that adding a job does not take
//! longer the more jobs wait. A gap too short for the shortest job is not listed: nothing will ever fill it.

use super::gaps::{Gap, Gaps};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Operations, Time};
use nacre_media::flash::Operation;

/// No job.
const NONE: u32 = u32::MAX;

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

/// A job and the places of the one behind it, or of the next place that is free, and of the one before it.
#[derive(Clone, Copy, Debug, Value)]
struct Place {
    job: Job,
    next: u32,
    before: u32,
}

/// What waits for a die.
#[derive(Clone, Debug, State)]
#[state(after = "Line::check_restored")]
pub(super) struct Line {
    /// No job is shorter.
    #[state(skip = "from the configuration")]
    pub(super) shortest: Time,
    #[state(varies)]
    places: Vec<Place>,
    first: u32,
    last: u32,
    free: u32,
    /// One behind [`NONE`] is behind a job that is no longer on the line.
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
        Line { shortest, places: Vec::new(), first: NONE, last: NONE, free: NONE, gaps: Gaps::default() }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let count = self.places.len();
        let follow = |first: u32| {
            let next = |&at: &u32| self.places.get(at as usize).map(|place| place.next);
            std::iter::successors((first != NONE).then_some(first), next).take_while(|&at| at != NONE)
        };
        let is_known = |at: u32| at == NONE || (at as usize) < count;
        let chained = |first: u32| follow(first).take(count + 1).filter(|&at| is_known(at)).count();
        let ends = follow(self.first).take(count + 1).last().unwrap_or(NONE) == self.last;
        let are_known = self.places.iter().all(|place| is_known(place.next))
            && self.gaps.iter().all(|gap| is_known(gap.after))
            && [self.first, self.last, self.free].into_iter().all(is_known);
        let before = std::iter::once(NONE).chain(follow(self.first)).take(count);
        let are_paired = follow(self.first).take(count).zip(before);
        let pairs = |(at, before): (u32, u32)| {
            self.places.get(at as usize).is_some_and(|place| place.before == before)
        };
        let ends = ends && are_paired.into_iter().all(pairs);
        match are_known && ends && chained(self.first) + chained(self.free) == count {
            true => Ok(()),
            false => Err("a line of jobs that does not hold together".into()),
        }
    }

    /// What begins next.
    #[inline]
    pub(super) fn first(&self) -> Option<&Job> {
        self.places.get(self.first as usize).map(|place| &place.job)
    }

    /// What begins last.
    #[inline]
    pub(super) fn last(&self) -> Option<&Job> {
        self.places.get(self.last as usize).map(|place| &place.job)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// All that waits, in order.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        let place = |at: u32| self.places.get(at as usize);
        std::iter::successors(place(self.first), move |before| place(before.next)).map(|place| &place.job)
    }

    /// The place of the first job that `is_it` and stands behind every one that `keeps` others behind itself, and the job.
    pub(super) fn first_behind(
        &self,
        keeps: impl Fn(&Job) -> bool,
        is_it: impl Fn(&Job) -> bool,
    ) -> Option<(u32, Job)> {
        let (mut at, mut found) = (self.last, None);
        while let Some(Place { job, before, .. }) = self.places.get(at as usize)
            && !keeps(job)
        {
            if is_it(job) {
                found = Some((at, *job));
            }
            at = *before;
        }
        found
    }

    /// The job in place `at`, which waits.
    pub(super) fn at(&mut self, at: u32) -> &mut Job {
        &mut self.places[at as usize].job
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
        let at = self.first;
        let Place { job, next, .. } = *self.places.get(at as usize)?;
        self.places[at as usize].next = self.free;
        (self.free, self.first) = (at, next);
        match self.places.get_mut(next as usize) {
            Some(first) => first.before = NONE,
            None => self.last = NONE,
        }
        self.gaps.forget_until(job.from);
        if let Some(gap) = self.gaps.first_mut().filter(|gap| gap.after == at) {
            gap.after = NONE;
        }
        Some(job)
    }

    /// `job`, taken before, waits again. What has begun ends at `begun` of the line.
    pub(super) fn put_back(&mut self, begun: Time, job: Job) {
        let at = self.insert(NONE, job);
        if let Some(gap) = self.gaps.first_mut().filter(|gap| gap.after == NONE) {
            gap.after = at;
        }
        let gap = Gap { from: begun, to: job.from, after: NONE };
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
            let gap = Gap { from: end, to: job.from, after: self.last };
            if self.has_room(&gap) {
                self.gaps.push_last(gap);
            }
        }
        self.insert(self.last, job);
        job.to()
    }

    /// Puts `job` into the first gap from `job.from` on, if there is one; gives where it ends.
    fn fill_gap(&mut self, job: &mut Job) -> Option<Time> {
        let gap = self.gaps.first_fit(job.from, job.duration)?;
        job.from = gap.from.max(job.from);
        let at = self.insert(gap.after, *job);
        let before = Gap { to: job.from, ..gap };
        let behind = Gap { from: job.to(), to: gap.to, after: at };
        self.gaps.replace([before, behind].map(|gap| self.has_room(&gap).then_some(gap)));
        Some(job.to())
    }

    /// Whether any job fits into `gap`.
    #[inline]
    fn has_room(&self, gap: &Gap) -> bool {
        gap.from < gap.to && gap.from + self.shortest <= gap.to
    }

    /// Puts `job` behind the one in place `after`, or first; gives its place.
    fn insert(&mut self, after: u32, job: Job) -> u32 {
        let next = self.places.get(after as usize).map_or(self.first, |place| place.next);
        let place = Place { job, next, before: after };
        let at = if self.free == NONE {
            self.places.push(place);
            self.places.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = std::mem::replace(&mut self.places[at as usize], place).next;
            at
        };
        match self.places.get_mut(after as usize) {
            Some(before) => before.next = at,
            None => self.first = at,
        }
        match self.places.get_mut(next as usize) {
            Some(behind) => behind.before = at,
            None => self.last = at,
        }
        at
    }

    /// Panics unless the spans are in order and apart, and begin at `begun` or later, and gaps lie between them.
    pub(super) fn check_invariants(&self, begun: Time) {
        let mut last = begun;
        for job in self.jobs() {
            assert!(last <= job.from && job.from < job.to(), "a die works twice at {} of its line", job.from);
            assert!(
                !self.gaps.iter().any(|gap| gap.from < job.to() && job.from < gap.to),
                "the gap at {} of a die's line is none",
                job.from
            );
            last = job.to();
        }
    }
}
