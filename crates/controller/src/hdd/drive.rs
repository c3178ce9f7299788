//! The `hdd` device: receives requests and processes its events.

use super::Config;
use super::arm::Arm;
use super::buffer::ReadAhead;
use super::cached::Cached;
use super::request::{Active, Event, Spans};
use nacre_kernel::event::{Agenda, Barriers, Canceled, Completions, Device, Link, Payload, RequestId, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Bytes, Capabilities, ComponentId, ComponentReport, HostCounts, Op, Persistence, Random,
    Recovery, Request, Resource, Status, Time,
};
use nacre_media::disk::Disk;
use nacre_media::persistence::Landed;
use nacre_media::store::Store;

/// A hard disk drive.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Hdd<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    pub(super) disk: Disk,
    pub(super) arm: Arm,
    pub(super) active: Slab<Active>,
    pub(super) agenda: Agenda<Event>,
    pub(super) interface: Link,
    #[state(varies)]
    pub(super) read_ahead: Option<ReadAhead>,
    pub(super) cached: Cached,
    /// Order of writes and flushes. A flush waits for earlier writes.
    pub(super) writes: Barriers<u32>,
    /// Time up to which the activity of the arm has been charged.
    pub(super) charged_to: Time,
    #[state(skip = "the owner of the bytes keeps them next to the state")]
    pub(super) bytes: Landed<S>,
    lost: Recovery,
    pub(super) counts: Counts,
}

/// Atomic write unit in bytes. After a power loss, a sector has either the old or the new data.
const SECTOR: u32 = 512;

/// Counters since measurement started, in addition to the ledger of the mechanics.
#[derive(Default, Value)]
pub(super) struct Counts {
    /// Arrival time of the first request, if any.
    pub(super) since: Option<Time>,
    host: HostCounts,
    pub(super) read_ahead_hits: u64,
    cached_writes: u64,
    /// Number of spin-ups.
    pub(super) spin_ups: u64,
    /// Total standby time.
    pub(super) standing: Time,
    /// Total spin-up time that power losses cut off.
    pub(super) spin_ups_cut: Time,
}

impl<S: Store> Hdd<S> {
    /// A drive without requests.
    pub(super) fn new(id: ComponentId, path: String, config: Config, store: S) -> Hdd<S> {
        Hdd {
            id,
            path,
            disk: Disk::of(&config.mechanics),
            arm: Arm::new(&config),
            active: Slab::new(),
            agenda: Agenda::new(),
            interface: Link::new(config.interface_rate),
            read_ahead: None,
            cached: Cached::new(config.write_cache.0),
            writes: Barriers::new(),
            charged_to: Time::ZERO,
            bytes: Landed::new(store, SECTOR),
            lost: Recovery::default(),
            counts: Counts::default(),
            config,
        }
    }

    /// Receives a write. If the write is not larger than the whole cache, it goes to the cache. Otherwise, it
    /// goes to the arm.
    fn accept_write(&mut self, now: Time, number: u32) {
        self.active[number].ticket = self.writes.begin();
        let request = self.active[number].request;
        if !self.cached.takes(u64::from(request.bytes)) {
            self.arm.join(now, &self.disk, number, &request);
        } else if self.cached.has_room(u64::from(request.bytes)) {
            self.fill_cache(now, number);
        } else {
            self.cached.wait(number);
        }
    }

    /// Starts the transfer of a write into the cache, which must have space for it.
    fn fill_cache(&mut self, now: Time, number: u32) {
        let bytes = u64::from(self.active[number].request.bytes);
        self.cached.take(bytes);
        let time = self.interface.time_for(bytes);
        self.active[number].spans.link = time;
        let across = self.interface.cross(now, time);
        self.agenda.schedule(across, Event::Accepted(number));
    }

    fn happen(&mut self, at: Time, event: Event, completions: &mut Completions) {
        match event {
            Event::Buffered(number) => {
                let done = self.interface.cross(at, self.active[number].spans.link);
                self.agenda.schedule(done, Event::Sent(number));
            }
            Event::Sent(number) => {
                self.complete(at, number, completions);
                self.active.give_back(number);
            }
            Event::Accepted(number) => {
                self.counts.cached_writes += 1;
                self.complete(at, number, completions);
                let request = self.active[number].request;
                self.cached.accept(number, u64::from(request.bytes));
                self.arm.join(at, &self.disk, number, &request);
            }
            Event::Ended(number) => {
                self.complete(at, number, completions);
                self.active.give_back(number);
            }
        }
    }

    /// Completes request `number` at `at`.
    pub(super) fn complete(&mut self, at: Time, number: u32, completions: &mut Completions) {
        let Active { id, arrived, request, spans, .. } = &self.active[number];
        let Spans { spin_up, seek, rotate, transfer, link } = *spans;
        let queued = at - *arrived - spin_up - seek - rotate - transfer - link;
        let spans = [
            (Activity::SpinUp, spin_up),
            (Activity::Queue, queued),
            (Activity::Seek, seek),
            (Activity::Rotate, rotate),
            (Activity::Transfer, transfer),
            (Activity::Link, link),
        ];
        let completed = completions.push(*id, at, Status::Done, self.id, spans);
        if S::CARRIES_BYTES && request.op == Op::Read {
            let (read, active) = (self.bytes.read(request), &self.active);
            completed.data = self.cached.over(read, request, |number| {
                let Active { request, data, .. } = &active[number];
                (request.address, data)
            });
        }
    }

    /// Stores the data of a write that is on the platter, and frees its cache space. Flushes that waited for
    /// this write complete.
    pub(super) fn land(&mut self, at: Time, number: u32) {
        let Active { request, data, ticket, .. } = &mut self.active[number];
        let (request, data, ticket) = (*request, std::mem::take(data), *ticket);
        self.bytes.write(request.address, &data);
        self.active.give_back(number);
        let agenda = &mut self.agenda;
        self.writes.end(ticket, |flush| agenda.schedule(at, Event::Ended(flush)));
        if self.cached.land(number, u64::from(request.bytes)) {
            while let Some(next) =
                self.cached.next_that_fits(|number| u64::from(self.active[number].request.bytes))
            {
                self.fill_cache(at, next);
            }
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.counts.host.counters();
        counters.extend([
            ("read_ahead_hits", self.counts.read_ahead_hits),
            ("cached_writes", self.counts.cached_writes),
            ("spin_ups", self.counts.spin_ups),
        ]);
        counters
    }
}

impl<S: Store> Device for Hdd<S> {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.counts.host.record(request);
        self.counts.since.get_or_insert(now);
        let (number, active) = self.active.take();
        *active = Active { id, arrived: now, request: *request, ..Active::default() };
        match request.op {
            Op::Read => self.arm.join(now, &self.disk, number, request),
            Op::Write => {
                if S::CARRIES_BYTES {
                    active.data = data;
                }
                self.accept_write(now, number);
            }
            Op::Trim => {
                self.bytes.trim(request);
                self.agenda.schedule(now, Event::Ended(number));
            }
            Op::Flush => {
                if let Some(number) = self.writes.wait(number) {
                    self.agenda.schedule(now, Event::Ended(number));
                }
            }
        }
    }

    fn cancel(&mut self, now: Time, id: RequestId) -> Canceled {
        // An acknowledged write has completed, so its identifier may have been reused.
        let is_it = |&(number, active): &(u32, &Active)| active.id == id && !self.cached.holds(number);
        let Some((number, active)) = self.active.iter().find(is_it) else { return Canceled::TooLate };
        let (op, ticket) = (active.request.op, active.ticket);
        if !(self.arm.withdraw(number) || self.cached.withdraw(number)) {
            return Canceled::TooLate;
        }
        self.active[number].data = Payload::NONE;
        self.active.give_back(number);
        if op == Op::Write {
            let agenda = &mut self.agenda;
            self.writes.end(ticket, |flush| agenda.schedule(now, Event::Ended(flush)));
        }
        Canceled::Yes
    }

    fn next_event(&self) -> Time {
        self.arm.next_event().min(self.agenda.next())
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let before = completions.len();
        let mut until = until;
        loop {
            let (ends, other, decides) = (self.arm.ends_at(), self.agenda.next(), self.arm.decides_at());
            if ends.min(other).min(decides) >= until {
                return;
            }
            if other <= ends && other <= decides {
                let (at, event) = self.agenda.pop_before(until).expect("it is due");
                self.happen(at, event, completions);
            } else if ends <= decides {
                self.end_access(ends, completions);
            } else if completions.len() > before {
                // Clients that waited for a completion may submit requests before the arm selects.
                return;
            } else {
                self.begin_access(decides);
            }
            if completions.len() > before {
                let (completed, _) = completions.get(before);
                until = until.min(completed.at + Time::from_ps(1));
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(self.config.mechanics.capacity)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: match self.config.write_cache.0 {
                0 => Persistence::OnAcknowledgement,
                _ => Persistence::OnFlush,
            },
            atomic_unit: SECTOR,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn restart_ledger(&mut self, _now: Time) {
        self.disk.restart_ledger();
        self.interface.restart_ledger();
        self.counts = Counts::default();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        let arm = Resource { name: "arm", servers: 1, ledger: self.arm_ledger() };
        ComponentReport {
            id: self.id,
            kind: "hdd",
            path: self.path.clone(),
            resources: vec![arm, self.interface.resource("interface")],
            is_energy_modeled: self.config.mechanics.idle_power.is_some(),
            idle_energy: self.idle_energy(elapsed),
            counters: self.counters(),
            cost: self.config.price.map(|price| price.of(self.config.mechanics.capacity)),
            area_mm2: None,
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
            drive_share: self.config.share(),
            faults: Vec::new(),
            children: Vec::new(),
        }
    }

    fn check_invariants(&self) {
        let dirty = |number: u32| u64::from(self.active[number].request.bytes);
        self.cached.check_invariants(dirty);
        self.arm.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        let mut lost = Recovery::default();
        // An access in progress is torn. Acknowledged writes that are not on the platter are lost.
        if let Some(number) = self.arm.writing(at) {
            let Active { request, data, .. } = &self.active[number];
            let landed = self.bytes.tear(request.address, data, chance);
            if self.cached.holds(number) {
                lost.programs_lost += 1;
                lost.bytes_lost += u64::from(request.bytes) - landed;
            }
        }
        for number in self.cached.acknowledged().filter(|&number| self.arm.writing(at) != Some(number)) {
            lost.programs_lost += 1;
            lost.bytes_lost += u64::from(self.active[number].request.bytes);
        }
        self.cut_access(at);
        self.lost = lost;
        self.active.clear();
        self.agenda.clear();
        self.writes.clear();
        self.cached = Cached::new(self.config.write_cache.0);
        self.read_ahead = None;
        self.interface.power_fail(at);
        self.charged_to = self.charged_to.min(at);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..std::mem::take(&mut self.lost) }
    }
}
