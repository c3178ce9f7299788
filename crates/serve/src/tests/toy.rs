//! A device that acknowledges writes long before they are durable.

use nacre_kernel::{
    Bytes, Completion, ComponentId, ComponentReport, Device, Op, Request, Status, Time, Trail,
};

pub(super) const BYTES: u64 = 64 << 10;
/// From a request to its answer.
pub(super) const LATENCY: Time = Time::from_us(10);
/// From the answer of a write until it is durable, by the 16 KiB it begins in: later ones may be durable earlier.
pub(super) const DELAYS: [Time; 4] = [Time::ZERO, Time::from_us(50), Time::from_us(300), Time::from_us(2000)];

#[derive(Default)]
pub(super) struct Toy {
    busy_until: Time,
    counts: [u64; 4],
    delay: Time,
}

impl Device for Toy {
    fn submit(&mut self, now: Time, request: &Request, _trail: &mut Trail) -> Completion {
        self.counts[request.op as usize] += 1;
        self.delay = DELAYS[(request.address / (BYTES / 4)) as usize];
        // A flush is quick: what was acknowledged is durable when it is done, long before it would have been.
        let done = now + LATENCY;
        if request.op == Op::Write {
            self.busy_until = self.busy_until.max(done + self.delay);
        }
        Completion { done, status: Status::Done }
    }

    fn durable(&self, completion: Completion) -> Time {
        completion.done + self.delay
    }

    fn advance(&mut self, _to: Time) {}

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(BYTES))
    }

    fn busy_until(&self) -> Time {
        self.busy_until
    }

    fn restart_ledger(&mut self) {}

    fn report(&self, _elapsed: Time) -> ComponentReport {
        ComponentReport {
            id: ComponentId(0),
            kind: "toy",
            path: "stack".into(),
            resources: Vec::new(),
            is_energy_modelled: false,
            idle_energy: None,
            counters: vec![
                ("reads", self.counts[0]),
                ("writes", self.counts[1]),
                ("flushes", self.counts[3]),
            ],
            cost: None,
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
            children: Vec::new(),
        }
    }

    fn check_invariants(&self) {}
}
