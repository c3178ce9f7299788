//! Requests in progress.

use super::kinds::Later;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Span, Status, Time, ZoneAnswer, ZoneCommand};

/// Stage of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Stage {
    /// The request is delayed before it reaches the device.
    #[default]
    Held,
    /// The request is in the device.
    Below,
    /// The status of the request is known, and its reply is delayed.
    Answered,
    /// The request was canceled while it was delayed.
    Canceled,
}

/// A request in progress.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Active {
    pub(super) id: RequestId,
    pub(super) arrived: Time,
    /// The request as submitted by the host.
    pub(super) request: Request,
    /// Zone command that the request represents, if any.
    pub(super) command: Option<ZoneCommand>,
    /// Whether the request is an append whose address is the write pointer of its zone instead of the first
    /// byte of the zone.
    pub(super) is_placed: bool,
    /// Request as sent to the device. Faults may have changed it.
    pub(super) sent: Request,
    pub(super) data: Payload,
    pub(super) stage: Stage,
    /// Time at which the request was or will be sent to the device.
    pub(super) released: Time,
    /// Delays of the reply, each with the number of the fault.
    pub(super) later: Vec<(u32, Later)>,
    /// Number of the fault that loses the reply, if any, and the delay of the error.
    pub(super) lost: Option<(u32, Time)>,
    /// Number of the fault that replaces the reply with old data, if any.
    pub(super) stale: Option<u32>,
    /// Time added by each fault, with the number of the fault.
    pub(super) added: Vec<(u32, Time)>,
    /// Time at which the request continues, if it is delayed.
    pub(super) due: Time,
    /// Completion status.
    pub(super) status: Status,
    /// Data of a read, from the reply of the device.
    pub(super) answer: Payload,
    /// Zone reply of the device.
    pub(super) zone: ZoneAnswer,
    /// Latency breakdown of the request in the device.
    pub(super) spans: Vec<Span>,
}

impl Active {
    /// Initializes the entry for request `id`, which arrives at `now`.
    pub(super) fn begin(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        (self.id, self.arrived, self.released, self.due) = (id, now, now, now);
        (self.request, self.sent, self.data) = (*request, *request, data);
        (self.stage, self.status) = (Stage::Held, Status::Done);
        (self.lost, self.stale) = (None, None);
        (self.command, self.is_placed, self.zone) = (None, false, ZoneAnswer::default());
        self.later.clear();
        self.added.clear();
        self.spans.clear();
        self.answer = Payload::NONE;
    }

    /// Time that the request spent in the device.
    pub(super) fn served(&self) -> Time {
        self.spans.iter().fold(Time::ZERO, |sum, span| sum + span.time)
    }
}
