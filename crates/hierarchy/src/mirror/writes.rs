//! Writes, trims, and flushes, which are sent to all members.

use super::job::{Owner, Stage};
use super::member::Members;
use super::model::Mirror;
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Op, Request, Span, Status, Time};

impl Mirror {
    /// Handles a host write or trim, which waits for overlapping writes.
    pub(super) fn arrive_write(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        let job = self.job(now, Owner::Host, (id, request), data);
        let range = self.jobs[job].range();
        if self.in_use.take(job, &range) {
            self.start(now, job);
        }
    }

    /// Handles a host flush.
    pub(super) fn arrive_flush(&mut self, now: Time, id: RequestId, request: &Request) {
        let job = self.job(now, Owner::Host, (id, request), Payload::NONE);
        self.jobs[job].writes_before = self.intent.completed();
        self.jobs[job].failed = self.losses_reported_to_others(job);
        self.send_to(now, job, self.active());
    }

    /// Records that `member` reported a loss to a flush of `job`.
    ///
    /// A member reports a loss only once. Until `job` ends, all other flushes therefore fail on this
    /// member, too. Otherwise, a later flush could overtake `job`, and the mirror would keep a member
    /// without durable data.
    fn flush_failed(&mut self, job: u32, member: usize) {
        let of = &mut self.jobs[job];
        self.failing_flushes += u32::from(of.lost.is_empty());
        of.lost.insert(member);
        for (_, other) in self.jobs.iter_mut() {
            if other.is_host_flush() || other.is_flushed && other.targets.contains(member) {
                other.failed.insert(member);
            }
        }
    }

    /// Members that reported a loss to a flush in progress of a job other than `job`.
    pub(super) fn losses_reported_to_others(&self, job: u32) -> Members {
        if self.failing_flushes == 0 {
            return Members::NONE;
        }
        let others = self.jobs.iter().filter(|(number, _)| *number != job);
        others.fold(Members::NONE, |all, (_, other)| all.or(other.lost))
    }

    /// Sends a write or trim, which has locked its range, to all members.
    pub(super) fn write_to_all(&mut self, now: Time, job: u32) {
        let range = self.jobs[job].range();
        self.intent.begins(&range);
        self.send_to(now, job, self.active());
    }

    /// Sends the request of a job to `members`.
    pub(super) fn send_to(&mut self, now: Time, job: u32, members: Members) {
        self.jobs[job].stage = Stage::Writing;
        let (request, data) = (self.jobs[job].request, self.jobs[job].data.clone());
        for member in members.iter() {
            self.send(now, job, member, &request, data.clone());
        }
    }

    /// Handles a member's reply to a write, trim, or flush of the host or of a copy.
    pub(super) fn write_ended(
        &mut self,
        now: Time,
        (job, member): (u32, usize),
        (status, spans): (Status, &[Span]),
        completions: &mut Completions,
    ) {
        let of = &mut self.jobs[job];
        of.part_ended(spans);
        if status != Status::Done {
            of.failed.insert(member);
            of.status = if of.status == Status::Done { status } else { of.status };
            if of.is_host_flush() || of.is_flushed {
                self.flush_failed(job, member);
            }
        }
        if self.jobs[job].left > 0 {
            return;
        }
        let of = &self.jobs[job];
        match (of.owner, of.request.op) {
            (Owner::Host, Op::Write | Op::Trim | Op::Flush) => self.host_write_ended(now, job, completions),
            _ => self.copy_written(now, job, completions),
        }
    }

    /// Ends a write, trim, or flush of the host after all members have replied. Members that failed are
    /// removed, unless all members failed.
    fn host_write_ended(&mut self, now: Time, job: u32, completions: &mut Completions) {
        let of = &self.jobs[job];
        let (op, range, writes_before) = (of.request.op, of.range(), of.writes_before);
        let failed = of.failed.and(self.active());
        let is_done = !self.active().without(failed).is_empty();
        let status = match of.status {
            _ if is_done => Status::Done,
            // All failures were reported to other flushes.
            Status::Done => Status::MediaError,
            status => status,
        };
        self.complete(now, job, (status, Payload::NONE), completions);
        self.give_back(job);
        if is_done {
            failed.iter().for_each(|member| self.remove(member));
        }
        match op {
            Op::Flush if is_done => self.intent.flushed(writes_before),
            Op::Flush if !self.is_alone() => {
                let regions = self.intent.set_regions(self.capacity.0);
                regions.into_iter().for_each(|region| self.differing.insert(region));
            }
            Op::Flush | Op::Read => {}
            Op::Write if is_done => self.are_equal(&range),
            Op::Write | Op::Trim => {
                if !self.is_alone() {
                    self.differing.insert(range.clone());
                }
            }
        }
        if op != Op::Flush {
            self.intent.ends(&range);
            self.in_use.give_back(job);
            self.start_waiting(now);
        }
    }

    /// Records that all members are equal in `range`.
    pub(super) fn are_equal(&mut self, range: &std::ops::Range<u64>) {
        if !self.differing.is_empty() {
            self.differing.remove(range.clone());
            self.resync.left.remove(range.clone());
        }
    }
}
