//! Implements `Device` for the mirror.

use super::job::Stage;
use super::member::Operation;
use super::model::{Counts, Mirror};
use nacre_kernel::event::{Canceled, Completions, Device, Payload, Preconditioning, RequestId};
use nacre_kernel::ledger::FAILED_MEMBERS;
use nacre_kernel::{Bytes, Capabilities, ComponentReport, HostCounts, Op, Random, Recovery, Request, Time};

/// The smallest time step.
const INSTANT: Time = Time::from_ps(1);

impl Mirror {
    /// Time of the mirror's next event, excluding events of its members.
    #[inline]
    fn own_event(&self) -> Time {
        self.hedges.front().map_or(Time::MAX, |&(at, _)| at).min(self.resync.next)
    }

    fn step_own(&mut self, now: Time) {
        match self.hedges.front() {
            Some(&(at, _)) if at == now => self.hedge(now),
            _ => self.resync_chunk(now),
        }
    }

    /// Returns the member with the next event, the time of this event, and the time of the next event of all
    /// other members.
    #[inline]
    fn next_member(&self) -> (usize, Time, Time) {
        let (mut first, mut at, mut others) = (0, self.members[0].next, Time::MAX);
        for (number, member) in self.members.iter().enumerate().skip(1) {
            if member.next < at {
                (first, others, at) = (number, at, member.next);
            } else {
                others = others.min(member.next);
            }
        }
        (first, at, others)
    }

    /// Handles requests that a member completed at the same time.
    fn handle(&mut self, member: usize, completions: &mut Completions) {
        let mut completed = std::mem::take(&mut self.completed);
        for index in 0..completed.len() {
            let data = completed.take_data(index);
            let (of, spans) = completed.get(index);
            let (number, now, status) = (of.id.0, of.at, of.status);
            let operation = self.operations[number];
            self.operations.give_back(number);
            self.members[member].outstanding -= 1;
            let Operation { job, .. } = operation;
            self.jobs[job].left -= 1;
            match self.jobs[job].stage {
                Stage::Reading => self.read_ended(now, operation, (status, data, spans), completions),
                Stage::CopyingFrom => self.copy_read(now, (job, member), (status, data, spans), completions),
                Stage::Writing => self.write_ended(now, (job, member), (status, spans), completions),
                Stage::Waiting => unreachable!("nothing of it is outstanding"),
            }
        }
        completed.clear();
        self.completed = completed;
    }
}

impl Device for Mirror {
    #[inline]
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.host.record(request);
        match request.op {
            Op::Read => self.arrive_read(now, id, request),
            Op::Write | Op::Trim => self.arrive_write(now, id, request, data),
            Op::Flush => self.arrive_flush(now, id, request),
        }
    }

    fn cancel(&mut self, now: Time, id: RequestId) -> Canceled {
        self.withdraw(now, id)
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.members.iter().fold(self.own_event(), |first, member| first.min(member.next))
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let (mut limit, before) = (until, completions.len());
        loop {
            let own = self.own_event();
            let (member, at, others) = self.next_member();
            if own.min(at) >= limit {
                return;
            }
            if own <= at {
                self.step_own(own);
            } else {
                // The member runs up to the next time at which a request may be submitted.
                let to = limit.min(own).min(others).max(at + INSTANT);
                let of = &mut self.members[member];
                of.device.run(to, &mut self.completed);
                of.next = of.device.next_event();
                self.handle(member, completions);
            }
            if completions.len() > before {
                limit = limit.min(completions.get(before).0.at + INSTANT);
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(self.capacity)
    }

    fn capabilities(&self) -> Capabilities {
        let members = self.members.iter().map(|member| member.device.capabilities());
        let all = members.reduce(Capabilities::and).expect("there are members");
        Capabilities { transactions: false, uses_addresses: true, wears_out_ahead: false, ..all }
    }

    fn restart_ledger(&mut self, now: Time) {
        self.host = HostCounts::default();
        self.counts = Counts::default();
        self.members.iter_mut().for_each(|member| member.device.restart_ledger(now));
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        let mut counters = self.host.counters();
        let counts = &self.counts;
        let failed = self.members.iter().filter(|member| member.has_failed).count();
        counters.extend([
            ("hedges_sent", counts.hedges_sent),
            ("hedges_won", counts.hedges_won),
            ("read_errors", counts.read_errors),
            ("rewrites", counts.rewrites),
            ("resynced_bytes", counts.resynced_bytes),
            (FAILED_MEMBERS, failed as u64),
        ]);
        ComponentReport {
            id: self.id,
            kind: "mirror",
            path: self.path.clone(),
            resources: Vec::new(),
            is_energy_modeled: false,
            idle_energy: None,
            counters,
            cost: None,
            area_mm2: None,
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
            drive_share: None,
            faults: Vec::new(),
            children: self.members.iter().map(|member| member.device.report(elapsed)).collect(),
        }
    }

    fn check_invariants(&self) {
        self.in_use.check_invariants();
        for (number, member) in self.members.iter().enumerate() {
            assert_eq!(member.device.next_event(), member.next, "the next event of a member");
            let own = self.operations.iter().filter(|(_, of)| of.member as usize == number).count();
            assert_eq!(member.outstanding as usize, own, "requests to member {number}");
            member.device.check_invariants();
        }
        let left: u32 = self.jobs.iter().map(|(_, job)| job.left).sum();
        assert_eq!(left as usize, self.operations.len(), "a request is lost");
        let failing = self.jobs.iter().filter(|(_, job)| !job.lost.is_empty()).count();
        assert_eq!(self.failing_flushes as usize, failing, "jobs with a failing flush");
        let is_known = |&(_, job): &(Time, u32)| self.jobs.iter().any(|(number, _)| number == job);
        assert!(self.hedges.iter().all(is_known), "a hedge of no read");
        let end = self.differing.iter().last().map_or(0, |last| last.end);
        assert!(end <= self.capacity.0, "{end} is behind the end");
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.recover_all(at)
    }

    fn detail(&mut self, is_detailed: bool) {
        self.members.iter_mut().for_each(|member| member.device.detail(is_detailed));
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        let has_any = self.members.iter_mut().any(|member| member.device.preconditioning().is_some());
        if has_any { Some(self) } else { None }
    }
}

impl Preconditioning for Mirror {
    fn precondition(&mut self, requests: &[Request]) {
        for member in &mut self.members {
            if let Some(preconditioning) = member.device.preconditioning() {
                preconditioning.precondition(requests);
            }
            member.next = member.device.next_event();
        }
    }
}
