//! Status polling: chips without a ready line, whose controller sees the end of a program when it polls them.
//!
//! A rank is polled every `interval` from the start of its program. A poll that finds the program ended takes
//! `poll`, and the rank is free after it. Polls do not wait for the lines: they interrupt what is on them between
//! two bus cycles, which then takes `poll` longer. Polls of several ranks at the same time do not wait for each
//! other, and one that has begun does not delay what comes after it.

use super::Config;
use nacre_kernel::Time;
use nacre_kernel::state::State;

/// Polls of one controller.
#[derive(Clone, Debug, State)]
pub(super) struct Polling {
    /// Time between two polls of a rank; zero if the end of a program is seen at once.
    #[state(skip = "from the configuration")]
    interval: Time,
    /// Time of a poll on the lines.
    #[state(skip = "from the configuration")]
    poll: Time,
    /// Start of the last program of each rank.
    starts: Vec<Time>,
    /// When its end is seen.
    ends: Vec<Time>,
}

impl Polling {
    pub(super) fn of(config: &Config) -> Polling {
        let none = vec![Time::ZERO; config.ranks as usize];
        let interval = config.poll_interval.unwrap_or(Time::ZERO);
        Polling { interval, poll: config.poll, starts: none.clone(), ends: none }
    }

    /// When the end of a program of `time` on `rank` is seen, and the polls until then.
    #[inline]
    pub(super) fn program(&mut self, rank: usize, start: Time, time: Time) -> (Time, u64) {
        if self.interval.is_zero() {
            return (start + time, 0);
        }
        let polls = time.as_ps().div_ceil(self.interval.as_ps());
        let seen = start + self.interval * polls + self.poll;
        (self.starts[rank], self.ends[rank]) = (start, seen);
        (seen, polls)
    }

    /// When a transfer of `time` from `from` ends, with the polls that interrupt it.
    #[inline]
    pub(super) fn interrupted(&self, from: Time, time: Time) -> Time {
        if self.interval.is_zero() {
            return from + time;
        }
        let (before, mut end) = (self.polls_before(from), from + time);
        loop {
            let later = from + time + self.poll * (self.polls_before(end) - before);
            if later == end {
                return end;
            }
            end = later;
        }
    }

    /// Polls of the last programs of all ranks before `at`.
    fn polls_before(&self, at: Time) -> u64 {
        let polls = |(&start, &end): (&Time, &Time)| {
            let since = at.min(end).saturating_sub(start).as_ps();
            since.div_ceil(self.interval.as_ps()).saturating_sub(1)
        };
        self.starts.iter().zip(&self.ends).map(polls).sum()
    }

    /// Ends all programs.
    pub(super) fn power_fail(&mut self) {
        self.starts.fill(Time::ZERO);
        self.ends.fill(Time::ZERO);
    }
}
