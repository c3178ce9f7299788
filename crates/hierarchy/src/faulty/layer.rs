//! A layer that passes requests through a list of faults, on top of any device.

use super::fault::Part;
use super::requests::{Active, Stage};
use nacre_kernel::event::{Agenda, Canceled, Completions, Device, Payload, RequestId, Slab};
use nacre_kernel::state::State;
use nacre_kernel::{
    Activity, ComponentId, Op, Request, Status, Time, Zone, ZoneAnswer, ZoneCommand, ZoneState,
};

/// The smallest time step.
const INSTANT: Time = Time::from_ps(1);

/// The device below the faults.
pub trait Below {
    /// Submits request number `number` of the layer at `now`. Returns false if the request was rejected, in
    /// which case it ends with a media error.
    fn submit(&mut self, now: Time, number: u32, request: &Request, data: Payload) -> bool;

    /// Submits a zone command, like [`Below::submit`]. Not called for a device without zones.
    fn command(
        &mut self,
        _now: Time,
        _number: u32,
        command: ZoneCommand,
        _request: &Request,
        _data: Payload,
    ) -> bool {
        unreachable!("{command:?} to a device without zones")
    }

    /// Zone that contains `address`; `None` if the device has no zones.
    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    /// Converts the ID of a completed request to the number of the request in the layer.
    fn number_of(&self, id: RequestId) -> u32 {
        id.0
    }

    /// See [`Device::next_event`].
    fn next_event(&self) -> Time;

    /// See [`Device::run`].
    fn run(&mut self, until: Time, completions: &mut Completions);
}

impl Below for Box<dyn Device> {
    #[inline]
    fn submit(&mut self, now: Time, number: u32, request: &Request, data: Payload) -> bool {
        (**self).submit(now, RequestId(number), request, data);
        true
    }

    fn command(
        &mut self,
        now: Time,
        number: u32,
        command: ZoneCommand,
        request: &Request,
        data: Payload,
    ) -> bool {
        let zones = self.zone_commands().expect("only a device with zones gets zone commands");
        zones.command(now, RequestId(number), command, request, data);
        true
    }

    fn zone(&self, address: u64) -> Option<Zone> {
        self.zones().map(|zones| zones.zone(address))
    }

    #[inline]
    fn next_event(&self) -> Time {
        (**self).next_event()
    }

    #[inline]
    fn run(&mut self, until: Time, completions: &mut Completions) {
        (**self).run(until, completions);
    }
}

/// Faults, and the requests that pass through them.
#[derive(State)]
pub struct Layer {
    /// Component to which the time added by faults is charged.
    #[state(skip = "from the configuration")]
    id: ComponentId,
    pub(super) faults: Vec<Part>,
    pub(super) active: Slab<Active>,
    /// Times at which delayed requests continue, by request number.
    agenda: Agenda<u32>,
    /// Capacity of the device below, in bytes, if known.
    #[state(skip = "from the configuration")]
    pub(super) capacity: Option<u64>,
    #[state(skip = "scratch")]
    completed: Completions,
}

impl Layer {
    /// Creates a layer without requests. Time added by faults counts as queueing time of component `id`.
    pub fn new(id: ComponentId, faults: Vec<Part>, capacity: Option<u64>) -> Layer {
        let (active, agenda) = (Slab::new(), Agenda::new());
        Layer { id, faults, active, agenda, capacity, completed: Completions::new() }
    }

    /// The faults, in the order in which requests pass through them.
    pub fn faults(&self) -> &[Part] {
        &self.faults
    }

    /// Adds a fault after the existing faults.
    pub fn add(&mut self, fault: Part) {
        self.faults.push(fault);
    }

    /// Whether no request is in the layer.
    pub fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// Restarts the counters of all faults.
    pub fn restart_ledger(&mut self) {
        self.faults.iter_mut().for_each(|fault| fault.counts = Default::default());
    }

    /// Submits a request at `now`. The layer must have been run up to that time.
    pub fn submit(
        &mut self,
        below: &mut dyn Below,
        now: Time,
        (id, request): (RequestId, &Request),
        data: Payload,
    ) {
        let (number, active) = self.active.take();
        active.begin(now, id, request, data);
        self.meet_faults(below, now, number);
    }

    /// Submits a zone command at `now`. The layer must have been run up to that time. Faults treat an append
    /// as a write at the write pointer of its zone, and other commands as trims without bytes.
    pub fn command(
        &mut self,
        below: &mut dyn Below,
        now: Time,
        (id, command, request): (RequestId, ZoneCommand, &Request),
        data: Payload,
    ) {
        let (number, active) = self.active.take();
        active.begin(now, id, request, data);
        active.command = Some(command);
        if command == ZoneCommand::Append
            && let Some(zone) = below.zone(request.address)
            && zone.start == request.address
            && zone.state != ZoneState::Full
        {
            active.is_placed = true;
            (active.request.address, active.sent.address) = (zone.write_pointer, zone.write_pointer);
        }
        self.meet_faults(below, now, number);
    }

    /// Cancels request `id` if it is delayed. If it is in the device below, returns its number there.
    pub(super) fn withdraw(&mut self, id: RequestId) -> (Canceled, Option<u32>) {
        let is_it = |(_, of): &(u32, &mut Active)| of.id == id && of.stage != Stage::Canceled;
        let Some((number, active)) = self.active.iter_mut().find(is_it) else {
            return (Canceled::TooLate, None);
        };
        match active.stage {
            Stage::Held => {
                (active.stage, active.data) = (Stage::Canceled, Payload::NONE);
                (Canceled::Yes, None)
            }
            Stage::Below => (Canceled::TooLate, Some(number)),
            Stage::Answered | Stage::Canceled => (Canceled::TooLate, None),
        }
    }

    /// Submits a request to the device below.
    #[inline]
    pub(super) fn send(&mut self, below: &mut dyn Below, now: Time, number: u32) {
        let active = &mut self.active[number];
        active.stage = Stage::Below;
        let is_accepted = if active.command.is_some() {
            self.send_command(below, now, number)
        } else {
            let data = std::mem::take(&mut active.data);
            if let Op::Write | Op::Trim = active.sent.op {
                self.faults.iter_mut().for_each(|fault| fault.writes(&active.sent, &data));
            }
            below.submit(now, number, &active.sent, data)
        };
        if !is_accepted {
            self.active[number].status = Status::MediaError;
            self.wait_until(now, number, Stage::Answered);
        }
    }

    /// Schedules a request to continue at `at`.
    pub(super) fn wait_until(&mut self, at: Time, number: u32, stage: Stage) {
        let active = &mut self.active[number];
        (active.stage, active.due) = (stage, at);
        self.agenda.schedule(at, number);
    }

    /// Time of the next event of the layer or of the device below.
    #[inline]
    pub fn next_event(&self, below: &dyn Below) -> Time {
        below.next_event().min(self.agenda.next())
    }

    /// Processes events before `until`, up to the first time at which a request completes.
    pub fn run(&mut self, below: &mut dyn Below, until: Time, completions: &mut Completions) {
        let (mut limit, before) = (until, completions.len());
        loop {
            let (own, next) = (self.agenda.next(), below.next_event());
            if own.min(next) >= limit {
                // The device below must also advance to that time.
                if completions.len() == before {
                    self.run_quietly(below, limit);
                }
                return;
            }
            if own <= next {
                let (now, number) = self.agenda.pop_before(limit).expect("it is due");
                self.run_quietly(below, now);
                self.process(below, now, number, completions);
            } else {
                below.run(limit.min(own).max(next + INSTANT), &mut self.completed);
                self.handle(&*below, completions);
            }
            if completions.len() > before {
                limit = limit.min(completions.get(before).0.at + INSTANT);
            }
        }
    }

    /// Runs the device below up to `until`. No request may complete before this time.
    fn run_quietly(&mut self, below: &mut dyn Below, until: Time) {
        below.run(until, &mut self.completed);
        assert!(self.completed.is_empty(), "nothing is due before {until}");
    }

    /// Handles requests that the device below completed at the same time.
    fn handle(&mut self, below: &dyn Below, completions: &mut Completions) {
        let mut completed = std::mem::take(&mut self.completed);
        for index in 0..completed.len() {
            let data = completed.take_data(index);
            let (of, spans) = completed.get(index);
            let (number, now) = (below.number_of(of.id), of.at);
            let active = &mut self.active[number];
            (active.stage, active.status, active.answer) = (Stage::Answered, of.status, data);
            active.spans.extend_from_slice(spans);
            if let Some(zone) = of.zone.as_deref() {
                self.zone_answers(number, *zone);
            }
            self.answer_stale(number);
            let leaves = self.answer_leaves(now, number);
            if leaves == now {
                self.complete(now, number, completions);
            } else {
                self.wait_until(leaves, number, Stage::Answered);
            }
        }
        completed.clear();
        self.completed = completed;
    }

    fn complete(&mut self, now: Time, number: u32, completions: &mut Completions) {
        let active = &mut self.active[number];
        let held = now - active.arrived - active.served();
        let own = [(Activity::Queue, held)];
        let answer = std::mem::take(&mut active.answer);
        let zone = std::mem::take(&mut active.zone);
        let completed = completions.push_behind(active.id, now, active.status, self.id, own, &active.spans);
        completed.data = answer;
        if zone != ZoneAnswer::default() {
            completed.zone = Some(Box::new(zone));
        }
        for &(fault, time) in &active.added {
            self.faults[fault as usize].added(time);
        }
        self.active.give_back(number);
    }

    fn process(&mut self, below: &mut dyn Below, now: Time, number: u32, completions: &mut Completions) {
        match self.active[number].stage {
            Stage::Canceled => self.active.give_back(number),
            Stage::Held => self.send(below, now, number),
            Stage::Answered => self.complete(now, number, completions),
            Stage::Below => unreachable!("it waits for what is below"),
        }
    }

    /// Ends fault `index` permanently at `now`. Requests that the fault delays continue as if it had delayed
    /// them only until `now`.
    pub fn end(&mut self, now: Time, index: usize) {
        self.faults[index].end();
        self.agenda.clear();
        for (number, active) in self.active.iter_mut() {
            active.later.retain(|(fault, _)| *fault as usize != index);
            active.lost = active.lost.filter(|(fault, _)| *fault as usize != index);
            if active.stage == Stage::Below {
                continue;
            }
            let is_of = |(fault, _): &&mut (u32, Time)| *fault as usize == index;
            if let Some((_, added)) = active.added.iter_mut().find(is_of) {
                let due = now.max(active.due.saturating_sub(*added));
                *added = added.saturating_sub(active.due.saturating_sub(due));
                active.due = active.due.min(due);
                active.released = active.released.min(due);
            }
            self.agenda.schedule(active.due.max(now), number);
        }
    }

    /// Handles a power loss, after which no request is outstanding.
    pub fn power_fail(&mut self) {
        self.agenda.clear();
        self.active.clear();
        self.faults.iter_mut().for_each(Part::power_failed);
    }

    /// Panics if a request is neither delayed nor in the device below.
    pub fn check_invariants(&self) {
        let below = self.active.iter().filter(|(_, of)| of.stage == Stage::Below).count();
        assert_eq!(self.agenda.len() + below, self.active.len(), "a request is lost");
    }
}
