//! Requests that the controller serves or that wait for it, and how far the first of them is.

use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Request, Time};

/// A request that is served, or waits for that.
#[derive(Clone, Debug, Value)]
pub(super) struct Visit {
    pub(super) id: RequestId,
    pub(super) arrived: Time,
    pub(super) request: Request,
    /// What it writes.
    pub(super) data: Payload,
}

/// What the controller does for the first of the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Phase {
    /// There is none.
    #[default]
    Idle,
    /// It is not ready, or suspends a program or an erase.
    Waits,
    /// It reads the page table.
    Translates,
    /// The write buffer is full: it waits before it lets programs and erases go on.
    Full,
    /// They go on until a slot is free.
    Drains,
    /// It copies a page into the write buffer.
    Copies,
    /// It reads or writes words of one page.
    Accesses,
}

/// How far the first of the requests is.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Service {
    pub(super) phase: Phase,
    pub(super) begin: Time,
    /// When the phase ends; while pages are drained, when the next program or erase is done.
    pub(super) end: Time,
    /// Bytes that were read or written.
    pub(super) served: u64,
    /// Its time so far, in the order of [`TOLD`].
    pub(super) spent: [Time; TOLD.len()],
}

/// What the time of a request goes into.
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
    /// Whether no request is served.
    pub(super) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    #[inline]
    pub(super) fn spend(&mut self, activity: Activity, time: Time) {
        let told = TOLD.iter().position(|&told| told == activity);
        self.spent[told.expect("the time of a request goes into it")] += time;
    }
}
