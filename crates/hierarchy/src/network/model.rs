//! The model behind `network`: a far side of many servers, and a link.

use super::Config;
use nacre_controller::latency::Latency;
use nacre_kernel::{
    Activity, Bandwidth, Bytes, Completion, ComponentId, ComponentReport, Device, Ledger, Op, Pool, Request,
    Status, Time, Timeline, Trail,
};

/// A store behind a network.
pub(super) struct Network {
    id: ComponentId,
    path: String,
    read: Box<dyn Latency>,
    write: Box<dyn Latency>,
    far_side: Pool,
    link: Option<Link>,
    unit: u64,
    capacity: Option<Bytes>,
    cost: Option<f64>,
    ledger: Ledger,
    requests: [u64; 4],
    bytes: [u64; 4],
}

/// The way there and back.
struct Link {
    bandwidth: Bandwidth,
    timeline: Timeline,
}

/// Time a request has the link, and how much of it the measured latency contains.
#[derive(Clone, Copy)]
struct Transfer {
    time: Time,
    contained: Time,
}

impl Network {
    /// A store that has served nothing yet.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: &Config,
        read: Box<dyn Latency>,
        write: Box<dyn Latency>,
    ) -> Network {
        Network {
            id,
            path,
            read,
            write,
            far_side: Pool::new(config.parallelism),
            link: config.bandwidth.map(|bandwidth| Link { bandwidth, timeline: Timeline::new() }),
            unit: config.unit.0,
            capacity: config.capacity,
            cost: config.price.zip(config.capacity).map(|(price, capacity)| price.of(capacity)),
            ledger: Ledger::default(),
            requests: [0; 4],
            bytes: [0; 4],
        }
    }

    #[inline]
    fn transfer(&self, bytes: u64) -> Transfer {
        match &self.link {
            None => Transfer { time: Time::ZERO, contained: Time::ZERO },
            Some(link) => Transfer {
                time: link.bandwidth.time_for(bytes),
                contained: link.bandwidth.time_for(bytes.min(self.unit)),
            },
        }
    }

    /// Has the link for `time` from `earliest` on; when the last byte is over.
    #[inline]
    fn cross(&mut self, earliest: Time, time: Time) -> Time {
        match &mut self.link {
            None => earliest,
            Some(link) => link.timeline.reserve(earliest, time) + time,
        }
    }

    /// Has a server of the far side for `time` from `earliest` on; when it is done.
    #[inline]
    fn work(&mut self, earliest: Time, time: Time) -> Time {
        self.far_side.reserve(earliest, time) + time
    }
}

impl Device for Network {
    #[inline]
    fn submit(&mut self, now: Time, request: &Request, trail: &mut Trail) -> Completion {
        let op = request.op;
        let carried = if matches!(op, Op::Read | Op::Write) { u64::from(request.bytes) } else { 0 };
        self.requests[op as usize] += 1;
        self.bytes[op as usize] += u64::from(request.bytes);
        let transfer = self.transfer(carried);
        let (latency, activity) = match op {
            Op::Read => (self.read.draw(), Activity::Read),
            _ => (self.write.draw(), Activity::Write),
        };
        let work = latency.saturating_sub(transfer.contained);
        let done = if op == Op::Read {
            let served = self.work(now, work);
            self.cross(served, transfer.time)
        } else {
            let sent = self.cross(now, transfer.time);
            self.work(sent, work)
        };
        self.ledger.charge(activity, work);
        self.ledger.charge(Activity::Link, transfer.time);
        trail.add(self.id, Activity::Queue, done - now - work - transfer.time);
        trail.add(self.id, activity, work);
        trail.add(self.id, Activity::Link, transfer.time);
        Completion { done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.far_side.forget_before(to);
        if let Some(link) = &mut self.link {
            link.timeline.forget_before(to);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.capacity
    }

    fn restart_ledger(&mut self) {
        self.ledger = Ledger::default();
        self.requests = [0; 4];
        self.bytes = [0; 4];
    }

    fn report(&self, _elapsed: Time) -> ComponentReport {
        let count = |op: Op| self.requests[op as usize];
        ComponentReport {
            id: self.id,
            kind: "network",
            path: self.path.clone(),
            servers: self.far_side.len(),
            ledger: self.ledger.clone(),
            idle_energy: None,
            counters: vec![
                ("reads", count(Op::Read)),
                ("writes", count(Op::Write)),
                ("trims", count(Op::Trim)),
                ("flushes", count(Op::Flush)),
                ("bytes_read", self.bytes[Op::Read as usize]),
                ("bytes_written", self.bytes[Op::Write as usize]),
            ],
            cost: self.cost,
            lifetime_days: None,
            children: Vec::new(),
        }
    }

    fn check_invariants(&self) {
        self.far_side.check_invariants();
        if let Some(link) = &self.link {
            link.timeline.check_invariants();
        }
    }
}
