//! A link: bytes cross it, one transfer after the other.

use crate::activity::Activity;
use crate::ledger::{Ledger, Resource};
use crate::state::State;
use crate::time::Time;
use crate::timeline::Timeline;
use crate::units::Bandwidth;

/// A link of constant bandwidth that carries one transfer at a time, both ways together.
#[derive(Clone, Debug, State)]
pub struct Link {
    #[state(skip = "from the configuration")]
    bandwidth: Bandwidth,
    /// The size asked for last and how long it takes: most sizes are asked for again, and division is slow.
    #[state(skip = "asked for again, it is computed again")]
    asked: (u64, Time),
    timeline: Timeline,
    ledger: Ledger,
}

impl Link {
    /// A link that has carried nothing.
    pub fn new(bandwidth: Bandwidth) -> Link {
        Link { bandwidth, asked: (0, Time::ZERO), timeline: Timeline::new(), ledger: Ledger::default() }
    }

    /// The same of a link that transfers are asked for in no order, but for times near each other: that is faster then.
    pub fn out_of_order(bandwidth: Bandwidth) -> Link {
        Link { timeline: Timeline::out_of_order(), ..Link::new(bandwidth) }
    }

    /// How long `bytes` take.
    #[inline]
    pub fn time_for(&mut self, bytes: u64) -> Time {
        if bytes != self.asked.0 {
            self.asked = (bytes, self.bandwidth.time_for(bytes));
        }
        self.asked.1
    }

    /// Reserves the link for a transfer that takes `time`, as early as possible from `earliest` on;
    /// returns when its last byte is across.
    #[inline]
    pub fn cross(&mut self, earliest: Time, time: Time) -> Time {
        self.ledger.charge(Activity::Link, time);
        self.timeline.reserve(earliest, time) + time
    }

    /// Forgets transfers that ended at or before `time`; none may begin before it any more.
    #[inline]
    pub fn forget_before(&mut self, time: Time) {
        self.timeline.forget_before(time);
    }

    /// The power fails at `at`: what has not crossed does not cross, and takes no time.
    pub fn power_fail(&mut self, at: Time) {
        self.ledger.give_back(Activity::Link, self.timeline.busy_after(at));
        self.timeline.clear();
    }

    /// When the last transfer ends.
    pub fn free_from(&self) -> Time {
        self.timeline.free_from()
    }

    /// The link as a resource called `name`, with its busy time since it was built or
    /// [`Link::restart_ledger`] was called.
    pub fn resource(&self, name: &'static str) -> Resource {
        Resource { name, servers: 1, ledger: self.ledger.clone() }
    }

    /// Forgets its busy time; what is reserved stays.
    pub fn restart_ledger(&mut self) {
        self.ledger = Ledger::default();
    }

    /// Panics unless its transfers are ordered and apart.
    pub fn check_invariants(&self) {
        self.timeline.check_invariants();
    }
}
