//! The arm performs one access at a time and has a queue of waiting requests.

use super::Config;
use super::scheduling::{Candidate, Scheduler};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Time};
use nacre_media::disk::{Access, Disk, Target};
use std::collections::VecDeque;

/// One arm and its queue.
#[derive(Debug, State)]
pub(super) struct Arm {
    #[state(skip = "from the configuration")]
    scheduler: Scheduler,
    /// Waiting requests, oldest first.
    #[state(varies)]
    waiting: VecDeque<Waiting>,
    #[state(varies)]
    busy: Option<Busy>,
    /// Time at which the arm last became free. During an access, this is the start of the last free period.
    free_since: Time,
    /// Time of the next selection, if the arm is free and a request waits.
    decides_at: Time,
}

/// A waiting request.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Waiting {
    pub(super) number: u32,
    since: Time,
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) is_write: bool,
    pub(super) target: Target,
}

/// The access in progress.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Busy {
    pub(super) until: Time,
    /// The served request, or `None` during read-ahead.
    pub(super) number: Option<u32>,
    pub(super) is_write: bool,
    /// Start of the access, including a spin-up.
    pub(super) begun: Time,
    pub(super) spin_up: Time,
    pub(super) access: Access,
}

impl Arm {
    pub(super) fn new(config: &Config) -> Arm {
        let (policy, age_limit) = (config.scheduling, config.age_limit);
        Arm {
            scheduler: Scheduler { policy, depth: config.queue as usize, age_limit },
            waiting: VecDeque::new(),
            busy: None,
            free_since: Time::ZERO,
            decides_at: Time::MAX,
        }
    }

    /// Adds a request at `now`.
    pub(super) fn join(&mut self, now: Time, disk: &Disk, number: u32, request: &Request) {
        let is_write = request.op == Op::Write;
        let target = disk.target(request.address, u64::from(request.bytes), is_write);
        let (address, bytes) = (request.address, request.bytes);
        self.waiting.push_back(Waiting { number, since: now, address, bytes, is_write, target });
        if self.busy.is_none() && self.decides_at == Time::MAX {
            self.decides_at = now;
        }
    }

    /// Withdraws a request. Returns whether the request was waiting.
    pub(super) fn withdraw(&mut self, number: u32) -> bool {
        let Some(place) = self.waiting.iter().position(|waiting| waiting.number == number) else {
            return false;
        };
        self.waiting.remove(place);
        if self.waiting.is_empty() {
            self.decides_at = Time::MAX;
        }
        true
    }

    /// End time of the access in progress, or `Time::MAX` if the arm is free.
    #[inline]
    pub(super) fn ends_at(&self) -> Time {
        self.busy.map_or(Time::MAX, |busy| busy.until)
    }

    /// Time of the next selection of a request, or `Time::MAX` if none is due.
    #[inline]
    pub(super) fn decides_at(&self) -> Time {
        self.decides_at
    }

    /// Time of the arm's next event.
    pub(super) fn next_event(&self) -> Time {
        self.ends_at().min(self.decides_at)
    }

    /// Number of the write whose data is under the head at `at`, if any.
    pub(super) fn writing(&self, at: Time) -> Option<u32> {
        let busy = self.busy.filter(|busy| busy.is_write && busy.until - busy.access.transfer < at)?;
        busy.number
    }

    /// The access in progress, if any.
    pub(super) fn busy(&self) -> Option<Busy> {
        self.busy
    }

    /// Time at which the arm last became free.
    pub(super) fn free_since(&self) -> Time {
        self.free_since
    }

    /// Starts an access.
    pub(super) fn begin(&mut self, busy: Busy) {
        self.busy = Some(busy);
        self.decides_at = Time::MAX;
    }

    /// Drops the waiting requests.
    pub(super) fn forget_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Frees the arm at `at`.
    pub(super) fn free(&mut self, at: Time) {
        self.busy = None;
        self.free_since = at;
        self.decides_at = if self.waiting.is_empty() { Time::MAX } else { at };
    }

    /// Removes and returns the request that the scheduler selects at `now`.
    pub(super) fn choose(&mut self, now: Time, disk: &Disk) -> Waiting {
        let candidates = self.waiting.iter().map(|waiting| Candidate {
            target: &waiting.target,
            since: waiting.since,
            address: waiting.address,
            bytes: u64::from(waiting.bytes),
            is_write: waiting.is_write,
        });
        let place = self.scheduler.choose(now, disk, candidates);
        self.waiting.remove(place).expect("it waits")
    }

    pub(super) fn check_invariants(&self) {
        let idles = self.busy.is_none() && !self.waiting.is_empty();
        assert_eq!(idles, self.decides_at < Time::MAX, "a request waits for nothing");
    }
}
