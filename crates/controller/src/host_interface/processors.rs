//! The host's CPUs.

use super::Step;
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Ledger, Pool, Resource, Time};

/// CPUs that take requests in turn, and where their time went.
#[derive(State)]
pub(super) struct Processors {
    pool: Pool,
    busy: Ledger,
}

impl Processors {
    pub(super) fn new(count: u32) -> Processors {
        Processors { pool: Pool::new(count), busy: Ledger::default() }
    }

    /// One of them works for `time` from `at` on.
    #[inline]
    pub(super) fn work(&mut self, at: Time, time: Time) -> Step {
        if time.is_zero() {
            return Step::none(at);
        }
        self.busy.charge(Activity::Software, time);
        Step { there: self.pool.reserve(at, time) + time, software: time, ..Step::default() }
    }

    pub(super) fn advance(&mut self, to: Time) {
        self.pool.forget_before(to);
    }

    pub(super) fn clear(&mut self) {
        self.pool = Pool::new(self.pool.len());
    }

    pub(super) fn busy_until(&self) -> Time {
        self.pool.free_from()
    }

    pub(super) fn restart_ledger(&mut self) {
        self.busy = Ledger::default();
    }

    pub(super) fn resource(&self) -> Resource {
        Resource { name: "cpus", servers: self.pool.len(), ledger: self.busy.clone() }
    }

    pub(super) fn check_invariants(&self) {
        self.pool.check_invariants();
    }
}
