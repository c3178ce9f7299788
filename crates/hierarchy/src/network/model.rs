//! The model behind `network`: a far side of many servers, and a link.

use super::Config;
use nacre_controller::latency::Latency;
use nacre_kernel::state::State;
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Cancelled, Capabilities, Completion, ComponentId, ComponentReport,
    Data, Device, Endured, HostCounts, Ledger, Link, Op, Operations, Persistence, Pool, Random, Recovery,
    Request, Resource, Status, Time, Transactions, UnderWay, Zone,
};
use nacre_media::persistence::{Landing, Linear, Loss};
use nacre_media::store::Store;

/// A store behind a network.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Network<S> {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    read: Box<dyn Latency>,
    write: Box<dyn Latency>,
    far_side: Pool,
    link: Option<Link>,
    #[state(skip = "from the configuration")]
    unit: u64,
    #[state(skip = "from the configuration")]
    capacity: Option<Bytes>,
    #[state(skip = "from the configuration")]
    cost: Option<f64>,
    ledger: Ledger,
    host: HostCounts,
    bytes: Linear<S>,
    lost: Recovery,
    under_way: UnderWay,
}

/// Bytes that a loss of power leaves old or new.
const SECTOR: u32 = 512;

/// Time a request has the link, and how much of it the measured latency contains.
#[derive(Clone, Copy)]
struct Transfer {
    time: Time,
    contained: Time,
}

impl<S: Store> Network<S> {
    /// A store that has served nothing yet.
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
            far_side: Pool::new(config.parallelism),
            link: config.bandwidth.map(Link::new),
            unit: config.unit.0,
            capacity: config.capacity,
            cost: config.price.zip(config.capacity).map(|(price, capacity)| price.of(capacity)),
            ledger: Ledger::default(),
            host: HostCounts::default(),
            bytes: Linear::new(store, SECTOR),
            lost: Recovery::default(),
            under_way: UnderWay::default(),
        }
    }

    #[inline]
    fn transfer(&mut self, bytes: u64) -> Transfer {
        match &mut self.link {
            None => Transfer { time: Time::ZERO, contained: Time::ZERO },
            Some(link) => {
                Transfer { time: link.time_for(bytes), contained: link.time_for(bytes.min(self.unit)) }
            }
        }
    }

    /// Has the link for `time` from `earliest` on; when the last byte is over.
    #[inline]
    fn cross(&mut self, earliest: Time, time: Time) -> Time {
        match &mut self.link {
            None => earliest,
            Some(link) => link.cross(earliest, time),
        }
    }

    /// Has a server of the far side for `time` from `earliest` on; when it is done.
    #[inline]
    fn work(&mut self, earliest: Time, time: Time, activity: Activity) -> Time {
        let start = self.far_side.reserve(earliest, time);
        self.ledger.charge(activity, time);
        if S::CARRIES_BYTES {
            self.under_way.add(activity, start, start + time, Operations::default());
        }
        start + time
    }
}

impl<S: Store> Device for Network<S> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let op = request.op;
        let carried = if matches!(op, Op::Read | Op::Write) { u64::from(request.bytes) } else { 0 };
        self.host.record(request);
        let transfer = self.transfer(carried);
        let (latency, activity) = match op {
            Op::Read => (self.read.draw(), Activity::Read),
            _ => (self.write.draw(), Activity::Write),
        };
        let work = latency.saturating_sub(transfer.contained);
        let done = if op == Op::Read {
            let served = self.work(now, work, activity);
            self.cross(served, transfer.time)
        } else {
            let sent = self.cross(now, transfer.time);
            self.work(sent, work, activity)
        };
        match op {
            Op::Read => self.bytes.read(request, data),
            Op::Write => {
                self.bytes.write(
                    request,
                    &data,
                    Landing { begin: done - work, end: done, acknowledged: done },
                );
            }
            Op::Trim => self.bytes.trim(request),
            Op::Flush => {}
        }
        let queued = done - now - work - transfer.time;
        breakdown
            .add_all(self.id, [(Activity::Queue, queued), (activity, work), (Activity::Link, transfer.time)]);
        Completion { done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.bytes.settle(to);
        self.under_way.settle(to);
        self.far_side.forget_before(to);
        if let Some(link) = &mut self.link {
            link.forget_before(to);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.capacity
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
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

    fn busy_until(&self) -> Time {
        self.link.as_ref().map_or(Time::ZERO, Link::free_from).max(self.far_side.free_from())
    }

    fn restart_ledger(&mut self) {
        self.ledger = Ledger::default();
        self.host = HostCounts::default();
        self.under_way.clear();
        if let Some(link) = &mut self.link {
            link.restart_ledger();
        }
    }

    fn report(&self, _elapsed: Time) -> ComponentReport {
        let far_side =
            Resource { name: "far_side", servers: self.far_side.len(), ledger: self.ledger.clone() };
        ComponentReport {
            id: self.id,
            kind: "network",
            path: self.path.clone(),
            resources: std::iter::once(far_side)
                .chain(self.link.as_ref().map(|link| link.resource("link")))
                .collect(),
            is_energy_modelled: false,
            idle_energy: None,
            counters: self.host.counters(),
            cost: self.cost,
            area_mm2: None,
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
            drive_share: None,
            children: Vec::new(),
        }
    }

    fn check_invariants(&self) {
        self.far_side.check_invariants();
        if let Some(link) = &self.link {
            link.check_invariants();
        }
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        let loss = self.bytes.power_fail(at, chance);
        let Loss { programs_lost, bytes_lost, .. } = loss;
        self.lost = Recovery { programs_lost, bytes_lost, ..Recovery::default() };
        for Cancelled { activity, time, .. } in self.under_way.cancel(at) {
            self.ledger.give_back(activity, time);
        }
        self.far_side = Pool::new(self.far_side.len());
        if let Some(link) = &mut self.link {
            link.power_fail(at);
        }
    }

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..std::mem::take(&mut self.lost) }
    }

    fn precondition(&mut self, _requests: &[Request]) {}

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("it cannot be written on without time, and says so")
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, _requests: &[Request]) {}
}
