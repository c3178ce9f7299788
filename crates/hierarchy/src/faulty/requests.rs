//! Requests in progress.

use super::kinds::Later;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Span, Status, Time, ZoneAnswer, ZoneCommand};

/// State of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Stage {
    /// Delayed before the device.
    #[default]
    Held,
    /// In the device.
    Below,
    /// Delayed after the device, or ended without it.
    Answered,
    /// Canceled while delayed.
    Canceled,
}

/// A request in progress.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Active {
    pub(super) id: RequestId,
    pub(super) arrived: Time,
    /// As submitted.
    pub(super) request: Request,
    /// The zone command that it is, if any.
    pub(super) command: Option<ZoneCommand>,
    /// Whether it is an append that has the address of a write pointer instead of that of its zone.
    pub(super) is_placed: bool,
    /// As sent to the device, with its data.
    pub(super) sent: Request,
    pub(super) data: Payload,
    pub(super) stage: Stage,
    /// When it is sent to the device.
    pub(super) released: Time,
    /// Delays of its reply, each with the number of the fault.
    pub(super) later: Vec<(u32, Later)>,
    /// Its reply is lost: number of the fault, and delay of the error.
    pub(super) lost: Option<(u32, Time)>,
    /// The fault that answers it with old data.
    pub(super) stale: Option<u32>,
    /// Time that each fault added, by its number.
    pub(super) added: Vec<(u32, Time)>,
    /// When it continues, if delayed.
    pub(super) due: Time,
    /// Completion status.
    pub(super) status: Status,
    /// Data of a read.
    pub(super) answer: Payload,
    /// Answer of a device with zones.
    pub(super) zone: ZoneAnswer,
    /// Latency breakdown in the device.
    pub(super) spans: Vec<Span>,
}

impl Active {
    /// Adds request `id` at `now`.
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

    /// Time in the device.
    pub(super) fn served(&self) -> Time {
        self.spans.iter().fold(Time::ZERO, |sum, span| sum + span.time)
    }
}
