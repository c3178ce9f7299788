//! The model behind `measured`: servers behind one queue, and a link they may share.

use super::Config;
use crate::latency::Latency;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Cancelled, Capabilities, Completion, ComponentId, ComponentReport,
    Data, Device, Endured, HostCounts, Ledger, Link, Op, Operations, Persistence, Pool, Random, Recovery,
    Request, Resource, Status, Time, Transactions, UnderWay, Zone,
};
use nacre_media::persistence::{Landing, Linear, Loss};
use nacre_media::store::Store;

/// When one unit is done, and how much of that the device worked on it.
#[derive(Clone, Copy)]
struct Served {
    done: Time,
    latency: Time,
    /// Transfer time that the latency does not cover.
    overrun: Time,
}

/// A device known only by its measured latencies.
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
    servers: Pool,
    link: Option<Link>,
    last_write_done: Time,
    bytes: Linear<S>,
    lost: Recovery,
    book: Book,
    under_way: UnderWay,
}

/// Bytes that a loss of power leaves old or new.
const SECTOR: u32 = 512;

/// What was done since measuring began; `units` is indexed by [`Op`].
#[derive(Default, Value)]
struct Book {
    ledger: Ledger,
    host: HostCounts,
    units: [u64; 2],
    /// Of these, how many a loss of power kept from being served.
    units_cancelled: [u64; 2],
}

impl<S: Store> Measured<S> {
    /// A device that has done nothing yet.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        read: Box<dyn Latency>,
        write: Box<dyn Latency>,
        store: S,
    ) -> Measured<S> {
        let servers = Pool::new(config.parallelism);
        let link = config.bandwidth.map(Link::new);
        Measured {
            id,
            path,
            config,
            read,
            write,
            servers,
            link,
            last_write_done: Time::ZERO,
            bytes: Linear::new(store, SECTOR),
            lost: Recovery::default(),
            book: Book::default(),
            under_way: UnderWay::default(),
        }
    }

    /// Serves every unit of a read or write; the result is that of the unit done last.
    #[inline]
    fn serve(&mut self, now: Time, op: Op, bytes: u64) -> Served {
        if bytes <= self.config.unit.0 {
            self.serve_unit(now, op, bytes)
        } else {
            self.serve_units(now, op, bytes)
        }
    }

    #[inline(never)]
    fn serve_units(&mut self, now: Time, op: Op, bytes: u64) -> Served {
        let unit = self.config.unit.0;
        let mut last = self.serve_unit(now, op, unit);
        let mut left = bytes - unit;
        while left > 0 {
            let next = self.serve_unit(now, op, left.min(unit));
            if next.done > last.done {
                last = next;
            }
            left = left.saturating_sub(unit);
        }
        last
    }

    #[inline(always)]
    fn serve_unit(&mut self, now: Time, op: Op, bytes: u64) -> Served {
        let (latency, activity) = match op {
            Op::Read => (self.read.draw(), Activity::Read),
            _ => (self.write.draw(), Activity::Write),
        };
        self.book.units[op as usize] += 1;
        self.book.ledger.charge(activity, latency);
        let (start, served) = match &mut self.link {
            None => {
                let start = self.servers.reserve(now, latency);
                (start, Served { done: start + latency, latency, overrun: Time::ZERO })
            }
            Some(link) => {
                let transfer = link.time_for(bytes);
                let (start, done) = serve_over_link(link, &mut self.servers, now, op, latency, transfer);
                (start, Served { done, latency, overrun: transfer.saturating_sub(latency) })
            }
        };
        if S::CARRIES_BYTES {
            self.under_way.add(activity, start, start + latency, Operations::default());
        }
        served
    }

    /// The power fails at `at`: what waits for a server is not served.
    fn cancel(&mut self, at: Time) {
        for cancelled in self.under_way.cancel(at) {
            let Cancelled { activity, time, .. } = cancelled;
            self.book.ledger.give_back(activity, time);
            let units = &mut self.book.units_cancelled[usize::from(activity == Activity::Write)];
            *units += u64::from(cancelled.is_whole());
        }
        self.servers = Pool::new(self.config.parallelism);
        if let Some(link) = &mut self.link {
            link.power_fail(at);
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.book.host.counters();
        counters.extend([("units_read", self.book.units[0]), ("units_written", self.book.units[1])]);
        counters
    }

    fn resources(&self) -> Vec<Resource> {
        let servers = Resource { name: "servers", servers: self.config.parallelism, ledger: self.ledger() };
        std::iter::once(servers).chain(self.link.as_ref().map(|link| link.resource("link"))).collect()
    }

    /// The ledger with the energy of the units served so far.
    fn ledger(&self) -> Ledger {
        let mut ledger = self.book.ledger.clone();
        let energies = self.config.energies();
        for (kind, activity) in [Activity::Read, Activity::Write].into_iter().enumerate() {
            let served = self.book.units[kind] - self.book.units_cancelled[kind];
            ledger.charge_energy(activity, energies.of_many(kind, served));
        }
        ledger
    }

    fn lifetime_days(&self, elapsed: Time) -> Option<f64> {
        let written = self.book.host.bytes_written();
        let days = elapsed.as_secs_f64() / 86_400.0;
        (written > 0).then_some(self.config.endurance?.0 as f64 / written as f64 * days)
    }
}

/// When a unit begins and is done that holds a server for `latency` and the link for `transfer`.
#[inline(always)]
fn serve_over_link(
    link: &mut Link,
    servers: &mut Pool,
    now: Time,
    op: Op,
    latency: Time,
    transfer: Time,
) -> (Time, Time) {
    if op == Op::Read {
        let start = servers.reserve(now, latency);
        let data_ready = start + latency.saturating_sub(transfer);
        (start, link.cross(data_ready, transfer).max(start + latency))
    } else {
        let sent = link.cross(now, transfer);
        let start = servers.reserve(sent - transfer, latency);
        (start, (start + latency).max(sent))
    }
}

impl<S: Store> Device for Measured<S> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let op = request.op;
        self.book.host.record(request);
        let done = match op {
            Op::Read | Op::Write => {
                let served = self.serve(now, op, u64::from(request.bytes));
                let activity = if op == Op::Read { Activity::Read } else { Activity::Write };
                let queued = served.done - now - served.latency - served.overrun;
                let spans =
                    [(Activity::Queue, queued), (activity, served.latency), (Activity::Link, served.overrun)];
                breakdown.add_all(self.id, spans);
                if op == Op::Write {
                    self.last_write_done = self.last_write_done.max(served.done);
                    let begin = served.done - served.latency;
                    let landing = Landing { begin, end: served.done, acknowledged: served.done };
                    self.bytes.write(request, &data, landing);
                } else {
                    self.bytes.read(request, data);
                }
                served.done
            }
            Op::Trim => {
                self.bytes.trim(request);
                breakdown.add(self.id, Activity::Software, self.config.trim);
                now + self.config.trim
            }
            Op::Flush => {
                let written = self.last_write_done.max(now);
                breakdown.add(self.id, Activity::Queue, written - now);
                breakdown.add(self.id, Activity::Write, self.config.flush);
                written + self.config.flush
            }
        };
        Completion { done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.bytes.settle(to);
        self.under_way.settle(to);
        self.servers.forget_before(to);
        if let Some(link) = &mut self.link {
            link.forget_before(to);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.config.capacity
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
        self.link.as_ref().map_or(Time::ZERO, Link::free_from).max(self.servers.free_from())
    }

    fn restart_ledger(&mut self) {
        self.book = Book::default();
        self.under_way.clear();
        if let Some(link) = &mut self.link {
            link.restart_ledger();
        }
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        ComponentReport {
            id: self.id,
            kind: "measured",
            path: self.path.clone(),
            resources: self.resources(),
            is_energy_modelled: self.config.energies().is_known(),
            idle_energy: self.config.idle_power.map(|power| power.over(elapsed)),
            counters: self.counters(),
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
        if let Some(link) = &self.link {
            link.check_invariants();
        }
        let (reads, writes) = (self.book.host.requests(Op::Read), self.book.host.requests(Op::Write));
        assert!(self.book.units[0] >= reads && self.book.units[1] >= writes, "a request took no unit");
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        let loss = self.bytes.power_fail(at, chance);
        let Loss { programs_lost, bytes_lost, .. } = loss;
        self.lost = Recovery { programs_lost, bytes_lost, ..Recovery::default() };
        self.cancel(at);
        self.last_write_done = self.last_write_done.min(at);
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
