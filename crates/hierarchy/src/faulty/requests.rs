//! Requests in progress.

use super::kinds::Later;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Span, Status, Time};

/// Where a request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Stage {
    /// Held back before the device.
    #[default]
    Held,
    /// In the device.
    Below,
    /// Held back behind the device, or ended without it.
    Answered,
    /// Canceled while it was held back.
    Canceled,
}

/// A request in progress.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Active {
    pub(super) id: RequestId,
    pub(super) arrived: Time,
    /// As it was asked.
    pub(super) request: Request,
    /// As the device gets it, with its bytes.
    pub(super) sent: Request,
    pub(super) data: Payload,
    pub(super) stage: Stage,
    /// When the device gets it.
    pub(super) released: Time,
    /// What makes its answer later, each with the number of the fault.
    pub(super) later: Vec<(u32, Later)>,
    /// Its answer is lost: the number of the fault, and how long after it the error comes.
    pub(super) lost: Option<(u32, Time)>,
    /// The fault that answers it with old data.
    pub(super) stale: Option<u32>,
    /// Time that each fault added, by its number.
    pub(super) added: Vec<(u32, Time)>,
    /// When it continues, while it is held back.
    pub(super) due: Time,
    /// How it ends.
    pub(super) status: Status,
    /// What a read returned.
    pub(super) answer: Payload,
    /// Where its time in the device went.
    pub(super) spans: Vec<Span>,
}

impl Active {
    /// Request `id` comes at `now`.
    pub(super) fn begin(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        (self.id, self.arrived, self.released, self.due) = (id, now, now, now);
        (self.request, self.sent, self.data) = (*request, *request, data);
        (self.stage, self.status) = (Stage::Held, Status::Done);
        (self.lost, self.stale) = (None, None);
        self.later.clear();
        self.added.clear();
        self.spans.clear();
        self.answer = Payload::NONE;
    }

    /// Time that the device took.
    pub(super) fn served(&self) -> Time {
        self.spans.iter().fold(Time::ZERO, |sum, span| sum + span.time)
    }
}
