//! Requests of the host in progress, part by part.

use super::cache::ServerCache;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Op, Request, Span, Stage, Status, Time};

/// A request that is served in parts, side by side.
#[derive(Clone, Debug, Value)]
pub(super) struct Visit {
    pub(super) id: RequestId,
    pub(super) request: Request,
    /// Parts that have not ended, and one while parts are being added.
    parts: u32,
    /// When the part ended whose spans are kept.
    latest: Time,
    status: Status,
    /// Spans of the request itself; behind them are those of the part that ended last.
    own: u32,
    pub(super) spans: Vec<Span>,
    /// What a read returns, part by part.
    bytes: Vec<u8>,
    /// What it returns, if one part brings all of it.
    pub(super) data: Payload,
}

impl Default for Visit {
    fn default() -> Visit {
        Visit {
            id: RequestId(0),
            request: Request { arrival: Time::ZERO, address: 0, bytes: 0, volume: 0, op: Op::Flush },
            parts: 0,
            latest: Time::ZERO,
            status: Status::Done,
            own: 0,
            spans: Vec::new(),
            bytes: Vec::new(),
            data: Payload::NONE,
        }
    }
}

impl Visit {
    pub(super) fn status(&self) -> Status {
        self.status
    }

    /// What a read returns.
    pub(super) fn take_data(&mut self) -> Payload {
        if self.bytes.is_empty() {
            return std::mem::take(&mut self.data);
        }
        std::mem::take(&mut self.bytes).into()
    }

    /// A part of a read returns the bytes from `address` on.
    fn receive(&mut self, address: u64, data: &Payload) {
        let Some(bytes) = data.bytes() else { return };
        if self.request.op != Op::Read {
            return;
        }
        let all = self.request.bytes as usize;
        if address == self.request.address && bytes.len() == all {
            self.data = data.clone();
            return;
        }
        if self.bytes.is_empty() {
            self.bytes = vec![0; all];
        }
        let from = (address - self.request.address) as usize;
        self.bytes[from..from + bytes.len()].copy_from_slice(bytes);
    }
}

/// How a part of a request ended.
pub(super) struct Part<'a> {
    pub(super) status: Status,
    /// Time that went into the cache itself, before what `spans` tell.
    pub(super) own: Option<(Activity, Time)>,
    pub(super) before: &'a [Span],
    pub(super) spans: &'a [Span],
    /// The bytes that a read returns, from this address on.
    pub(super) data: (u64, Payload),
}

impl Part<'_> {
    /// It ended at once.
    pub(super) fn at_once(status: Status) -> Part<'static> {
        Part { status, own: None, before: &[], spans: &[], data: (0, Payload::NONE) }
    }
}

impl ServerCache {
    /// Request `id` begins to be served, after it waited for `queued` beside the look-up.
    pub(super) fn enter(&mut self, now: Time, id: RequestId, request: &Request, queued: Time) -> u32 {
        let (component, lookup) = (self.id, self.lookup);
        let (number, visit) = self.visits.take();
        (visit.id, visit.request) = (id, *request);
        (visit.parts, visit.latest, visit.status) = (1, now, Status::Done);
        visit.spans.clear();
        for (activity, time) in [(Activity::Software, lookup), (Activity::Queue, queued)] {
            if !time.is_zero() {
                visit.spans.push(Span { component, activity, stage: Stage::Untold, time });
            }
        }
        visit.own = visit.spans.len() as u32;
        visit.bytes.clear();
        visit.data = Payload::NONE;
        number
    }

    /// A part of the request is added.
    pub(super) fn add_part(&mut self, visit: u32) {
        self.visits[visit].parts += 1;
    }

    /// All parts of the request are added.
    pub(super) fn leave(&mut self, now: Time, visit: u32) {
        debug_assert!(self.moves.is_empty(), "a move was left undone");
        self.part_ends(now, visit, Part::at_once(Status::Done));
    }

    /// A part ended. The spans of the one that ends last are kept.
    pub(super) fn part_ends(&mut self, now: Time, number: u32, part: Part<'_>) {
        let component = self.id;
        let visit = &mut self.visits[number];
        if part.status != Status::Done {
            visit.status = part.status;
        }
        if now > visit.latest {
            visit.latest = now;
            visit.spans.truncate(visit.own as usize);
            if let Some((activity, time)) = part.own.filter(|(_, time)| !time.is_zero()) {
                visit.spans.push(Span { component, activity, stage: Stage::Untold, time });
            }
            visit.spans.extend_from_slice(part.before);
            visit.spans.extend_from_slice(part.spans);
        }
        visit.receive(part.data.0, &part.data.1);
        visit.parts -= 1;
        if visit.parts == 0 {
            self.due.push_back((now, number));
        }
    }
}
