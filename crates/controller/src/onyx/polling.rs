//! Status polling: chips without a ready line. The controller detects the end of a program by polling.
//!
//! A rank is polled every `interval` from the start of its program. When a poll has detected the end of the
//! program, the rank is free. Polls do not wait for the data lines. They interrupt a transfer between two
//! bus cycles, and each poll lengthens the transfer by its duration `poll`. Simultaneous polls of several
//! ranks do not wait for each other. A poll does not delay a transfer that starts during the poll.

use super::Config;
use nacre_kernel::Time;
use nacre_kernel::state::State;

/// State of the polls of one controller.
#[derive(Clone, Debug, State)]
pub(super) struct Polling {
    /// Time between two polls of a rank. Zero means that the controller sees the end of a program
    /// immediately.
    #[state(skip = "from the configuration")]
    interval: Time,
    /// Time of a poll on the data lines.
    #[state(skip = "from the configuration")]
    poll: Time,
    /// Start time of the last program of each rank.
    starts: Vec<Time>,
    /// Time at which the controller detects the end of the last program of each rank.
    ends: Vec<Time>,
}

impl Polling {
    pub(super) fn of(config: &Config) -> Polling {
        let none = vec![Time::ZERO; config.ranks as usize];
        let interval = config.poll_interval.unwrap_or(Time::ZERO);
        Polling { interval, poll: config.poll, starts: none.clone(), ends: none }
    }

    /// Time at which the controller detects the end of a program of duration `time` on `rank`, and the number
    /// of polls until then.
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

    /// End time of a transfer of duration `time` that starts at `from`, including the polls that interrupt
    /// it.
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

    /// Number of polls before `at`, for the last programs of all ranks.
    fn polls_before(&self, at: Time) -> u64 {
        let polls = |(&start, &end): (&Time, &Time)| {
            let since = at.min(end).saturating_sub(start).as_ps();
            since.div_ceil(self.interval.as_ps()).saturating_sub(1)
        };
        self.starts.iter().zip(&self.ends).map(polls).sum()
    }

    /// Handles a power loss. No program is in progress afterwards.
    pub(super) fn power_fail(&mut self) {
        self.starts.fill(Time::ZERO);
        self.ends.fill(Time::ZERO);
    }
}
