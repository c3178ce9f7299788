//! Identical servers with one first-come, first-served queue.

use super::agenda::Agenda;
use crate::state::{State, Value};
use crate::time::Time;
use std::collections::VecDeque;

/// Identical servers with one queue in order of arrival. A free server starts a job immediately, so later
/// arrivals do not affect the start of the job.
///
/// `J` is the type of a job. The caller provides the duration of a job at its start.
#[derive(Clone, Debug, State)]
#[state(bound = "J: Value")]
pub struct Servers<J> {
    #[state(skip = "from the configuration")]
    count: u32,
    busy: Agenda<J>,
    #[state(varies)]
    waiting: VecDeque<J>,
}

impl<J> Servers<J> {
    /// Creates `count` idle servers. Panics if `count` is zero.
    pub fn new(count: u32) -> Servers<J> {
        assert!(count > 0, "there is at least one server");
        Servers { count, busy: Agenda::new(), waiting: VecDeque::new() }
    }

    /// Adds `job`, which arrives at `now`. If a server is free, the job starts, and `service` returns its
    /// duration.
    #[inline]
    pub fn arrive(&mut self, now: Time, mut job: J, service: impl FnOnce(&mut J, Time) -> Time) {
        if self.busy.len() < self.count as usize {
            let time = service(&mut job, now);
            self.busy.schedule(now + time, job);
        } else {
            self.waiting.push_back(job);
        }
    }

    /// Time at which the next job ends; [`Time::MAX`] if no server is busy.
    #[inline]
    pub fn next(&self) -> Time {
        self.busy.next()
    }

    /// Removes and returns the job that ends next, if it ends before `until`. Its server starts the next
    /// waiting job.
    #[inline]
    pub fn end_before(
        &mut self,
        until: Time,
        service: impl FnOnce(&mut J, Time) -> Time,
    ) -> Option<(Time, J)> {
        let (at, ended) = self.busy.pop_before(until)?;
        if let Some(mut job) = self.waiting.pop_front() {
            let time = service(&mut job, at);
            self.busy.schedule(at + time, job);
        }
        Some((at, ended))
    }

    /// Withdraws the first waiting job that `is_it` accepts. Returns `None` if there is none. A job that
    /// has started cannot be withdrawn.
    pub fn withdraw(&mut self, is_it: impl Fn(&J) -> bool) -> Option<J> {
        let index = self.waiting.iter().position(is_it)?;
        self.waiting.remove(index)
    }

    /// Number of servers.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Jobs being served with their end times, in no particular order.
    pub fn serving(&self) -> impl Iterator<Item = (Time, &J)> {
        self.busy.iter()
    }

    /// Waiting jobs, oldest first.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &J> {
        self.waiting.iter()
    }

    /// Removes all jobs.
    pub fn clear(&mut self) {
        self.busy.clear();
        self.waiting.clear();
    }

    /// Panics if a job waits while a server is free.
    pub fn check_invariants(&self) {
        let (busy, count) = (self.busy.len(), self.count as usize);
        assert!(busy <= count, "{busy} jobs on {count} servers");
        assert!(self.waiting.is_empty() || busy == count, "a job waits while a server is free");
    }
}
