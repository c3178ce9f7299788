//! Jobs of the mirror: requests of the host, and copies between members.

use super::member::Members;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Span, Status, Time};

/// Originator of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Owner {
    /// A request of the host.
    #[default]
    Host,
    /// Rewrites a range on a member that could not read it.
    Rewrite,
    /// Copies a range that may differ.
    Resync,
}

/// State of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Stage {
    /// Waits until no other job has its range.
    #[default]
    Waiting,
    /// A read of the host that needs no copy; `is_answered` if only a canceled request is left.
    Reading,
    /// Reads the source of a copy.
    CopyingFrom,
    /// Writes, trims or flushes.
    Writing,
}

/// A job in progress.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Job {
    pub(super) owner: Owner,
    pub(super) stage: Stage,
    pub(super) id: RequestId,
    pub(super) request: Request,
    pub(super) arrived: Time,
    /// When it got its range, or was submitted.
    pub(super) since: Time,
    /// Bytes to be written.
    pub(super) data: Payload,
    /// Operations outstanding.
    pub(super) left: u32,
    /// Members that were asked, that failed, and, for a copy, that are written.
    pub(super) asked: Members,
    pub(super) failed: Members,
    pub(super) targets: Members,
    pub(super) is_answered: bool,
    /// For a copy: whether its flush was sent.
    pub(super) is_flushed: bool,
    pub(super) status: Status,
    /// Latency breakdown; the first `kept` spans are of completed parts.
    pub(super) spans: Vec<Span>,
    pub(super) kept: u32,
    /// For a flush: number of writes completed when it was submitted.
    pub(super) writes_before: u64,
}

impl Job {
    /// Starts a job at `now`.
    pub(super) fn begin(
        &mut self,
        now: Time,
        owner: Owner,
        (id, request): (RequestId, &Request),
        data: Payload,
    ) {
        (self.owner, self.stage, self.id, self.request) = (owner, Stage::Waiting, id, *request);
        (self.arrived, self.since, self.data) = (now, now, data);
        (self.left, self.asked, self.failed, self.targets) = (0, Members::NONE, Members::NONE, Members::NONE);
        (self.is_answered, self.is_flushed, self.status) = (false, false, Status::Done);
        self.spans.clear();
        (self.kept, self.writes_before) = (0, 0);
    }

    /// The byte range of the job.
    #[inline]
    pub(super) fn range(&self) -> std::ops::Range<u64> {
        self.request.address..self.request.address + u64::from(self.request.bytes)
    }

    /// Adds the spans of a completed part; for parallel parts, those of the last one are kept.
    pub(super) fn part_ended(&mut self, spans: &[Span]) {
        self.spans.truncate(self.kept as usize);
        self.spans.extend_from_slice(spans);
    }
}
