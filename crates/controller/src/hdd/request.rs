//! Requests in progress, and their events other than arm accesses.

use nacre_kernel::event::{Payload, RequestId, Ticket};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Time};
use nacre_media::disk::Access;

/// A request in progress. An acknowledged write in the cache keeps its data until the data is on the
/// platter.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Active {
    pub(super) id: RequestId,
    pub(super) arrived: Time,
    pub(super) request: Request,
    pub(super) data: Payload,
    /// Position of a write in the order of writes and flushes.
    pub(super) ticket: Ticket,
    pub(super) spans: Spans,
}

/// Latency breakdown of a request.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Spans {
    pub(super) spin_up: Time,
    pub(super) seek: Time,
    pub(super) rotate: Time,
    pub(super) transfer: Time,
    pub(super) link: Time,
}

/// Events other than the end of an access.
#[derive(Clone, Copy, Debug, Value)]
pub(super) enum Event {
    /// The data of a read is in the buffer and may cross the interface.
    Buffered(u32),
    /// The data of the request has crossed the interface.
    Sent(u32),
    /// The data of a write is in the cache.
    Accepted(u32),
    /// A trim or flush is complete.
    Ended(u32),
}

impl Spans {
    /// Latency breakdown of an access.
    pub(super) fn of(access: &Access, spin_up: Time) -> Spans {
        let Access { seek, rotate, transfer } = *access;
        Spans { spin_up, seek, rotate, transfer, link: Time::ZERO }
    }
}
