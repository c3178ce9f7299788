//! Identical servers with one first-come, first-served queue, for jobs of known duration.

use crate::state::{State, Value};
use crate::time::Time;
use std::collections::VecDeque;

/// Identical servers with one queue in order of arrival, for jobs whose duration is known at arrival. No job
/// overtakes another, so the start and end of a job are known immediately and are not events. Use
/// [`Servers`](super::Servers) for jobs whose duration is known only at their start, or that may be
/// withdrawn.
///
/// `J` is the type of a job. Unfinished jobs are stored because a power loss cancels them.
#[derive(Clone, Debug, State)]
#[state(bound = "J: Value")]
pub struct FirstCome<J> {
    /// Time at which each server becomes free.
    free_at: Vec<Time>,
    /// Jobs in order of arrival, with their start and end times. Some of them may have ended.
    #[state(varies)]
    jobs: VecDeque<(Time, Time, J)>,
}

/// A job that a power loss cancels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut<J> {
    /// The job.
    pub what: J,
    /// Remaining time of the job.
    pub left: Time,
    /// Total time of the job.
    pub whole: Time,
}

impl<J> Cut<J> {
    /// Whether the job had started.
    pub fn has_begun(&self) -> bool {
        self.left < self.whole
    }
}

impl<J> FirstCome<J> {
    /// Creates `count` idle servers. Panics if `count` is zero.
    pub fn new(count: u32) -> FirstCome<J> {
        assert!(count > 0, "there is at least one server");
        FirstCome { free_at: vec![Time::ZERO; count as usize], jobs: VecDeque::new() }
    }

    /// Adds a job of duration `time` that arrives at `now` and can start at `ready`. Returns its start
    /// time. With one server, later jobs do not start before this job, even if they are ready earlier.
    #[inline]
    pub fn take(&mut self, now: Time, ready: Time, time: Time, what: J) -> Time {
        while self.jobs.front().is_some_and(|&(_, end, _)| end <= now) {
            self.jobs.pop_front();
        }
        let free = self.free_at.iter().position(|&at| at <= ready);
        let server = free.unwrap_or_else(|| self.first_free());
        let begin = ready.max(self.free_at[server]);
        if !time.is_zero() {
            self.free_at[server] = begin + time;
        }
        self.jobs.push_back((begin, begin + time, what));
        begin
    }

    fn first_free(&self) -> usize {
        let by_time = self.free_at.iter().enumerate().min_by_key(|&(_, &at)| at);
        by_time.expect("there is a server").0
    }

    /// Number of servers.
    pub fn count(&self) -> u32 {
        self.free_at.len() as u32
    }

    /// Handles a power loss at `at`. All servers become free. Returns the unfinished jobs in order of
    /// arrival.
    pub fn power_fail(&mut self, at: Time) -> impl Iterator<Item = Cut<J>> + use<J> {
        self.free_at.fill(Time::ZERO);
        let jobs = std::mem::take(&mut self.jobs).into_iter().filter(move |&(_, end, _)| end > at);
        jobs.map(move |(begin, end, what)| Cut { what, left: end - begin.max(at), whole: end - begin })
    }

    /// Removes all jobs, because they belong to an earlier ledger. A later power loss therefore does not
    /// return them.
    pub fn restart_ledger(&mut self) {
        self.jobs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Servers;
    use super::*;
    use crate::random::Streams;

    /// Tests that jobs end at the same times as in an event simulation of the queue.
    #[test]
    fn jobs_end_when_servers_with_events_end_them() {
        let mut random = Streams::new(3).stream("jobs");
        for (count, mean_gap) in [(1, 90), (1, 120), (3, 35), (8, 12), (8, 30)] {
            let (mut known, mut servers) = (FirstCome::new(count), Servers::new(count));
            let (mut now, mut expected, mut found) = (Time::ZERO, Vec::new(), Vec::new());
            let serve =
                |servers: &mut Servers<(usize, Time)>, until: Time, found: &mut Vec<(usize, Time)>| {
                    while let Some((at, (number, _))) = servers.end_before(until, |job, _| job.1) {
                        found.push((number, at));
                    }
                };
            for number in 0..5_000 {
                now += Time::from_ns(random.below(2 * mean_gap));
                let time = Time::from_ns(1 + random.below(200));
                expected.push((number, known.take(now, now, time, number) + time));
                serve(&mut servers, now, &mut found);
                servers.arrive(now, (number, time), |job, _| job.1);
            }
            serve(&mut servers, Time::MAX, &mut found);
            found.sort_unstable();
            assert_eq!(found, expected, "{count} servers");
        }
    }

    #[test]
    fn a_power_loss_returns_what_was_not_done() {
        let us = Time::from_us;
        let mut servers = FirstCome::new(2);
        let begins = [(0, 10, 'a'), (0, 30, 'b'), (1, 20, 'c'), (2, 5, 'd')]
            .map(|(now, time, what)| servers.take(us(now), us(now), us(time), what));
        assert_eq!(begins, [0, 0, 10, 30].map(us));
        let cut: Vec<_> = servers.power_fail(us(12)).collect();
        let expected = [('b', 18, 30), ('c', 18, 20), ('d', 5, 5)];
        assert_eq!(cut, expected.map(|(what, left, whole)| Cut { what, left: us(left), whole: us(whole) }));
        assert_eq!(cut.iter().map(Cut::has_begun).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(servers.power_fail(us(12)).count(), 0, "nothing is left");
        assert_eq!(servers.take(us(13), us(13), us(1), 'e'), us(13), "all are free");
        servers.restart_ledger();
        assert_eq!(servers.power_fail(us(13)).count(), 0, "it is in a ledger that was closed");
    }

    #[test]
    fn what_takes_no_time_holds_no_server() {
        let us = Time::from_us;
        let mut servers = FirstCome::new(1);
        assert_eq!(servers.take(us(0), us(50), us(0), ()), us(50));
        assert_eq!(servers.take(us(1), us(2), us(4), ()), us(2));
        assert_eq!(servers.take(us(1), us(3), us(0), ()), us(6), "it waits for those before it");
    }
}
