//! The model of `network`: a remote side with many servers, and a link.

use super::Config;
use nacre_controller::latency::Latency;
use nacre_kernel::event::{Agenda, Canceled, Completions, Device, Link, Payload, RequestId, Servers, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Bytes, Capabilities, ComponentId, ComponentReport, HostCounts, Ledger, Op, Persistence, Random,
    Recovery, Request, Resource, Status, Time,
};
use nacre_media::persistence::Landed;
use nacre_media::store::Store;
use std::collections::BTreeSet;

/// A network store.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Network<S> {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    read: Box<dyn Latency>,
    write: Box<dyn Latency>,
    far_side: Servers<Job>,
    link: Option<Link>,
    agenda: Agenda<Event>,
    active: Slab<Active>,
    #[state(skip = "from the configuration")]
    hedge_after: Option<Time>,
    /// Outstanding reads that may still be hedged, each with the time of its hedge, in time order.
    hedges: BTreeSet<(Time, u32)>,
    counts: HedgeCounts,
    #[state(skip = "from the configuration")]
    unit: u64,
    #[state(skip = "from the configuration")]
    capacity: Option<Bytes>,
    #[state(skip = "from the configuration")]
    cost: Option<f64>,
    ledger: Ledger,
    host: HostCounts,
    #[state(skip = "the owner of the bytes keeps them next to the state")]
    bytes: Landed<S>,
}

/// Atomic write unit in bytes. After a power loss, each unit is either old or new.
const SECTOR: u32 = 512;

/// Counters of hedged reads, in requests.
#[derive(Clone, Copy, Debug, Default, Value)]
struct HedgeCounts {
    sent: u64,
    won: u64,
    canceled: u64,
}

/// A request in progress.
#[derive(Clone, Debug, Default, Value)]
struct Active {
    id: RequestId,
    arrived: Time,
    request: Request,
    data: Payload,
    /// Transfer time on the link.
    transfer: Time,
    /// Service time of the attempt that replied first.
    work: Time,
    /// Number of outstanding attempts at the remote side.
    tries: u32,
    /// Whether one attempt of the read has replied. The reply of the other attempt, if any, is ignored.
    is_answered: bool,
    /// Whether the request has completed.
    is_done: bool,
    /// Time at which the read will be hedged; `None` if it cannot be hedged any more.
    hedged_at: Option<Time>,
}

/// An attempt of a request, which occupies a server of the remote side.
#[derive(Clone, Copy, Debug, Value)]
struct Job {
    active: u32,
    work: Time,
    activity: Activity,
    is_write: bool,
    is_hedge: bool,
}

/// Events other than the end of service at the remote side.
#[derive(Clone, Copy, Debug, Value)]
enum Event {
    /// The link has transferred the data of a write to the remote side.
    Sent(Job),
    /// The link has transferred the data of a read to the host.
    Received(u32),
}

impl<S: Store> Network<S> {
    /// Creates an idle network store.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: &Config,
        read: Box<dyn Latency>,
        write: Box<dyn Latency>,
        store: S,
    ) -> Network<S> {
        Network {
            id,
            path,
            read,
            write,
            far_side: Servers::new(config.parallelism),
            link: config.bandwidth.map(Link::new),
            agenda: Agenda::new(),
            active: Slab::new(),
            hedge_after: config.hedge_after,
            hedges: BTreeSet::new(),
            counts: HedgeCounts::default(),
            unit: config.unit.0,
            capacity: config.capacity,
            cost: config.price.zip(config.capacity).map(|(price, capacity)| price.of(capacity)),
            ledger: Ledger::default(),
            host: HostCounts::default(),
            bytes: Landed::new(store, SECTOR),
        }
    }

    #[inline]
    fn next_hedge(&self) -> Time {
        self.hedges.first().map_or(Time::MAX, |&(at, _)| at)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.host.counters();
        if self.hedge_after.is_some() {
            let HedgeCounts { sent, won, canceled } = self.counts;
            counters.extend([("hedges_sent", sent), ("hedges_won", won), ("reads_canceled", canceled)]);
        }
        counters
    }

    #[inline]
    fn ask_far_side(&mut self, now: Time, job: Job) {
        let ledger = &mut self.ledger;
        self.far_side.arrive(now, job, |job, _| begin(ledger, job));
    }

    /// Ends the service of a request at the remote side. A read then sends its data to the host, and every
    /// other request completes.
    #[inline]
    fn answer(&mut self, at: Time, job: Job, completions: &mut Completions) {
        let active = &mut self.active[job.active];
        active.tries -= 1;
        if active.is_answered {
            if active.tries == 0 && active.is_done {
                self.active.give_back(job.active);
            }
            return;
        }
        (active.is_answered, active.work) = (true, job.work);
        let transfer = active.transfer;
        if self.hedge_after.is_some() {
            self.settle_hedge(&job);
        }
        match &mut self.link {
            Some(link) if job.activity == Activity::Read => {
                let received = link.cross(at, transfer);
                self.agenda.schedule(received, Event::Received(job.active));
            }
            _ => self.complete(at, job.active, completions),
        }
    }

    #[inline]
    fn complete(&mut self, at: Time, number: u32, completions: &mut Completions) {
        let Active { id, arrived, request, data, transfer, work, .. } = &mut self.active[number];
        let activity = if request.op == Op::Read { Activity::Read } else { Activity::Write };
        let queued = at - *arrived - *work - *transfer;
        let spans = [(Activity::Queue, queued), (activity, *work), (Activity::Link, *transfer)];
        let completed = completions.push(*id, at, Status::Done, self.id, spans);
        match request.op {
            Op::Read => completed.data = self.bytes.read(request),
            Op::Write => self.bytes.write(request.address, &std::mem::take(data)),
            Op::Trim => self.bytes.trim(request),
            Op::Flush => {}
        }
        match self.active[number].tries {
            0 => self.active.give_back(number),
            _ => self.active[number].is_done = true,
        }
    }

    /// Handles the first reply of a hedged read, and cancels the other attempt if it is still queued.
    fn settle_hedge(&mut self, answered: &Job) {
        self.counts.won += u64::from(answered.is_hedge);
        let number = answered.active;
        let active = &mut self.active[number];
        if let Some(at) = active.hedged_at.take() {
            self.hedges.remove(&(at, number));
        }
        if active.tries > 0 && self.far_side.withdraw(|job| job.active == number).is_some() {
            self.active[number].tries -= 1;
            self.counts.canceled += 1;
        }
    }

    /// Sends a read again at `now`.
    fn hedge(&mut self, now: Time, number: u32) {
        let active = &mut self.active[number];
        (active.tries, active.hedged_at) = (active.tries + 1, None);
        let unit = u64::from(active.request.bytes).min(self.unit);
        let contained = self.link.as_mut().map_or(Time::ZERO, |link| link.time_for(unit));
        let work = self.read.draw().saturating_sub(contained);
        self.counts.sent += 1;
        let job = Job { active: number, work, activity: Activity::Read, is_write: false, is_hedge: true };
        self.ask_far_side(now, job);
    }
}

/// Starts the service of a job. Returns its service time.
#[inline]
fn begin(ledger: &mut Ledger, job: &Job) -> Time {
    ledger.charge(job.activity, job.work);
    job.work
}

impl<S: Store> Device for Network<S> {
    #[inline]
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        let op = request.op;
        self.host.record(request);
        let carried = if matches!(op, Op::Read | Op::Write) { u64::from(request.bytes) } else { 0 };
        let (transfer, contained) = match &mut self.link {
            None => (Time::ZERO, Time::ZERO),
            Some(link) => (link.time_for(carried), link.time_for(carried.min(self.unit))),
        };
        let (latency, activity) = match op {
            Op::Read => (self.read.draw(), Activity::Read),
            _ => (self.write.draw(), Activity::Write),
        };
        let work = latency.saturating_sub(contained);
        let (number, active) = self.active.take();
        *active =
            Active { id, arrived: now, request: *request, transfer, work, tries: 1, ..Active::default() };
        if S::CARRIES_BYTES && op == Op::Write {
            active.data = data;
        }
        if let Some(after) = self.hedge_after.filter(|_| op == Op::Read) {
            active.hedged_at = Some(now + after);
            self.hedges.insert((now + after, number));
        }
        let job = Job { active: number, work, activity, is_write: op == Op::Write, is_hedge: false };
        match &mut self.link {
            Some(link) if op != Op::Read && !transfer.is_zero() => {
                let sent = link.cross(now, transfer);
                self.agenda.schedule(sent, Event::Sent(job));
            }
            _ => self.ask_far_side(now, job),
        }
    }

    fn cancel(&mut self, _now: Time, id: RequestId) -> Canceled {
        let is_it = |(_, active): &(u32, &Active)| active.id == id && !active.is_answered;
        let Some((number, _)) = self.active.iter().find(is_it) else { return Canceled::TooLate };
        let is_served = self.far_side.serving().any(|(_, job)| job.active == number);
        if is_served || self.far_side.withdraw(|job| job.active == number).is_none() {
            return Canceled::TooLate;
        }
        // The other attempt of this read is still in the queue.
        _ = self.far_side.withdraw(|job| job.active == number);
        let active = &mut self.active[number];
        active.data = Payload::NONE;
        if let Some(at) = active.hedged_at {
            self.hedges.remove(&(at, number));
        }
        self.active.give_back(number);
        Canceled::Yes
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.far_side.next().min(self.agenda.next()).min(self.next_hedge())
    }

    #[inline]
    fn run(&mut self, until: Time, completions: &mut Completions) {
        let before = completions.len();
        let mut until = until;
        loop {
            let (work, other, hedge) = (self.far_side.next(), self.agenda.next(), self.next_hedge());
            if work.min(other).min(hedge) >= until {
                return;
            }
            if hedge < work.min(other) {
                let (at, number) = self.hedges.pop_first().expect("it is due");
                self.hedge(at, number);
            } else if work <= other {
                let ledger = &mut self.ledger;
                let ended = self.far_side.end_before(until, |job, _| begin(ledger, job));
                let (at, job) = ended.expect("it is due");
                self.answer(at, job, completions);
            } else {
                match self.agenda.pop_before(until).expect("it is due") {
                    (at, Event::Sent(job)) => self.ask_far_side(at, job),
                    (at, Event::Received(number)) => self.complete(at, number, completions),
                }
            }
            if completions.len() > before {
                let (completed, _) = completions.get(before);
                until = until.min(completed.at + Time::from_ps(1));
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.capacity
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
        self.ledger = Ledger::default();
        self.host = HostCounts::default();
        self.counts = HedgeCounts::default();
        if let Some(link) = &mut self.link {
            link.restart_ledger();
        }
    }

    fn report(&self, _elapsed: Time) -> ComponentReport {
        let servers = self.far_side.count();
        let far_side = Resource { name: "far_side", servers, ledger: self.ledger.clone() };
        ComponentReport {
            id: self.id,
            kind: "network",
            path: self.path.clone(),
            resources: std::iter::once(far_side)
                .chain(self.link.as_ref().map(|link| link.resource("link")))
                .collect(),
            is_energy_modeled: false,
            idle_energy: None,
            counters: self.counters(),
            cost: self.cost,
            area_mm2: None,
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
            drive_share: None,
            faults: Vec::new(),
            children: Vec::new(),
        }
    }

    fn check_invariants(&self) {
        self.far_side.check_invariants();
        let jobs = self.far_side.serving().count() + self.far_side.waiting().len() + self.agenda.len();
        let spare = self.active.iter().filter(|(_, active)| active.is_answered);
        let spare: u32 =
            spare.map(|(_, active)| if active.is_done { active.tries - 1 } else { active.tries }).sum();
        let hedges =
            self.active.iter().filter(|(_, active)| !active.is_answered && active.tries == 2).count();
        assert_eq!(jobs, self.active.len() + spare as usize + hedges, "a request is lost");
        let waiting = self.active.iter().filter(|(_, active)| active.hedged_at.is_some()).count();
        assert_eq!(waiting, self.hedges.len(), "a read is not hedged");
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        for (end, job) in self.far_side.serving() {
            self.ledger.give_back(job.activity, end.saturating_sub(at));
            if job.is_write {
                let active = &self.active[job.active];
                self.bytes.tear(active.request.address, &active.data, chance);
            }
        }
        self.far_side.clear();
        self.agenda.clear();
        self.hedges.clear();
        self.active.clear();
        if let Some(link) = &mut self.link {
            link.power_fail(at);
        }
    }

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..Recovery::default() }
    }
}
