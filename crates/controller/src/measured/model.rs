//! The model behind `measured`: servers behind one queue, and a link they may share.

use super::Config;
use crate::latency::Latency;
use nacre_kernel::{
    Activity, Bandwidth, Bytes, Completion, ComponentId, ComponentReport, Device, Energy, Ledger, Op, Pool,
    Request, Status, Time, Timeline, Trail,
};

/// A link all units share.
struct Link {
    bandwidth: Bandwidth,
    timeline: Timeline,
}

/// When one unit is done, and how much of that the device worked on it.
#[derive(Clone, Copy)]
struct Served {
    done: Time,
    latency: Time,
    /// Transfer time that the latency does not cover.
    overrun: Time,
}

/// A device known only by its measured latencies.
pub(super) struct Measured {
    id: ComponentId,
    path: String,
    config: Config,
    read: Box<dyn Latency>,
    write: Box<dyn Latency>,
    servers: Pool,
    link: Option<Link>,
    last_write_done: Time,
    book: Book,
}

/// What was done since measuring began; arrays are indexed by [`Op`].
#[derive(Default)]
struct Book {
    ledger: Ledger,
    requests: [u64; 4],
    units: [u64; 2],
    bytes: [u64; 2],
}

impl Measured {
    /// A device that has done nothing yet.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        read: Box<dyn Latency>,
        write: Box<dyn Latency>,
    ) -> Measured {
        let servers = Pool::new(config.parallelism);
        let link = config.bandwidth.map(|bandwidth| Link { bandwidth, timeline: Timeline::new() });
        Measured {
            id,
            path,
            config,
            read,
            write,
            servers,
            link,
            last_write_done: Time::ZERO,
            book: Book::default(),
        }
    }

    /// Serves every unit of a read or write; the result is that of the unit done last.
    #[inline]
    fn serve(&mut self, now: Time, op: Op, bytes: u64) -> Served {
        let unit = self.config.unit.0;
        let mut last = self.serve_unit(now, op, bytes.min(unit));
        let (mut units, mut left) = (1, bytes.saturating_sub(unit));
        while left > 0 {
            let next = self.serve_unit(now, op, left.min(unit));
            if next.done > last.done {
                last = next;
            }
            units += 1;
            left = left.saturating_sub(unit);
        }
        self.book.units[op as usize] += units;
        last
    }

    #[inline]
    fn serve_unit(&mut self, now: Time, op: Op, bytes: u64) -> Served {
        let (latency, activity) = match op {
            Op::Read => (self.read.draw(), Activity::Read),
            _ => (self.write.draw(), Activity::Write),
        };
        self.book.ledger.charge(activity, latency);
        match &mut self.link {
            None => {
                let start = self.servers.reserve(now, latency);
                Served { done: start + latency, latency, overrun: Time::ZERO }
            }
            Some(link) => {
                let transfer = link.bandwidth.time_for(bytes);
                self.book.ledger.charge(Activity::Link, transfer);
                let done = link.serve(&mut self.servers, now, op, latency, transfer);
                Served { done, latency, overrun: transfer.saturating_sub(latency) }
            }
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let [reads, writes, trims, flushes] = self.book.requests;
        vec![
            ("reads", reads),
            ("writes", writes),
            ("trims", trims),
            ("flushes", flushes),
            ("units_read", self.book.units[0]),
            ("units_written", self.book.units[1]),
            ("bytes_read", self.book.bytes[0]),
            ("bytes_written", self.book.bytes[1]),
        ]
    }

    /// The ledger with the energy of the units served so far.
    fn ledger(&self) -> Ledger {
        let mut ledger = self.book.ledger.clone();
        let each = [(Activity::Read, self.config.read_energy), (Activity::Write, self.config.write_energy)];
        for ((activity, energy), units) in each.into_iter().zip(self.book.units) {
            let energy = energy.unwrap_or_default();
            ledger.charge_energy(activity, Energy(energy.0 * units as f64));
        }
        ledger
    }

    fn lifetime_days(&self, elapsed: Time) -> Option<f64> {
        let written = self.book.bytes[Op::Write as usize];
        let days = elapsed.as_secs_f64() / 86_400.0;
        (written > 0).then_some(self.config.endurance?.0 as f64 / written as f64 * days)
    }
}

impl Link {
    /// When a unit is done that holds a server for `latency` and the link for `transfer`.
    fn serve(&mut self, servers: &mut Pool, now: Time, op: Op, latency: Time, transfer: Time) -> Time {
        if op == Op::Read {
            let start = servers.reserve(now, latency);
            let data_ready = start + latency.saturating_sub(transfer);
            (self.timeline.reserve(data_ready, transfer) + transfer).max(start + latency)
        } else {
            let sent = self.timeline.reserve(now, transfer);
            (servers.reserve(sent, latency) + latency).max(sent + transfer)
        }
    }
}

impl Device for Measured {
    #[inline]
    fn submit(&mut self, now: Time, request: &Request, trail: &mut Trail) -> Completion {
        let op = request.op;
        self.book.requests[op as usize] += 1;
        let done = match op {
            Op::Read | Op::Write => {
                let bytes = u64::from(request.bytes);
                self.book.bytes[op as usize] += bytes;
                let served = self.serve(now, op, bytes);
                let activity = if op == Op::Read { Activity::Read } else { Activity::Write };
                trail.add(self.id, Activity::Queue, served.done - now - served.latency - served.overrun);
                trail.add(self.id, activity, served.latency);
                trail.add(self.id, Activity::Link, served.overrun);
                if op == Op::Write {
                    self.last_write_done = self.last_write_done.max(served.done);
                }
                served.done
            }
            Op::Trim => {
                trail.add(self.id, Activity::Software, self.config.trim);
                now + self.config.trim
            }
            Op::Flush => {
                let written = self.last_write_done.max(now);
                trail.add(self.id, Activity::Queue, written - now);
                trail.add(self.id, Activity::Write, self.config.flush);
                written + self.config.flush
            }
        };
        Completion { done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.servers.forget_before(to);
        if let Some(link) = &mut self.link {
            link.timeline.forget_before(to);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.config.capacity
    }

    fn restart_ledger(&mut self) {
        self.book = Book::default();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        ComponentReport {
            id: self.id,
            kind: "measured",
            path: self.path.clone(),
            servers: self.config.parallelism,
            ledger: self.ledger(),
            idle_energy: self.config.idle_power.map(|power| power.over(elapsed)),
            counters: self.counters(),
            cost: self.config.price.zip(self.config.capacity).map(|(price, capacity)| price.of(capacity)),
            lifetime_days: self.lifetime_days(elapsed),
            children: Vec::new(),
        }
    }

    fn check_invariants(&self) {
        self.servers.check_invariants();
        if let Some(link) = &self.link {
            link.timeline.check_invariants();
        }
        let (reads, writes) = (self.book.requests[0], self.book.requests[1]);
        assert!(self.book.units[0] >= reads && self.book.units[1] >= writes, "a request took no unit");
    }
}
