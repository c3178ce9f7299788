//! Outstanding requests of the controller, and the progress of the first request.

use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Request, Time};

/// A request in service or waiting for service.
#[derive(Clone, Debug, Value)]
pub(super) struct Visit {
    pub(super) id: RequestId,
    pub(super) arrived: Time,
    pub(super) request: Request,
    /// Data to write.
    pub(super) data: Payload,
}

/// Phase of the first request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Phase {
    /// No request is in service.
    #[default]
    Idle,
    /// The controller is not ready, or is suspending a program or an erase.
    Waits,
    /// The page table is being read.
    Translates,
    /// The write buffer is full, and programs and erases have not resumed yet.
    Full,
    /// Programs and erases run until a slot is free.
    Drains,
    /// A page is being copied into the write buffer.
    Copies,
    /// Words of one page are being read or written.
    Accesses,
}

/// Progress of the first request.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Service {
    pub(super) phase: Phase,
    pub(super) begin: Time,
    /// End of the phase. In the phase `Drains`, the end of the next program or erase.
    pub(super) end: Time,
    /// Number of bytes of the request that were read or written.
    pub(super) served: u64,
    /// Time spent so far per activity, in the order of [`TOLD`].
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
