//! Requests of the host in progress, part by part.

use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};

/// A request that is served in parts, side by side.
#[derive(Clone, Debug, Value)]
pub(super) struct Visit {
    pub(super) id: RequestId,
    pub(super) request: Request,
    /// Parts that have not ended, and one while parts are being added.
    pub(super) parts: u32,
    /// When the part ended whose spans are kept.
    pub(super) latest: Time,
    pub(super) status: Status,
    /// Spans of the request itself; behind them are those of the part that ended last.
    pub(super) own: u32,
    pub(super) spans: Vec<Span>,
    /// What a read returns, part by part.
    pub(super) bytes: Vec<u8>,
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
    pub(super) fn receive(&mut self, address: u64, data: &Payload) {
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
