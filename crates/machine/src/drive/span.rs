//! From where a run goes on, and where it stands at its end.

use super::Driver;
use nacre_kernel::{Request, Time};
use nacre_workload::Clock;

impl Driver<'_> {
    /// The workload begins at `at`, on a device that was used before.
    pub(crate) fn begin_at(&mut self, at: Time) {
        self.serving.clock = Clock::new(self.workload.pacing(), at);
        self.serving.over_at = self.end_behind(at);
    }

    /// The workload goes on where it stood at `stood_at`, after `served` requests.
    pub(crate) fn go_on(&mut self, clock: Clock, rest: Vec<Request>, served: u64, stood_at: Time) {
        (self.serving.clock, self.rest, self.before) = (clock, rest, served);
        self.serving.over_at = self.end_behind(stood_at);
    }

    fn end_behind(&self, begin: Time) -> Time {
        self.serving.checked.run.duration.map_or(Time::MAX, |duration| begin + duration)
    }

    /// Requests of this workload that were served, those of the runs before included.
    pub(crate) fn served(&self) -> u64 {
        self.before + self.serving.issued
    }

    /// Where simulated time stands: at the end of the duration, where that ended the run.
    pub(crate) fn stands_at(&self) -> Time {
        if self.rest.is_empty() { self.serving.clock.last() } else { self.serving.over_at }
    }

    /// From when on the device has nothing to do.
    pub(crate) fn quiet_from(&self) -> Time {
        self.serving.noted.end.max(self.serving.device.busy_until()).max(self.serving.clock.last())
    }

    /// For the record: where the run began, unless with a new stack at the start of time.
    pub(super) fn beginning(&self) -> Option<String> {
        if self.before > 0 {
            return Some(format!("the run goes on behind {} requests that were served before", self.before));
        }
        let origin = self.serving.clock.origin();
        (!origin.is_zero()).then(|| format!("the run begins at {origin}, on a stack that was used before"))
    }
}
