//! The model of `measured`: parallel servers with one queue, and an optional shared link.

use super::Config;
use crate::latency::Latency;
use nacre_kernel::event::{
    Agenda, Barriers, Canceled, Completions, Device, Link, Payload, RequestId, Servers, Slab, Ticket,
};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Bytes, Capabilities, ComponentId, ComponentReport, HostCounts, Ledger, Op, Persistence, Random,
    Recovery, Request, Resource, Status, Time,
};
use nacre_media::persistence::Landed;
use nacre_media::store::Store;

/// A device modeled only by its measured latencies.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Measured<S> {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    #[state(skip = "from the configuration")]
    config: Config,
    read: Box<dyn Latency>,
    write: Box<dyn Latency>,
    servers: Servers<Unit>,
    link: Option<Link>,
    agenda: Agenda<Event>,
    active: Slab<Active>,
    /// Order of writes and flushes. A flush waits for earlier writes.
    writes: Barriers<u32>,
    #[state(skip = "the owner of the bytes keeps them next to the state")]
    bytes: Landed<S>,
    lost: Recovery,
    counts: Counts,
}

/// Atomic write unit in bytes. After a power loss, a sector has either the old or the new data.
const SECTOR: u32 = 512;

/// A request in progress.
#[derive(Clone, Debug, Default, Value)]
struct Active {
    id: RequestId,
    arrived: Time,
    request: Request,
    data: Payload,
    units_left: u32,
    /// Position of a write in the order of writes and flushes.
    ticket: Ticket,
}

/// A part of a request that occupies one server.
#[derive(Clone, Copy, Debug, Value)]
struct Unit {
    active: u32,
    op: Op,
    /// Offset in the request, in bytes.
    offset: u32,
    bytes: u32,
    latency: Time,
    /// For a write, the time at which the data of the unit has crossed the link.
    sent: Time,
    begun: Time,
}

/// Events other than the end of a service.
#[derive(Clone, Copy, Debug, Value)]
enum Event {
    /// A write has crossed the link and needs a server.
    Sending(Unit),
    /// The data of a read is ready to cross the link.
    Ready(Unit),
    /// A unit has completed.
    Done(Unit),
    /// A trim or a flush has completed. `time` is its latency.
    Ended { active: u32, activity: Activity, time: Time },
}

/// Counters since measurement started. `units` is indexed by [`Op`].
#[derive(Default, Value)]
struct Counts {
    ledger: Ledger,
    host: HostCounts,
    units: [u64; 2],
}

impl Counts {
    /// Starts the service of a unit at `now`. Returns the service time.
    #[inline(always)]
    fn begin(&mut self, unit: &mut Unit, now: Time, latency: Time) -> Time {
        let activity = if unit.op == Op::Read { Activity::Read } else { Activity::Write };
        self.units[unit.op as usize] += 1;
        self.ledger.charge(activity, latency);
        (unit.begun, unit.latency) = (now, latency);
        latency
    }
}

impl<S: Store> Measured<S> {
    /// A device without requests.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        read: Box<dyn Latency>,
        write: Box<dyn Latency>,
        store: S,
    ) -> Measured<S> {
        Measured {
            id,
            path,
            read,
            write,
            servers: Servers::new(config.parallelism),
            link: config.bandwidth.map(Link::new),
            agenda: Agenda::new(),
            active: Slab::new(),
            writes: Barriers::new(),
            bytes: Landed::new(store, SECTOR),
            lost: Recovery::default(),
            counts: Counts::default(),
            config,
        }
    }

    /// Divides a read or write into units. Each unit waits for a server. A unit of a write first crosses the
    /// link.
    #[inline]
    fn start(&mut self, now: Time, active: u32, op: Op, bytes: u32) {
        let whole = u32::try_from(self.config.unit.0).unwrap_or(u32::MAX);
        let mut offset = 0;
        while offset < bytes {
            let size = whole.min(bytes - offset);
            let (latency, sent, begun) = (Time::ZERO, Time::ZERO, Time::ZERO);
            let mut unit = Unit { active, op, offset, bytes: size, latency, sent, begun };
            match &mut self.link {
                Some(link) if op == Op::Write => {
                    let transfer = link.time_for(u64::from(size));
                    unit.sent = link.cross(now, transfer);
                    self.agenda.schedule(unit.sent - transfer, Event::Sending(unit));
                }
                _ => self.ask_for_server(now, unit),
            }
            offset += size;
        }
    }

    #[inline(always)]
    fn ask_for_server(&mut self, now: Time, unit: Unit) {
        let (read, write, counts) = (&mut self.read, &mut self.write, &mut self.counts);
        let agenda = self.link.as_mut().map(|link| (link, &mut self.agenda));
        self.servers.arrive(now, unit, |unit, at| begin(read, write, counts, agenda, unit, at));
    }

    /// Ends the service of the next unit that ends before `until`, if any, and assigns its server to the next
    /// waiting unit. Returns the end time and the unit.
    #[inline(always)]
    fn end_service(&mut self, until: Time) -> Option<(Time, Unit)> {
        let (read, write, counts) = (&mut self.read, &mut self.write, &mut self.counts);
        let agenda = self.link.as_mut().map(|link| (link, &mut self.agenda));
        self.servers.end_before(until, |unit, at| begin(read, write, counts, agenda, unit, at))
    }

    /// Completes a unit at `at`. If there is a link, the data of the unit has already crossed it.
    #[inline(always)]
    fn finish_unit(&mut self, at: Time, unit: &Unit, completions: &mut Completions) {
        let active = &mut self.active[unit.active];
        if S::CARRIES_BYTES && unit.op == Op::Write {
            let part = active.data.slice(unit.offset as usize, (unit.offset + unit.bytes) as usize);
            self.bytes.write(active.request.address + u64::from(unit.offset), &part);
        }
        active.units_left -= 1;
        if active.units_left > 0 {
            return;
        }
        let activity = if unit.op == Op::Read { Activity::Read } else { Activity::Write };
        let overrun = match &mut self.link {
            Some(link) => link.time_for(u64::from(unit.bytes)).saturating_sub(unit.latency),
            None => Time::ZERO,
        };
        let queued = at - active.arrived - unit.latency - overrun;
        let spans = [(Activity::Queue, queued), (activity, unit.latency), (Activity::Link, overrun)];
        let completed = completions.push(active.id, at, Status::Done, self.id, spans);
        if S::CARRIES_BYTES && unit.op == Op::Read {
            completed.data = self.bytes.read(&active.request);
        }
        active.data = Payload::NONE;
        let ticket = active.ticket;
        self.active.give_back(unit.active);
        if unit.op == Op::Write {
            self.end_write(at, ticket);
        }
    }

    /// Completes a write and starts the flushes that waited for it.
    #[inline]
    fn end_write(&mut self, at: Time, ticket: Ticket) {
        let (agenda, time) = (&mut self.agenda, self.config.flush);
        self.writes.end(ticket, |active| {
            agenda.schedule(at + time, Event::Ended { active, activity: Activity::Write, time });
        });
    }

    fn happen(&mut self, at: Time, event: Event, completions: &mut Completions) {
        match event {
            Event::Sending(unit) => self.ask_for_server(at, unit),
            Event::Ready(unit) => {
                let link = self.link.as_mut().expect("data crosses a link");
                let transfer = link.time_for(u64::from(unit.bytes));
                let done = link.cross(at, transfer);
                self.agenda.schedule(done.max(unit.begun + unit.latency), Event::Done(unit));
            }
            Event::Done(unit) => self.finish_unit(at, &unit, completions),
            Event::Ended { active, activity, time } => {
                let Active { id, arrived, .. } = self.active[active];
                let spans = [(Activity::Queue, at - arrived - time), (activity, time)];
                completions.push(id, at, Status::Done, self.id, spans);
                self.active.give_back(active);
            }
        }
    }

    fn resources(&self) -> Vec<Resource> {
        let servers = Resource { name: "servers", servers: self.config.parallelism, ledger: self.ledger() };
        std::iter::once(servers).chain(self.link.as_ref().map(|link| link.resource("link"))).collect()
    }

    /// Ledger of the servers, including the energy of all units whose service started.
    fn ledger(&self) -> Ledger {
        let mut ledger = self.counts.ledger.clone();
        let energies = self.config.energies();
        for (kind, activity) in [Activity::Read, Activity::Write].into_iter().enumerate() {
            ledger.charge_energy(activity, energies.of_many(kind, self.counts.units[kind]));
        }
        ledger
    }

    fn lifetime_days(&self, elapsed: Time) -> Option<f64> {
        let written = self.counts.host.bytes_written();
        let days = elapsed.as_secs_f64() / 86_400.0;
        (written > 0).then_some(self.config.endurance?.0 as f64 / written as f64 * days)
    }
}

/// Starts service of `unit` at `now`. Returns the service time. The data of a read starts to cross the link
/// one transfer time before the end of service.
#[inline(always)]
fn begin(
    read: &mut Box<dyn Latency>,
    write: &mut Box<dyn Latency>,
    counts: &mut Counts,
    link: Option<(&mut Link, &mut Agenda<Event>)>,
    unit: &mut Unit,
    now: Time,
) -> Time {
    let drawn = if unit.op == Op::Read { read.draw() } else { write.draw() };
    let latency = counts.begin(unit, now, drawn);
    if let Some((link, agenda)) = link
        && unit.op == Op::Read
    {
        let transfer = link.time_for(u64::from(unit.bytes));
        agenda.schedule(now + latency.saturating_sub(transfer), Event::Ready(*unit));
    }
    latency
}

impl<S: Store> Device for Measured<S> {
    #[inline]
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.counts.host.record(request);
        let (number, active) = self.active.take();
        *active = Active { id, arrived: now, request: *request, ..Active::default() };
        match request.op {
            Op::Read | Op::Write => {
                active.units_left = u64::from(request.bytes).div_ceil(self.config.unit.0) as u32;
                if S::CARRIES_BYTES {
                    active.data = data;
                }
                if request.op == Op::Write {
                    active.ticket = self.writes.begin();
                }
                self.start(now, number, request.op, request.bytes);
            }
            Op::Trim => {
                self.bytes.trim(request);
                let (activity, time) = (Activity::Software, self.config.trim);
                self.agenda.schedule(now + time, Event::Ended { active: number, activity, time });
            }
            Op::Flush => {
                let (activity, time) = (Activity::Write, self.config.flush);
                if let Some(active) = self.writes.wait(number) {
                    self.agenda.schedule(now + time, Event::Ended { active, activity, time });
                }
            }
        }
    }

    fn cancel(&mut self, now: Time, id: RequestId) -> Canceled {
        let Some((number, active)) = self.active.iter().find(|(_, active)| active.id == id) else {
            return Canceled::TooLate;
        };
        let units = active.units_left;
        let waiting = self.servers.waiting().filter(|unit| unit.active == number).count() as u32;
        if waiting < units || units == 0 || active.request.op == Op::Write && self.link.is_some() {
            return Canceled::TooLate;
        }
        let (op, ticket) = (active.request.op, active.ticket);
        for _ in 0..units {
            self.servers.withdraw(|unit| unit.active == number).expect("it waits");
        }
        self.active[number].data = Payload::NONE;
        self.active.give_back(number);
        if op == Op::Write {
            self.end_write(now, ticket);
        }
        Canceled::Yes
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.servers.next().min(self.agenda.next())
    }

    #[inline]
    fn run(&mut self, until: Time, completions: &mut Completions) {
        let before = completions.len();
        let mut until = until;
        loop {
            let (service, other) = (self.servers.next(), self.agenda.next());
            if service.min(other) >= until {
                return;
            }
            if service <= other {
                let (at, unit) = self.end_service(until).expect("it is due");
                match &self.link {
                    None => self.finish_unit(at, &unit, completions),
                    // The data of a read is already scheduled on the link. A write also needs its transfer.
                    Some(_) if unit.op == Op::Read => {}
                    Some(_) if unit.sent > at => self.agenda.schedule(unit.sent, Event::Done(unit)),
                    Some(_) => self.finish_unit(at, &unit, completions),
                }
            } else {
                let (at, event) = self.agenda.pop_before(until).expect("it is due");
                self.happen(at, event, completions);
            }
            if completions.len() > before {
                // Other events at the time of the completion are also handled in this call, but no later
                // events.
                let (completed, _) = completions.get(before);
                until = until.min(completed.at + Time::from_ps(1));
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.config.capacity
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: SECTOR,
            transactions: false,
            preconditions: false,
            uses_addresses: false,
            wears_out_ahead: false,
        }
    }

    fn restart_ledger(&mut self, _now: Time) {
        self.counts = Counts::default();
        if let Some(link) = &mut self.link {
            link.restart_ledger();
        }
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        let mut counters = self.counts.host.counters();
        counters.extend([("units_read", self.counts.units[0]), ("units_written", self.counts.units[1])]);
        ComponentReport {
            id: self.id,
            kind: "measured",
            path: self.path.clone(),
            resources: self.resources(),
            is_energy_modeled: self.config.energies().is_known(),
            idle_energy: self.config.idle_power.map(|power| power.over(elapsed)),
            counters,
            cost: self.config.price.zip(self.config.capacity).map(|(price, capacity)| price.of(capacity)),
            area_mm2: None,
            lifetime_days: self.lifetime_days(elapsed),
            wear: None,
            columns: Vec::new(),
            drive_share: self.config.share(),
            faults: Vec::new(),
            children: Vec::new(),
        }
    }

    fn check_invariants(&self) {
        self.servers.check_invariants();
        let writes = self.active.iter().filter(|(_, active)| active.request.op == Op::Write).count();
        assert_eq!(writes, self.writes.open() as usize, "a write is lost");
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        // Writes in service are torn. Waiting units have not started.
        for (end, unit) in self.servers.serving() {
            let activity = if unit.op == Op::Read { Activity::Read } else { Activity::Write };
            self.counts.ledger.give_back(activity, end.saturating_sub(at));
            if S::CARRIES_BYTES && unit.op == Op::Write {
                let active = &self.active[unit.active];
                let part = active.data.slice(unit.offset as usize, (unit.offset + unit.bytes) as usize);
                self.bytes.tear(active.request.address + u64::from(unit.offset), &part, chance);
            }
        }
        self.servers.clear();
        self.agenda.clear();
        self.active.clear();
        self.writes.clear();
        if let Some(link) = &mut self.link {
            link.power_fail(at);
        }
        self.lost = Recovery::default();
    }

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..std::mem::take(&mut self.lost) }
    }
}
