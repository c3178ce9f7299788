//! State of a run from which another run can continue.

use super::{Driver, Outstanding};
use crate::rest::comes_to_rest;
use nacre_kernel::event::Slab;
use nacre_kernel::{Request, Time};
use nacre_workload::{Clock, Issued};

/// State of the driver from which another run continues.
pub(crate) struct Standing {
    pub(crate) clock: Clock,
    /// Requests that the workload generated and that were not submitted.
    pub(crate) rest: Vec<Request>,
    /// Requests that an interactive workload issued but that were not submitted, and the time at which they
    /// were issued.
    pub(crate) issued: (Vec<Issued>, Time),
    /// Number of requests that were submitted to the device.
    pub(crate) served: u64,
    pub(crate) stood_at: Time,
    pub(crate) outstanding: Slab<Outstanding>,
    /// Number of requests outstanding at the device.
    pub(crate) at_device: usize,
    /// Time before which the device had processed all events.
    pub(crate) now: Time,
}

impl Driver<'_> {
    /// Starts the workload on a used device with `outstanding` requests at `now`. The workload starts when
    /// the device is at rest, and not before `at`.
    pub(crate) fn begin_at(&mut self, at: Time, (outstanding, now): (usize, Time)) {
        let at = at.max(now).max(comes_to_rest(&mut *self.serving.device, outstanding));
        self.serving.now = at;
        self.serving.clock = Clock::new(self.workload.pacing(), at);
        self.serving.over_at = self.end_behind(at);
    }

    /// Returns the state of this run, from which another run can continue.
    pub(crate) fn standing(&self) -> Standing {
        Standing {
            clock: self.serving.clock.clone(),
            rest: self.rest.clone(),
            issued: (self.issued.clone(), self.issued_at),
            served: self.served(),
            stood_at: if self.rest.is_empty() { self.serving.clock.last() } else { self.serving.over_at },
            outstanding: self.serving.outstanding.clone(),
            at_device: self.serving.outstanding_at_device(),
            now: self.serving.now,
        }
    }

    /// Continues the workload from the state in which another run ended.
    pub(crate) fn resume(&mut self, standing: Standing) {
        let Standing { clock, rest, issued, served, stood_at, outstanding, now, .. } = standing;
        (self.rest, self.before) = (rest, served);
        (self.issued, self.issued_at) = issued;
        self.serving.clock = clock;
        (self.serving.outstanding, self.serving.now) = (outstanding, now);
        self.serving.forget_outstanding();
        self.serving.over_at = self.end_behind(stood_at);
    }

    fn end_behind(&self, begin: Time) -> Time {
        self.serving.checked.run.duration.map_or(Time::MAX, |duration| begin + duration)
    }

    /// Returns the number of served requests of this workload, including those of earlier runs.
    pub(crate) fn served(&self) -> u64 {
        self.before + self.serving.issued
    }

    /// Returns a note for the record about the start of the run, or `None` for a new stack at time 0.
    pub(super) fn beginning(&self) -> Option<String> {
        if self.before > 0 {
            return Some(format!("the run continues after {} earlier requests", self.before));
        }
        let origin = self.serving.clock.origin();
        (!origin.is_zero()).then(|| format!("the run starts at {origin} on a used stack"))
    }
}
