//! A link that transfers one message at a time, in the order in which the messages are ready.

use crate::activity::Activity;
use crate::ledger::{Ledger, Resource};
use crate::state::State;
use crate::time::Time;
use crate::units::Bandwidth;

/// A half-duplex link of constant bandwidth with one transfer at a time. Transfers are first come, first
/// served, so the end of a transfer is known as soon as the transfer is ready.
#[derive(Clone, Debug, State)]
pub struct Link {
    #[state(skip = "from the configuration")]
    bandwidth: Bandwidth,
    /// Size and duration of the last computed transfer. This cache avoids slow divisions, because most
    /// transfers have the same size.
    #[state(skip = "it is computed again")]
    asked: (u64, Time),
    /// End of the last transfer.
    free_at: Time,
    /// Start of the busy period that ends with the last transfer.
    busy_since: Time,
    ledger: Ledger,
}

impl Link {
    /// Creates an unused link.
    pub fn new(bandwidth: Bandwidth) -> Link {
        Link {
            bandwidth,
            asked: (0, Time::ZERO),
            free_at: Time::ZERO,
            busy_since: Time::ZERO,
            ledger: Ledger::default(),
        }
    }

    /// Transfer time of `bytes`.
    #[inline]
    pub fn time_for(&mut self, bytes: u64) -> Time {
        if bytes != self.asked.0 {
            self.asked = (bytes, self.bandwidth.time_for(bytes));
        }
        self.asked.1
    }

    /// Adds a transfer of duration `time` that is ready at `ready`, and returns its end. Calls must be in
    /// transfer order. A future transfer may be scheduled if no other transfer can precede it.
    #[inline]
    pub fn cross(&mut self, ready: Time, time: Time) -> Time {
        self.ledger.charge(Activity::Link, time);
        if ready > self.free_at {
            (self.free_at, self.busy_since) = (ready, ready);
        }
        self.free_at += time;
        self.free_at
    }

    /// Handles a power loss at `at`. Unfinished transfers stop, and their remaining time is subtracted from
    /// the busy time.
    pub fn power_fail(&mut self, at: Time) {
        self.ledger.give_back(Activity::Link, self.free_at.saturating_sub(at.max(self.busy_since)));
        self.free_at = self.free_at.min(at);
        self.busy_since = self.busy_since.min(at);
    }

    /// Returns the link as a resource called `name`, with its busy time since it was built or the ledger
    /// restarted.
    pub fn resource(&self, name: &'static str) -> Resource {
        Resource { name, servers: 1, ledger: self.ledger.clone() }
    }

    /// Resets the busy time.
    pub fn restart_ledger(&mut self) {
        self.ledger = Ledger::default();
    }
}
