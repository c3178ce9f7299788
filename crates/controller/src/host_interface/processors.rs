//! The host's CPUs.

use super::Step;
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Ledger, Pool, Resource, Time};

/// CPUs that take requests in turn, and where their time went.
#[derive(State)]
pub(crate) struct Processors {
    pool: Pool,
    busy: Ledger,
}

impl Processors {
    pub(crate) fn new(count: u32) -> Processors {
        Processors { pool: Pool::new(count), busy: Ledger::default() }
    }

    /// One of them works for `time` from `at` on.
    #[inline]
    pub(crate) fn work(&mut self, at: Time, time: Time) -> Step {
        if time.is_zero() {
            return Step::none(at);
        }
        self.busy.charge(Activity::Software, time);
        Step { there: self.pool.reserve(at, time) + time, software: time, ..Step::default() }
    }

    /// One of them works for `time` from `at` on, and turns meanwhile to work that was to begin then: none of them is idle
    /// while there is work.
    #[inline]
    pub(crate) fn work_in_parts(&mut self, at: Time, time: Time) -> Step {
        if time.is_zero() {
            return Step::none(at);
        }
        self.busy.charge(Activity::Software, time);
        Step { there: self.pool.work(at, time), software: time, ..Step::default() }
    }

    pub(crate) fn advance(&mut self, to: Time) {
        self.pool.forget_before(to);
    }

    /// The power fails at `at`: what waits is not worked on.
    pub(crate) fn power_fail(&mut self, at: Time) {
        self.busy.give_back(Activity::Software, self.pool.busy_after(at));
        self.pool = Pool::new(self.pool.len());
    }

    pub(crate) fn busy_until(&self) -> Time {
        self.pool.free_from()
    }

    pub(crate) fn restart_ledger(&mut self) {
        self.busy = Ledger::default();
    }

    pub(crate) fn resource(&self) -> Resource {
        self.named("cpus")
    }

    /// The same by another name.
    pub(crate) fn named(&self, name: &'static str) -> Resource {
        Resource { name, servers: self.pool.len(), ledger: self.busy.clone() }
    }

    pub(crate) fn check_invariants(&self) {
        self.pool.check_invariants();
    }
}
