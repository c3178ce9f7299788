//! The arm: one access at a time, and the requests that wait for it.

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
    /// Requests that wait, the oldest first.
    #[state(varies)]
    waiting: VecDeque<Waiting>,
    #[state(varies)]
    busy: Option<Busy>,
    /// Since when it is free, or when it was last.
    free_since: Time,
    /// When it takes the next request, if it is free and one waits.
    decides_at: Time,
}

/// A request that waits.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Waiting {
    pub(super) number: u32,
    since: Time,
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) is_write: bool,
    pub(super) target: Target,
}

/// What the arm does.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Busy {
    pub(super) until: Time,
    /// The request that it serves; none while bytes come in that are read ahead.
    pub(super) number: Option<u32>,
    pub(super) is_write: bool,
    /// When it began, spinning up included.
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

    /// A request comes to the arm at `now`.
    pub(super) fn join(&mut self, now: Time, disk: &Disk, number: u32, request: &Request) {
        let is_write = request.op == Op::Write;
        let target = disk.target(request.address, u64::from(request.bytes), is_write);
        let (address, bytes) = (request.address, request.bytes);
        self.waiting.push_back(Waiting { number, since: now, address, bytes, is_write, target });
        if self.busy.is_none() && self.decides_at == Time::MAX {
            self.decides_at = now;
        }
    }

    /// Withdraws a request that waits; whether it did.
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

    /// When the access ends that it performs.
    #[inline]
    pub(super) fn ends_at(&self) -> Time {
        self.busy.map_or(Time::MAX, |busy| busy.until)
    }

    /// When it chooses the next request.
    #[inline]
    pub(super) fn decides_at(&self) -> Time {
        self.decides_at
    }

    /// When something happens to it.
    pub(super) fn next_event(&self) -> Time {
        self.ends_at().min(self.decides_at)
    }

    /// The write whose bytes pass under the head at `at`.
    pub(super) fn writing(&self, at: Time) -> Option<u32> {
        let busy = self.busy.filter(|busy| busy.is_write && busy.until - busy.access.transfer < at)?;
        busy.number
    }

    /// What it does.
    pub(super) fn busy(&self) -> Option<Busy> {
        self.busy
    }

    /// Since when it is free, or when it was last.
    pub(super) fn free_since(&self) -> Time {
        self.free_since
    }

    /// It begins an access.
    pub(super) fn begin(&mut self, busy: Busy) {
        self.busy = Some(busy);
        self.decides_at = Time::MAX;
    }

    /// Nothing waits for it any more.
    pub(super) fn forget_waiting(&mut self) {
        self.waiting.clear();
    }

    /// It is free at `at`.
    pub(super) fn free(&mut self, at: Time) {
        self.busy = None;
        self.free_since = at;
        self.decides_at = if self.waiting.is_empty() { Time::MAX } else { at };
    }

    /// The request to serve at `now`: it waits no more.
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
