//! Jobs of the mirror: host requests, and copies between members.

use super::member::Members;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Op, Request, Span, Status, Time};

/// Originator of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Owner {
    /// A host request.
    #[default]
    Host,
    /// Rewrites a range on a member that could not read it.
    Rewrite,
    /// Copies a range that may differ between members.
    Resync,
}

/// State of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Stage {
    /// Waits until the range is not locked by another job.
    #[default]
    Waiting,
    /// Reads one or more members for a host read without a copy. If the job's `is_answered` is true, the
    /// host has its data, and only a canceled request is left.
    Reading,
    /// Reads the source of a copy.
    CopyingFrom,
    /// Sends writes, trims, or flushes to members.
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
    /// Time at which the job locked its range, or the submission time until the range is locked.
    pub(super) since: Time,
    /// Data to write.
    pub(super) data: Payload,
    /// Number of outstanding operations.
    pub(super) left: u32,
    /// Members that received a request.
    pub(super) asked: Members,
    /// Members whose request failed. For a flush, this includes members that reported a loss to another
    /// flush.
    pub(super) failed: Members,
    /// Members that reported a loss to a flush of this job.
    pub(super) lost: Members,
    /// Members to which a copy writes.
    pub(super) targets: Members,
    pub(super) is_answered: bool,
    /// For a copy, whether its flush was submitted.
    pub(super) is_flushed: bool,
    pub(super) status: Status,
    /// Latency breakdown. The first `kept` spans belong to the completed phases of the job.
    pub(super) spans: Vec<Span>,
    pub(super) kept: u32,
    /// For a flush, number of writes that had completed when the flush was submitted.
    pub(super) writes_before: u64,
}

impl Job {
    /// Initializes a job that arrives at `now`.
    pub(super) fn begin(
        &mut self,
        now: Time,
        owner: Owner,
        (id, request): (RequestId, &Request),
        data: Payload,
    ) {
        (self.owner, self.stage, self.id, self.request) = (owner, Stage::Waiting, id, *request);
        (self.arrived, self.since, self.data) = (now, now, data);
        (self.left, self.asked, self.targets) = (0, Members::NONE, Members::NONE);
        (self.failed, self.lost) = (Members::NONE, Members::NONE);
        (self.is_answered, self.is_flushed, self.status) = (false, false, Status::Done);
        self.spans.clear();
        (self.kept, self.writes_before) = (0, 0);
    }

    /// The byte range of the job.
    #[inline]
    pub(super) fn range(&self) -> std::ops::Range<u64> {
        self.request.address..self.request.address + u64::from(self.request.bytes)
    }

    /// Whether the job is a host flush.
    #[inline]
    pub(super) fn is_host_flush(&self) -> bool {
        self.owner == Owner::Host && self.request.op == Op::Flush
    }

    /// Sets the spans of the current phase. If members serve a phase in parallel, the spans of the last reply
    /// are used.
    pub(super) fn part_ended(&mut self, spans: &[Span]) {
        self.spans.truncate(self.kept as usize);
        self.spans.extend_from_slice(spans);
    }
}
