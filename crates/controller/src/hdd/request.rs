//! Requests in progress, and what happens to them in addition to accesses of the arm.

use nacre_kernel::event::{Payload, RequestId, Ticket};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Time};
use nacre_media::disk::Access;

/// A request in progress. Of a cached write that has been acknowledged the data stays until it is on the platter.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Active {
    pub(super) id: RequestId,
    pub(super) arrived: Time,
    pub(super) request: Request,
    pub(super) data: Payload,
    /// When a write was accepted, relative to flushes.
    pub(super) ticket: Ticket,
    pub(super) spans: Spans,
}

/// Where the time of a request went.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Spans {
    pub(super) spin_up: Time,
    pub(super) seek: Time,
    pub(super) rotate: Time,
    pub(super) transfer: Time,
    pub(super) link: Time,
}

/// What happens in addition to the end of an access.
#[derive(Clone, Copy, Debug, Value)]
pub(super) enum Event {
    /// The data of a read that was read ahead may cross the interface.
    Buffered(u32),
    /// It is across.
    Sent(u32),
    /// The data of a write is in the cache.
    Accepted(u32),
    /// A trim or a flush is done.
    Ended(u32),
}

impl Spans {
    /// The parts of an access.
    pub(super) fn of(access: &Access, spin_up: Time) -> Spans {
        let Access { seek, rotate, transfer } = *access;
        Spans { spin_up, seek, rotate, transfer, link: Time::ZERO }
    }
}
