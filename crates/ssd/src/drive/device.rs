//! The drive's implementation of `Device`.

use super::{Event, Ssd};
use crate::drive::active::Active;
use crate::flash::backend::Done;
use crate::flash::command::Owner;
use crate::ftl::translation::Translation;
use crate::host::Reached;
use nacre_kernel::event::{Completions, Device, Payload, Preconditioning, RequestId, ZoneCommands, Zones};
use nacre_kernel::{
    Bytes, Capabilities, ComponentReport, Op, Persistence, Random, Recovery, Request, Time, Zone, ZoneCommand,
};

/// Number of requests whose memory is prefetched together during preconditioning.
const PREFETCHED: usize = 32;

impl<T: Translation> Ssd<T> {
    /// Sets the current time.
    #[inline]
    fn move_to(&mut self, now: Time) {
        debug_assert!(now >= self.now, "time went back from {} to {now}", self.now);
        (self.now, self.flash.now) = (now, now);
    }

    /// Returns the time of the next timed event. Pending decisions are ignored.
    #[inline]
    fn next_in_time(&self) -> Time {
        self.flash.next_event().min(self.host.next_event()).min(self.agenda.next())
    }

    /// Returns whether decisions are due at the current time.
    #[inline]
    fn has_decisions(&self) -> bool {
        self.flash.has_decisions() || self.host.has_decisions()
    }

    /// Processes the next event, which is due at `at`.
    #[inline]
    fn happen(&mut self, at: Time, completions: &mut Completions) {
        let (of_flash, of_host) = (self.flash.next_event() == at, self.host.next_event() == at);
        self.move_to(at);
        if of_flash {
            self.flash.happen(at);
            self.react();
        } else if of_host {
            self.host.happen(at);
        } else {
            match self.agenda.pop_before(at + Time::from_ps(1)) {
                Some((_, Event::Ready(number))) => self.enter(number),
                Some((_, Event::Decoded(part))) => self.end_decoding(part),
                None => unreachable!("something is due"),
            }
        }
        self.continue_requests(completions);
    }

    /// Handles the work that the flash has completed.
    #[inline]
    fn react(&mut self) {
        let mut done = std::mem::take(&mut self.done);
        self.flash.take_done(&mut done);
        for done in done.drain(..) {
            match done {
                Done::Read { owner: Owner::Request(number), times } => {
                    self.end_part_of(number, &times, false);
                }
                Done::Read { owner: Owner::Part(part), times } => self.end_page(part, &times),
                Done::Read { .. } => unreachable!("it is never reported"),
                Done::Programmed { superblock, operation } => self.ftl.programmed(superblock, operation),
                Done::Flushed(number) => self.end_flush(number),
            }
        }
        self.done = done;
        while let Some(number) = self.known.pop() {
            self.end_lookups(number);
        }
        if !self.writers.is_empty() {
            self.write_waiting();
        }
    }

    /// Continues requests that have reached the drive or the host.
    #[inline]
    fn continue_requests(&mut self, completions: &mut Completions) {
        while let Some(reached) = self.host.take_reached() {
            match reached {
                Reached::Drive(number) => self.begin(number),
                Reached::Host(number) => self.complete(number, completions),
            }
        }
    }

    /// Starts the request in the drive.
    #[inline]
    fn begin(&mut self, number: u32) {
        let active = &mut self.active[number];
        (active.began, active.known) = (self.now, self.now);
        match active.request.op {
            Op::Read => self.begin_read(number),
            Op::Write => self.begin_write(number),
            Op::Trim => self.begin_trim(number),
            Op::Flush => self.begin_flush(number),
        }
    }

    /// Starts the request after its transfer over the host interface.
    #[inline]
    fn enter(&mut self, number: u32) {
        let request = self.active[number].request;
        self.host.submit(self.now, number, &request);
    }

    /// Handles the arrival of the request `active`. The request waits if the drive is recovering.
    #[inline]
    fn arrive(&mut self, active: Active) {
        let (number, entry) = self.active.take();
        *entry = active;
        if self.now < self.outage.ready {
            return self.agenda.schedule(self.outage.ready, Event::Ready(number));
        }
        self.enter(number);
    }
}

impl<T: Translation> Device for Ssd<T> {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.move_to(now);
        self.counts.host.record(request);
        let data = if T::CARRIES_BYTES && request.op == Op::Write { data } else { Payload::NONE };
        self.arrive(Active { id, arrived: now, request: *request, data, ..Active::default() });
    }

    fn next_event(&self) -> Time {
        if self.has_decisions() || self.host.has_reached() { self.now } else { self.next_in_time() }
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let before = completions.len();
        if self.now >= until {
            return;
        }
        // This call starts the requests submitted at this time.
        self.continue_requests(completions);
        loop {
            let next = self.next_in_time();
            if next > self.now {
                if completions.len() > before {
                    // The host may submit requests after a completion and before decisions are made.
                    return;
                }
                if self.has_decisions() {
                    if self.host.has_decisions() {
                        self.host.decide(self.now);
                        self.continue_requests(completions);
                    } else {
                        self.flash.decide();
                    }
                    continue;
                }
                if self.active.is_empty() && self.flash.is_idle() && self.ftl.work_while_idle(&mut self.flash)
                {
                    continue;
                }
            }
            if next >= until {
                return;
            }
            self.happen(next, completions);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.ftl.geometry().capacity()))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: T::CARRIES_BYTES,
            persistence: match self.config.is_power_protected() {
                true => Persistence::OnAcknowledgement,
                false if self.config.loses_paired_pages() => Persistence::OnFlushWithStoredEnergy,
                false => Persistence::OnFlush,
            },
            atomic_unit: self.ftl.geometry().unit_bytes,
            transactions: false,
            preconditions: true,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn restart_ledger(&mut self, _now: Time) {
        self.host.restart_ledger();
        self.flash.restart_ledger();
        self.ftl.restart_ledger(&mut self.counts);
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        self.report_over(elapsed)
    }

    fn check_invariants(&self) {
        self.ftl.check_invariants();
        self.flash.check_invariants();
        self.host.check_invariants();
        if self.active.is_empty() {
            assert!(self.writers.is_empty() && self.lookups.is_empty(), "requests are left waiting");
        }
    }

    fn power_fail(&mut self, at: Time, _chance: &mut Random) {
        self.move_to(at.max(self.now));
        let unfinished = self.flash.unfinished();
        let mut interrupted = Recovery { done: at, ..Recovery::default() };
        let held = self.ftl.power_fail(&mut self.flash, &mut interrupted);
        let longest = self.config.nand.longest_program();
        if self.config.is_power_protected() {
            let rounds = unfinished.most_programs + held.rounds;
            interrupted.programs_finished = unfinished.programs + held.operations + held.parities;
            interrupted.done = at + longest * rounds;
        }
        self.flash.power_fail(at, &held, self.config.is_power_protected().then_some(longest));
        self.outage.interrupt(at, &unfinished, interrupted, &mut self.counts);
        self.host.power_fail(at);
        self.agenda.clear();
        self.active.clear();
        self.parts.clear();
        self.writers.clear();
        self.lookups.clear();
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.move_to(at.max(self.now));
        let mut recovery = std::mem::take(&mut self.outage.interrupted);
        recovery.erases_repeated = self.outage.erases.all;
        let erasing = self.flash.timing.erase * self.outage.erases.most;
        self.flash.erase_again(recovery.erases_repeated);
        let reading = self.ftl.recover(&mut recovery, &mut self.outage);
        recovery.done = at.max(recovery.done) + erasing + reading;
        self.outage.recovered(at, &recovery, &mut self.counts);
        recovery
    }

    fn prefetch(&self, requests: &[Request]) {
        self.ftl.prefetch(requests);
    }

    fn zones(&self) -> Option<&dyn Zones> {
        self.ftl.zone(0).is_some().then_some(self)
    }

    fn zone_commands(&mut self) -> Option<&mut dyn ZoneCommands> {
        match self.ftl.zone(0) {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        Some(self)
    }
}

impl<T: Translation> Zones for Ssd<T> {
    fn zone(&self, address: u64) -> Zone {
        self.ftl.zone(address).expect("it is written in zones")
    }
}

impl<T: Translation> ZoneCommands for Ssd<T> {
    fn command(&mut self, now: Time, id: RequestId, command: ZoneCommand, request: &Request, data: Payload) {
        self.move_to(now);
        let is_append = command == ZoneCommand::Append;
        debug_assert_eq!(is_append, request.op == Op::Write, "{command:?} as {request:?}");
        if is_append {
            self.counts.host.record(request);
        }
        let data = if T::CARRIES_BYTES && is_append { data } else { Payload::NONE };
        let command = Some(command);
        self.arrive(Active { id, arrived: now, request: *request, data, command, ..Active::default() });
    }
}

impl<T: Translation> Preconditioning for Ssd<T> {
    fn precondition(&mut self, requests: &[Request]) {
        for group in requests.chunks(PREFETCHED) {
            self.ftl.prefetch(group);
            for request in group.iter().filter(|request| request.op == Op::Write && request.bytes > 0) {
                if let Err(refusal) = self.ftl.precondition(request, &mut self.counts) {
                    self.refuse(Time::ZERO, refusal);
                } else if let Some(errors) = &mut self.flash.errors {
                    let (first, last) = self.ftl.geometry().units_of(request);
                    (first..=last).for_each(|unit| errors.replace(unit));
                }
            }
        }
    }
}
