//! The programs, erases and copies that wait for a die, in the order in which it will do them.
//!
//! Each has a span on the *line*: a scale of time on which only these count, one behind the other, with gaps
//! where the die would have nothing of the kind to do. What comes later takes the first gap that is long enough.

use nacre_kernel::Time;
use std::collections::VecDeque;

/// One program, erase or copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Job {
    /// Where it begins on the line.
    pub(super) from: Time,
    pub(super) duration: Time,
    /// It begins no earlier in simulated time.
    pub(super) ready: Time,
    /// The number of a program over all superblocks; `None` for what is no program.
    pub(super) program: Option<u32>,
    pub(super) may_suspend: bool,
}

impl Job {
    /// Where it ends on the line.
    #[inline]
    pub(super) fn to(&self) -> Time {
        self.from + self.duration
    }
}

/// What waits for a die.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// In order, apart from each other.
    jobs: VecDeque<Job>,
    /// Between these there is no gap.
    packed: (Time, Time),
}

impl Line {
    /// What begins next.
    #[inline]
    pub(super) fn first(&self) -> Option<&Job> {
        self.jobs.front()
    }

    /// What begins last.
    #[inline]
    pub(super) fn last(&self) -> Option<&Job> {
        self.jobs.back()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The program with this number, if it waits.
    pub(super) fn find(&self, program: u32) -> Option<&Job> {
        self.jobs.iter().rev().find(|job| job.program == Some(program))
    }

    /// Takes what begins next.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Job> {
        self.jobs.pop_front()
    }

    /// `job`, taken before, waits again.
    pub(super) fn put_back(&mut self, job: Job) {
        self.jobs.push_front(job);
    }

    /// Adds `job` in the first gap from `job.from` on; gives where it ends.
    pub(super) fn add(&mut self, mut job: Job) -> Time {
        let last = self.jobs.back().map_or(Time::ZERO, Job::to);
        if last <= job.from {
            let to = job.to();
            self.jobs.push_back(job);
            return to;
        }
        let is_in_packed = self.packed.0 <= job.from && job.from < self.packed.1;
        let packed_from = if is_in_packed { self.packed.0 } else { job.from };
        if is_in_packed {
            job.from = self.packed.1;
        }
        let mut at = self.jobs.partition_point(|other| other.to() <= job.from);
        let mut is_packed = true;
        while let Some(other) = self.jobs.get(at).filter(|other| job.to() > other.from) {
            is_packed &= other.from <= job.from;
            job.from = job.from.max(other.to());
            at += 1;
        }
        let to = job.to();
        if is_packed {
            self.packed = (packed_from, to);
        }
        self.jobs.insert(at, job);
        to
    }

    /// Panics unless the spans are in order and apart, and begin at `begin` or later.
    pub(super) fn check_invariants(&self, begin: Time) {
        let mut last = begin;
        for job in &self.jobs {
            assert!(last <= job.from && job.from < job.to(), "a die works twice at {} of its line", job.from);
            last = job.to();
        }
    }
}
