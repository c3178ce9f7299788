//! Processors that work on one request each, in the order in which they come.

use nacre_kernel::event::Servers;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Ledger, Resource, Time};

/// A request, and the work on it.
#[derive(Clone, Copy, Debug, Value)]
struct Job {
    number: u32,
    time: Time,
}

/// Equal processors, and what they did.
#[derive(State)]
pub(super) struct Workers {
    servers: Servers<Job>,
    busy: Ledger,
}

impl Workers {
    pub(super) fn new(count: u32) -> Workers {
        Workers { servers: Servers::new(count), busy: Ledger::default() }
    }

    /// Request `number` comes, with so much work.
    pub(super) fn arrive(&mut self, now: Time, number: u32, time: Time) {
        let busy = &mut self.busy;
        self.servers.arrive(now, Job { number, time }, |job, _| charge(busy, job));
    }

    #[inline]
    pub(super) fn next(&self) -> Time {
        self.servers.next()
    }

    /// The request that is done at `at`.
    pub(super) fn end(&mut self, at: Time) -> u32 {
        let busy = &mut self.busy;
        let ended = self.servers.end_before(at + Time::from_ps(1), |job, _| charge(busy, job));
        ended.expect("a processor is done").1.number
    }

    /// Power is lost at `at`.
    pub(super) fn power_fail(&mut self, at: Time) {
        for (end, _) in self.servers.serving() {
            self.busy.give_back(Activity::Software, end.saturating_sub(at));
        }
        self.servers.clear();
    }

    pub(super) fn restart_ledger(&mut self) {
        self.busy = Ledger::default();
    }

    pub(super) fn resource(&self, name: &'static str) -> Resource {
        Resource { name, servers: self.servers.count(), ledger: self.busy.clone() }
    }
}

fn charge(busy: &mut Ledger, job: &Job) -> Time {
    busy.charge(Activity::Software, job.time);
    job.time
}
