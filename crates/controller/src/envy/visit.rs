//! Outstanding requests of the controller, and the progress of the first one.

use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Request, Time};

/// A request that is served, or waits for that.
#[derive(Clone, Debug, Value)]
pub(super) struct Visit {
    pub(super) id: RequestId,
    pub(super) arrived: Time,
    pub(super) request: Request,
    /// Data that it writes.
    pub(super) data: Payload,
}

/// Phase of the first request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Phase {
    /// No request.
    #[default]
    Idle,
    /// The controller is not ready, or suspends a program or an erase.
    Waits,
    /// Reads the page table.
    Translates,
    /// The write buffer is full: waits before programs and erases resume.
    Full,
    /// Programs and erases run until a slot is free.
    Drains,
    /// Copies a page into the write buffer.
    Copies,
    /// Reads or writes words of one page.
    Accesses,
}

/// Progress of the first request.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Service {
    pub(super) phase: Phase,
    pub(super) begin: Time,
    /// End of the phase; while draining, the end of the next program or erase.
    pub(super) end: Time,
    /// Bytes that were read or written.
    pub(super) served: u64,
    /// Its time so far, in the order of [`TOLD`].
    pub(super) spent: [Time; TOLD.len()],
}

/// Activities of a request's latency breakdown.
pub(super) const TOLD: [Activity; 10] = [
    Activity::Queue,
    Activity::Suspend,
    Activity::Translate,
    Activity::Drain,
    Activity::Clean,
    Activity::Erase,
    Activity::LevelWear,
    Activity::CopyOnWrite,
    Activity::Read,
    Activity::Write,
];

impl Service {
    /// Whether no request is in service.
    pub(super) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    #[inline]
    pub(super) fn spend(&mut self, activity: Activity, time: Time) {
        let told = TOLD.iter().position(|&told| told == activity);
        self.spent[told.expect("the time of a request goes into it")] += time;
    }
}
