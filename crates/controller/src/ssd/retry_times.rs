//! Where the time of a read went after the first sense of a page.

use super::fetching::Fetch;
use nacre_kernel::{Activity, Breakdown, ComponentId, Time};

/// Where the time went after the first sense of a page.
#[derive(Clone, Copy, Default)]
pub(super) struct RetryTimes {
    waits: Time,
    suspending: Time,
    senses: Time,
    crossing: Time,
    pub(super) decoding: Time,
}

impl RetryTimes {
    /// A page that was there at `from` is sensed once more.
    pub(super) fn add(&mut self, from: Time, fetch: &Fetch) {
        self.waits += fetch.turn.start - from - fetch.turn.suspending + (fetch.transfer - fetch.sensed);
        self.suspending += fetch.turn.suspending;
        self.senses += fetch.sensed - fetch.turn.start;
        self.crossing += fetch.done - fetch.transfer;
    }

    /// What comes behind that.
    pub(super) fn go_on(&mut self, behind: &RetryTimes) {
        self.waits += behind.waits;
        self.suspending += behind.suspending;
        self.senses += behind.senses;
        self.crossing += behind.crossing;
        self.decoding += behind.decoding;
    }

    pub(super) fn tell(&self, id: ComponentId, breakdown: &mut Breakdown) {
        let spans = [
            (Activity::Queue, self.waits),
            (Activity::Suspend, self.suspending),
            (Activity::Read, self.senses),
            (Activity::Transfer, self.crossing),
            (Activity::Correct, self.decoding),
        ];
        breakdown.add_all(id, spans);
    }
}
