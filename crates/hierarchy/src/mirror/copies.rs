//! Copying of ranges between members: ranges that may differ, and ranges that one member could not read.

use super::job::{Owner, Stage};
use super::member::Members;
use super::model::Mirror;
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Op, Request, Span, Status, Time};

/// Size in bytes of the pieces in which a chunk is copied if a member cannot read the whole chunk.
const PIECE: u64 = 4096;

impl Mirror {
    /// Starts a copy, which has locked its range, by reading a member.
    pub(super) fn start_copy(&mut self, now: Time, job: u32) {
        let source = if self.is_alone() { None } else { self.next_source(job) };
        let Some(source) = source else {
            // All possible sources or targets of the copy were removed in the meantime.
            self.in_use.give_back(job);
            return match self.jobs[job].owner {
                Owner::Host => self.read(now, job),
                Owner::Rewrite | Owner::Resync => self.give_back(job),
            };
        };
        let range = self.jobs[job].range();
        self.intent.begins(&range);
        self.jobs[job].stage = Stage::CopyingFrom;
        self.read_from(now, job, source);
    }

    /// Sends the read of a copy to a member.
    fn read_from(&mut self, now: Time, job: u32, member: usize) {
        let request = Request { op: Op::Read, ..self.jobs[job].request };
        self.send(now, job, member, &request, Payload::NONE);
    }

    /// Next member to read for a copy: the first member that the copy has not read yet; `None` if the copy
    /// has read all members. If members differ, the data of the first readable member is copied.
    fn next_source(&self, job: u32) -> Option<usize> {
        let of = &self.jobs[job];
        self.active().without(of.asked).without(of.targets).iter().next()
    }

    /// Handles a member's reply to the read of a copy.
    pub(super) fn copy_read(
        &mut self,
        now: Time,
        (job, member): (u32, usize),
        (status, data, spans): (Status, Payload, &[Span]),
        completions: &mut Completions,
    ) {
        if status != Status::Done {
            return self.copy_unread(now, (job, member), status, completions);
        }
        let is_removed = self.members[member].has_failed && self.is_alone();
        let of = &mut self.jobs[job];
        of.part_ended(spans);
        of.kept = of.spans.len() as u32;
        if is_removed {
            return self.copy_is_void(now, job);
        }
        of.data = data;
        let mut source = Members::NONE;
        source.insert(member);
        let targets = match of.owner {
            Owner::Rewrite => of.targets,
            Owner::Host | Owner::Resync => self.active().without(source),
        };
        let targets = targets.and(self.active());
        self.jobs[job].targets = targets;
        self.jobs[job].failed = Members::NONE;
        if targets.is_empty() {
            return self.copy_ended(now, job, completions);
        }
        let request = Request { op: Op::Write, ..self.jobs[job].request };
        self.jobs[job].stage = Stage::Writing;
        for target in targets.iter() {
            let data = self.jobs[job].data.clone();
            self.send(now, job, target, &request, data);
        }
    }

    /// Ends a copy whose source was removed, so that only one member is left. The data of that member stays
    /// unchanged, because earlier reads may have returned it.
    fn copy_is_void(&mut self, now: Time, job: u32) {
        if self.jobs[job].owner != Owner::Host {
            return self.copy_is_over(now, job);
        }
        let range = self.jobs[job].range();
        self.intent.ends(&range);
        self.in_use.give_back(job);
        self.read(now, job);
        self.start_waiting(now);
    }

    /// Handles a failed read of the source of a copy. Another member may be able to read the range, or the
    /// source may be able to read smaller ranges.
    fn copy_unread(
        &mut self,
        now: Time,
        (job, member): (u32, usize),
        status: Status,
        completions: &mut Completions,
    ) {
        self.counts.read_errors += 1;
        let of = &mut self.jobs[job];
        of.failed.insert(member);
        of.status = status;
        let (owner, range) = (of.owner, of.range());
        let is_chunk = owner == Owner::Resync && range.end - range.start > PIECE;
        if is_chunk {
            self.resync.fine_until = range.end;
        } else if let Some(next) = self.next_source(job) {
            return self.read_from(now, job, next);
        } else if owner == Owner::Resync {
            // The range may still differ, and will be copied by the next host read.
            self.resync.left.remove(range.clone());
        } else if owner == Owner::Host {
            self.jobs[job].spans.clear();
            self.complete(now, job, (status, Payload::NONE), completions);
        }
        self.copy_is_over(now, job);
    }

    /// Handles the end of the writes of a copy on all members. If a host read waits for the copy, the copied
    /// data must be durable before the read returns.
    pub(super) fn copy_written(&mut self, now: Time, job: u32, completions: &mut Completions) {
        let of = &mut self.jobs[job];
        let targets = of.targets.without(of.failed);
        if of.owner != Owner::Host || !self.intent.needs_flush() || of.is_flushed || targets.is_empty() {
            return self.copy_ended(now, job, completions);
        }
        of.is_flushed = true;
        of.kept = of.spans.len() as u32;
        let lost = self.losses_reported_to_others(job).and(targets);
        let of = &mut self.jobs[job];
        of.failed = of.failed.or(lost);
        let request = Request { op: Op::Flush, address: 0, bytes: 0, ..of.request };
        for target in targets.iter() {
            self.send(now, job, target, &request, Payload::NONE);
        }
    }

    /// Ends a copy after all targets completed or failed. Targets that failed are removed. The exception is a
    /// rewrite: the target's data was unreadable before and still is, so it cannot become stale.
    fn copy_ended(&mut self, now: Time, job: u32, completions: &mut Completions) {
        let of = &mut self.jobs[job];
        let (owner, range, data) = (of.owner, of.range(), std::mem::take(&mut of.data));
        let (failed, targets) = (of.failed, of.targets);
        match owner {
            Owner::Rewrite => self.counts.rewrites += u64::from(targets.without(failed).count()),
            Owner::Host | Owner::Resync => {
                failed.iter().for_each(|member| self.remove(member));
                self.are_equal(&range);
                self.counts.resynced_bytes += range.end - range.start;
            }
        }
        if owner == Owner::Host {
            self.complete(now, job, (Status::Done, data), completions);
        }
        self.copy_is_over(now, job);
    }

    fn copy_is_over(&mut self, now: Time, job: u32) {
        let of = &self.jobs[job];
        let (owner, since, range) = (of.owner, of.since, of.range());
        self.intent.ends(&range);
        self.in_use.give_back(job);
        self.give_back(job);
        if owner == Owner::Resync {
            let whole = self.resync.bandwidth.time_for(range.end - range.start);
            self.schedule_resync((since + whole).max(now));
        }
        self.start_waiting(now);
    }

    /// Schedules the next resync chunk at `at`, if a range is left to copy and more than one member is
    /// left.
    pub(super) fn schedule_resync(&mut self, at: Time) {
        let is_over = self.resync.left.is_empty() || self.is_alone();
        self.resync.next = if is_over { Time::MAX } else { at };
    }

    /// Starts to copy the next resync chunk, which is due.
    pub(super) fn resync_chunk(&mut self, now: Time) {
        self.resync.next = Time::MAX;
        let Some(left) = self.resync.left.iter().next() else { return };
        let size = if left.start < self.resync.fine_until { PIECE } else { self.resync.chunk };
        let end = left.end.min((left.start / size + 1) * size);
        let bytes = (end - left.start) as u32;
        let request = Request { arrival: now, address: left.start, bytes, volume: 0, op: Op::Write };
        let job = self.job(now, Owner::Resync, (RequestId(0), &request), Payload::NONE);
        if self.in_use.take(job, &(left.start..end)) {
            self.start(now, job);
        }
    }
}
