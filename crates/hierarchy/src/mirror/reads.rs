//! Host reads: member selection, hedging, and errors.

use super::ReadPolicy;
use super::job::{Owner, Stage};
use super::member::Operation;
use super::model::Mirror;
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Op, Request, Span, Status, Time};

impl Mirror {
    /// Handles the arrival of a host read. Ranges that may differ are copied first.
    pub(super) fn arrive_read(&mut self, now: Time, id: RequestId, request: &Request) {
        let job = self.job(now, Owner::Host, (id, request), Payload::NONE);
        let range = self.jobs[job].range();
        if !self.differing.overlaps(&range) {
            self.read(now, job);
        } else if self.in_use.take(job, &range) {
            self.start(now, job);
        }
    }

    /// Sends a host read to a member, and schedules its hedge.
    #[inline]
    pub(super) fn read(&mut self, now: Time, job: u32) {
        let member = self.choose();
        self.jobs[job].stage = Stage::Reading;
        let request = self.jobs[job].request;
        self.send(now, job, member, &request, Payload::NONE);
        if let Some(after) = self.hedge_after
            && !self.is_alone()
        {
            self.hedges.push_back((now + after, job));
        }
    }

    /// Selects the member for the next read.
    fn choose(&mut self) -> usize {
        let count = self.members.len();
        let in_turn = (0..count).map(|step| (self.turn + step) % count);
        let mut present = in_turn.filter(|&member| !self.members[member].has_failed);
        let chosen = match self.read_policy {
            ReadPolicy::First => self.active().iter().next(),
            ReadPolicy::RoundRobin => present.next(),
            // Ties are resolved in rotation.
            ReadPolicy::ShortestQueue => present.min_by_key(|&member| self.members[member].outstanding),
        };
        let chosen = chosen.expect("one member is left");
        self.turn = (chosen + 1) % count;
        chosen
    }

    /// The next member after `member` that has not failed and has not received the read; `None` if there is
    /// no such member.
    fn next_untried(&self, job: u32, member: usize) -> Option<usize> {
        let (count, asked) = (self.members.len(), self.jobs[job].asked);
        let mut behind = (1..count).map(|step| (member + step) % count);
        behind.find(|&next| !self.members[next].has_failed && !asked.contains(next))
    }

    /// Hedges the read whose hedge is due, i.e. sends it to another member.
    pub(super) fn hedge(&mut self, now: Time) {
        let (_, job) = self.hedges.pop_front().expect("it is due");
        let asked = self.operations.iter().find(|(_, operation)| operation.job == job);
        let member = asked.expect("it is outstanding").1.member as usize;
        let Some(next) = self.next_untried(job, member) else { return };
        let request = self.jobs[job].request;
        let number = self.send(now, job, next, &request, Payload::NONE);
        self.operations[number].is_hedge = true;
        self.counts.hedges_sent += 1;
    }

    /// Removes the scheduled hedge of `job`.
    pub(super) fn forget_hedge(&mut self, job: u32) {
        if let Some(position) = self.hedges.iter().position(|&(_, of)| of == job) {
            self.hedges.remove(position);
        }
    }

    /// Handles a member's reply to a read.
    pub(super) fn read_ended(
        &mut self,
        now: Time,
        operation: Operation,
        (status, data, spans): (Status, Payload, &[Span]),
        completions: &mut Completions,
    ) {
        let Operation { job, member, .. } = operation;
        if status != Status::Done {
            self.counts.read_errors += 1;
            self.jobs[job].failed.insert(member as usize);
        }
        if !self.jobs[job].is_answered {
            let left = self.jobs[job].left;
            if status != Status::Done && left > 0 {
                // The other member may still return the data.
                return;
            }
            self.forget_hedge(job);
            if status != Status::Done
                && let Some(next) = self.next_untried(job, member as usize)
            {
                let request = self.jobs[job].request;
                self.send(now, job, next, &request, Payload::NONE);
                return;
            }
            self.jobs[job].part_ended(spans);
            self.complete(now, job, (status, data), completions);
            self.jobs[job].is_answered = true;
            self.counts.hedges_won += u64::from(operation.is_hedge && status == Status::Done);
            if left > 0 {
                self.cancel_operations(now, job);
            }
        }
        if self.jobs[job].left == 0 {
            self.read_is_over(now, job);
        }
    }

    /// Ends a read. If some of the members that received the read failed, and others did not, the range is
    /// rewritten on the failed members.
    fn read_is_over(&mut self, now: Time, job: u32) {
        let (failed, asked, request) = (self.jobs[job].failed, self.jobs[job].asked, self.jobs[job].request);
        self.give_back(job);
        let failed = failed.and(self.active());
        if failed.is_empty() || asked.and(self.active()).without(failed).is_empty() {
            return;
        }
        let request = self.whole_units(&Request { op: Op::Write, ..request });
        let rewrite = self.job(now, Owner::Rewrite, (RequestId(0), &request), Payload::NONE);
        self.jobs[rewrite].targets = failed;
        let range = self.jobs[rewrite].range();
        if self.in_use.take(rewrite, &range) {
            self.start(now, rewrite);
        }
    }

    /// Returns a request that covers all mapping units that `request` touches. A drive rejects a partial
    /// write of a unit if it has lost the rest of the unit.
    fn whole_units(&self, request: &Request) -> Request {
        let (start, end) = (request.address, request.address + u64::from(request.bytes));
        let end = end.next_multiple_of(self.unit).min(self.capacity.0).max(end);
        let start = start - start % self.unit;
        Request { address: start, bytes: (end - start) as u32, ..*request }
    }
}
