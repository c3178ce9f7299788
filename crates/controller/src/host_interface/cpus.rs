//! CPUs of the host.

use nacre_kernel::event::Servers;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Ledger, Resource, Time};

/// CPUs that process jobs in the order of arrival, with their busy time. `J` identifies a job.
#[derive(Clone, Debug, State)]
#[state(bound = "J: Value")]
pub struct Cpus<J> {
    servers: Servers<Job<J>>,
    busy: Ledger,
}

#[derive(Clone, Debug, Value)]
#[state(bound = "J: Value")]
struct Job<J> {
    name: J,
    time: Time,
}

impl<J> Cpus<J> {
    /// A set of `count` idle CPUs. `count` must be at least one.
    pub fn new(count: u32) -> Cpus<J> {
        Cpus { servers: Servers::new(count), busy: Ledger::default() }
    }

    /// Adds job `name`, which arrives at `now` and takes `time`.
    #[inline]
    pub fn arrive(&mut self, now: Time, name: J, time: Time) {
        let busy = &mut self.busy;
        self.servers.arrive(now, Job { name, time }, |job, _| begin(busy, job));
    }

    /// Time at which the next job ends, or [`Time::MAX`] if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.servers.next()
    }

    /// Ends the next job that ends before `until`, if any. Returns its end time, the job, and its duration.
    #[inline]
    pub fn end_before(&mut self, until: Time) -> Option<(Time, J, Time)> {
        let busy = &mut self.busy;
        let (at, job) = self.servers.end_before(until, |job, _| begin(busy, job))?;
        Some((at, job.name, job.time))
    }

    /// Handles a power loss at `at` by dropping all jobs.
    pub fn power_fail(&mut self, at: Time) {
        let left: u64 = self.servers.serving().map(|(end, _)| end.saturating_sub(at).as_ps()).sum();
        self.busy.give_back(Activity::Software, Time::from_ps(left));
        self.servers.clear();
    }

    /// Clears busy times.
    pub fn restart_ledger(&mut self) {
        self.busy = Ledger::default();
    }

    /// The CPUs as a resource with this name.
    pub fn resource(&self, name: &'static str) -> Resource {
        Resource { name, servers: self.servers.count(), ledger: self.busy.clone() }
    }

    /// Panics if a job waits while a CPU is idle.
    pub fn check_invariants(&self) {
        self.servers.check_invariants();
    }
}

fn begin<J>(busy: &mut Ledger, job: &mut Job<J>) -> Time {
    busy.charge(Activity::Software, job.time);
    job.time
}
