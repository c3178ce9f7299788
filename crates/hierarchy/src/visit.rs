//! A host request in progress, which is served in parts.

use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};

/// A request that is served in parallel parts.
#[derive(Clone, Debug, Value)]
pub(crate) struct Visit {
    pub(crate) id: RequestId,
    pub(crate) request: Request,
    /// Time at which the request was submitted to the composite device.
    pub(crate) submitted: Time,
    /// Number of parts that have not ended, plus one while parts are being added.
    pub(crate) parts: u32,
    /// End time of the part that ended last. Its spans are stored.
    pub(crate) latest: Time,
    pub(crate) status: Status,
    /// Number of spans recorded before the request was divided into parts. The spans of the part that ended
    /// last follow.
    pub(crate) own: u32,
    pub(crate) spans: Vec<Span>,
    /// Data of a read, assembled from its parts.
    pub(crate) bytes: Vec<u8>,
    /// Data of a read, if one part returns all of it.
    pub(crate) data: Payload,
}

impl Default for Visit {
    fn default() -> Visit {
        Visit {
            id: RequestId(0),
            request: Request { arrival: Time::ZERO, address: 0, bytes: 0, volume: 0, op: Op::Flush },
            submitted: Time::ZERO,
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

/// Flushes of a composite device that report a loss.
///
/// Other flushes that are outstanding between the report of the loss and the completion of such a flush
/// also fail. Otherwise, if a part delays the failing flush, a later flush could complete first, and the
/// host would consider the lost data durable.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct FailingFlushes {
    /// Number of flushes in progress with a part that reported a loss.
    outstanding: u32,
    /// Completion time of the last flush that reported a loss.
    failed_at: Time,
}

impl FailingFlushes {
    /// Records the status of a part of `visit`.
    #[inline]
    pub(crate) fn part_ends(&mut self, visit: &mut Visit, status: Status) {
        if status != Status::Done && visit.status != Status::MediaError {
            visit.status = status;
            self.outstanding += u32::from(visit.reports_loss());
        }
    }

    /// Returns the status of `visit`, which completes at `now`.
    #[inline]
    pub(crate) fn final_status(&mut self, now: Time, visit: &Visit) -> Status {
        if visit.request.op != Op::Flush {
            return visit.status;
        }
        if visit.reports_loss() {
            self.outstanding -= 1;
            self.failed_at = now;
        } else if visit.status == Status::Done && (self.outstanding > 0 || visit.submitted < self.failed_at) {
            return Status::MediaError;
        }
        visit.status
    }
}

impl Visit {
    /// Whether the request is a flush, and one of its parts reported a loss.
    fn reports_loss(&self) -> bool {
        self.request.op == Op::Flush && self.status == Status::MediaError
    }

    /// Removes and returns the data of a read.
    pub(crate) fn take_data(&mut self) -> Payload {
        if self.bytes.is_empty() {
            return std::mem::take(&mut self.data);
        }
        std::mem::take(&mut self.bytes).into()
    }

    /// Stores `data`, which a part of a read has returned. `address` is the address of its first byte.
    pub(crate) fn receive(&mut self, address: u64, data: &Payload) {
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

/// Outcome of a part of a request.
pub(crate) struct Part<'a> {
    pub(crate) status: Status,
    /// Activity and time of the part in the composite device, before the time in `spans`; `None` if the
    /// part spends no time there.
    pub(crate) own: Option<(Activity, Time)>,
    pub(crate) before: &'a [Span],
    pub(crate) spans: &'a [Span],
    /// Address of the first byte that a part of a read returns, and the data.
    pub(crate) data: (u64, Payload),
}

impl Part<'_> {
    /// Outcome of a part that ended immediately.
    pub(crate) fn at_once(status: Status) -> Part<'static> {
        Part { status, own: None, before: &[], spans: &[], data: (0, Payload::NONE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a flush that was submitted at `submitted`, in picoseconds.
    fn flush(submitted: u64) -> Visit {
        Visit { submitted: Time::from_ps(submitted), ..Visit::default() }
    }

    #[test]
    fn flushes_fail_until_a_failing_flush_completes() {
        let at = Time::from_ps;
        let (mut flushes, mut failing) = (FailingFlushes::default(), flush(0));
        let others = [flush(10), flush(20), flush(30)];
        assert_eq!(flushes.final_status(at(5), &others[0]), Status::Done, "no loss yet");
        flushes.part_ends(&mut failing, Status::MediaError);
        flushes.part_ends(&mut failing, Status::MediaError);
        assert_eq!(flushes.final_status(at(25), &others[0]), Status::MediaError, "it overtakes the failure");
        assert_eq!(flushes.final_status(at(30), &failing), Status::MediaError);
        assert_eq!(flushes.final_status(at(40), &others[1]), Status::MediaError, "it was outstanding");
        assert_eq!(flushes.final_status(at(40), &others[2]), Status::Done, "it follows the report");
    }
}
