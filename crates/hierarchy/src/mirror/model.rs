//! The mirror, with its members and the state shared by all requests.

use super::job::{Job, Owner, Stage};
use super::member::{Member, Members, Operation};
use super::ranges_in_use::RangesInUse;
use super::write_intent::WriteIntent;
use super::{Config, ReadPolicy};
use nacre_kernel::event::{Canceled, Completions, Payload, RequestId, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Bandwidth, Bytes, ComponentId, HostCounts, Op, Ranges, Request, Status, Time};
use std::collections::VecDeque;

/// Maximum size in bytes of a member's mapping unit that is rewritten completely.
const UNIT_MAX: u64 = 1 << 20;

/// A mirror.
#[derive(State)]
#[state(after = "Mirror::complete_restored")]
pub(super) struct Mirror {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) capacity: Bytes,
    /// Number of bytes that are rewritten together: the largest mapping unit of all members.
    #[state(skip = "from the configuration")]
    pub(super) unit: u64,
    #[state(skip = "from the configuration")]
    pub(super) read_policy: ReadPolicy,
    #[state(skip = "from the configuration")]
    pub(super) hedge_after: Option<Time>,
    pub(super) members: Vec<Member>,
    pub(super) jobs: Slab<Job>,
    pub(super) operations: Slab<Operation>,
    /// Number of flush jobs in progress to which a member has reported a loss.
    pub(super) failing_flushes: u32,
    pub(super) in_use: RangesInUse,
    pub(super) intent: WriteIntent,
    /// Byte ranges that may differ between members.
    pub(super) differing: Ranges,
    pub(super) resync: Resync,
    /// Member that is next in the rotation.
    pub(super) turn: usize,
    /// Outstanding reads that may still be hedged, each with the time of its hedge, in time order.
    #[state(varies)]
    pub(super) hedges: VecDeque<(Time, u32)>,
    pub(super) host: HostCounts,
    pub(super) counts: Counts,
    /// Buffer for the completions of a member.
    #[state(skip = "empty between events")]
    pub(super) completed: Completions,
}

/// Resync of ranges that may differ after a power loss.
#[derive(Clone, Debug, State)]
pub(super) struct Resync {
    #[state(skip = "from the configuration")]
    pub(super) chunk: u64,
    #[state(skip = "from the configuration")]
    pub(super) bandwidth: Bandwidth,
    /// Ranges left to copy.
    pub(super) left: Ranges,
    /// Time at which the next chunk is copied; [`Time::MAX`] if no range is left, or while a chunk is being
    /// copied.
    pub(super) next: Time,
    /// End of the range that is copied in smaller pieces because a member could not read all of a chunk.
    pub(super) fine_until: u64,
}

/// Counters of the mirror.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Counts {
    pub(super) hedges_sent: u64,
    pub(super) hedges_won: u64,
    pub(super) read_errors: u64,
    pub(super) rewrites: u64,
    pub(super) resynced_bytes: u64,
}

impl Mirror {
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: &Config,
        members: Vec<Member>,
        capacity: Bytes,
    ) -> Mirror {
        let needs_flush = members.iter().any(|member| member.device.capabilities().persistence.needs_flush());
        let units = members.iter().map(|member| u64::from(member.device.capabilities().atomic_unit));
        let unit = units.filter(|&unit| unit <= UNIT_MAX).max().unwrap_or(1).max(1);
        let resync = Resync {
            chunk: config.resync_chunk.0,
            bandwidth: config.resync_bandwidth,
            left: Ranges::default(),
            next: Time::MAX,
            fine_until: 0,
        };
        Mirror {
            id,
            path,
            capacity,
            unit,
            read_policy: config.read_policy,
            hedge_after: config.hedge_after,
            members,
            jobs: Slab::new(),
            operations: Slab::new(),
            failing_flushes: 0,
            in_use: RangesInUse::default(),
            intent: WriteIntent::new(config.bitmap_region.0, needs_flush),
            differing: Ranges::default(),
            resync,
            turn: 0,
            hedges: VecDeque::new(),
            host: HostCounts::default(),
            counts: Counts::default(),
            completed: Completions::new(),
        }
    }

    fn complete_restored(&mut self) -> Result<(), String> {
        self.look_at_members();
        let count = self.members.len();
        match self.turn < count {
            true => Ok(()),
            false => Err(format!("member {} of {count}", self.turn)),
        }
    }

    /// Updates the time of the next event of each member.
    pub(super) fn look_at_members(&mut self) {
        self.members.iter_mut().for_each(|member| member.next = member.device.next_event());
    }

    /// Members that were not removed.
    pub(super) fn active(&self) -> Members {
        let mut active = Members::NONE;
        let present = self.members.iter().enumerate().filter(|(_, member)| !member.has_failed);
        present.for_each(|(number, _)| active.insert(number));
        active
    }

    /// Whether only one member is left.
    pub(super) fn is_alone(&self) -> bool {
        self.active().count() == 1
    }

    /// Adds a job and returns its number.
    #[inline]
    pub(super) fn job(
        &mut self,
        now: Time,
        owner: Owner,
        request: (RequestId, &Request),
        data: Payload,
    ) -> u32 {
        let (number, job) = self.jobs.take();
        job.begin(now, owner, request, data);
        number
    }

    /// Submits a request of `job` to a member. Returns the number of the operation.
    #[inline]
    pub(super) fn send(
        &mut self,
        now: Time,
        job: u32,
        member: usize,
        request: &Request,
        data: Payload,
    ) -> u32 {
        let of = &mut self.jobs[job];
        of.left += 1;
        of.asked.insert(member);
        let (number, operation) = self.operations.take();
        *operation = Operation { job, member: member as u32, since: now, is_hedge: false };
        self.members[member].submit(now, number, &Request { arrival: now, ..*request }, data);
        number
    }

    /// Completes a host request. Latency that its spans do not cover is charged to the mirror.
    pub(super) fn complete(
        &mut self,
        now: Time,
        job: u32,
        (status, data): (Status, Payload),
        completions: &mut Completions,
    ) {
        let of = &self.jobs[job];
        let told = of.spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
        let own = [(Activity::Queue, now - of.arrived - told)];
        completions.push_behind(of.id, now, status, self.id, own, &of.spans).data = data;
    }

    /// Removes a failed member unless it is the last one.
    pub(super) fn remove(&mut self, member: usize) {
        if self.is_alone() || self.members[member].has_failed {
            return;
        }
        self.members[member].has_failed = true;
        if self.is_alone() {
            self.differing = Ranges::default();
            self.intent.clear();
            self.resync.left = Ranges::default();
            self.resync.next = Time::MAX;
        }
    }

    /// Starts waiting jobs whose ranges are no longer locked.
    pub(super) fn start_waiting(&mut self, now: Time) {
        while let Some(job) = self.in_use.next() {
            self.start(now, job);
        }
    }

    /// Starts a job that has locked its range.
    pub(super) fn start(&mut self, now: Time, job: u32) {
        let of = &mut self.jobs[job];
        of.since = now;
        match (of.owner, of.request.op) {
            (Owner::Host, Op::Write | Op::Trim) => self.write_to_all(now, job),
            (Owner::Host, Op::Read) if !self.differing.overlaps(&self.jobs[job].range()) => {
                self.in_use.give_back(job);
                self.read(now, job);
            }
            _ => self.start_copy(now, job),
        }
    }

    /// Cancels the host request `id` if this is still possible.
    pub(super) fn withdraw(&mut self, now: Time, id: RequestId) -> Canceled {
        let is_it = |(_, job): &(u32, &Job)| job.owner == Owner::Host && job.id == id && !job.is_answered;
        let Some((number, job)) = self.jobs.iter().find(is_it) else { return Canceled::TooLate };
        let left = job.left;
        if self.in_use.withdraw(number) {
            self.give_back(number);
            self.start_waiting(now);
            return Canceled::Yes;
        }
        // If two requests are outstanding, one of them may have progressed too far to be canceled.
        if job.stage != Stage::Reading || left != 1 {
            return Canceled::TooLate;
        }
        self.cancel_operations(now, number);
        if self.jobs[number].left > 0 {
            return Canceled::TooLate;
        }
        self.forget_hedge(number);
        self.give_back(number);
        Canceled::Yes
    }

    /// Cancels the operations of a job that members have not started.
    pub(super) fn cancel_operations(&mut self, now: Time, job: u32) {
        let of_job = self.operations.iter().filter(|(_, operation)| operation.job == job);
        let numbers: Vec<(u32, usize)> =
            of_job.map(|(number, operation)| (number, operation.member as usize)).collect();
        for (number, member) in numbers {
            let member = &mut self.members[member];
            if member.device.cancel(now, RequestId(number)) == Canceled::Yes {
                member.next = member.device.next_event();
                member.outstanding -= 1;
                self.operations.give_back(number);
                self.jobs[job].left -= 1;
            }
        }
    }

    /// Ends a job.
    #[inline]
    pub(super) fn give_back(&mut self, job: u32) {
        let of = &mut self.jobs[job];
        of.data = Payload::NONE;
        self.failing_flushes -= u32::from(!of.lost.is_empty());
        self.jobs.give_back(job);
    }
}
