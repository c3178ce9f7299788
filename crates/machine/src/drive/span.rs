//! From where a run continues, and where it stands at its end.

use super::{Driver, Outstanding};
use crate::rest::comes_to_rest;
use nacre_kernel::event::Slab;
use nacre_kernel::{Request, Time};
use nacre_workload::{Clock, Issued};

/// Where the driver of a run stands: what another run takes over.
pub(crate) struct Standing {
    pub(crate) clock: Clock,
    /// Requests that the workload gave and the device was not given.
    pub(crate) rest: Vec<Request>,
    /// The same of an interactive workload, and when it issued them.
    pub(crate) issued: (Vec<Issued>, Time),
    /// Requests of the workload that the device was given.
    pub(crate) served: u64,
    pub(crate) stood_at: Time,
    pub(crate) outstanding: Slab<Outstanding>,
    /// Requests outstanding at the device.
    pub(crate) at_device: usize,
    /// Every event before this instant was processed.
    pub(crate) now: Time,
}

impl Driver<'_> {
    /// Starts the workload on a device that was used before and has `outstanding` requests at `now`: when the device is at
    /// rest, and not before `at`.
    pub(crate) fn begin_at(&mut self, at: Time, (outstanding, now): (usize, Time)) {
        let at = at.max(now).max(comes_to_rest(&mut *self.serving.device, outstanding));
        self.serving.now = at;
        self.serving.clock = Clock::new(self.workload.pacing(), at);
        self.serving.over_at = self.end_behind(at);
    }

    /// Where the run stands.
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

    /// The workload continues where another run stood.
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

    /// Requests of this workload that were served, those of the runs before included.
    pub(crate) fn served(&self) -> u64 {
        self.before + self.serving.issued
    }

    /// For the record: where the run began, unless with a new stack at the start of time.
    pub(super) fn beginning(&self) -> Option<String> {
        if self.before > 0 {
            return Some(format!("the run continues after {} earlier requests", self.before));
        }
        let origin = self.serving.clock.origin();
        (!origin.is_zero()).then(|| format!("the run starts at {origin} on a used stack"))
    }
}
