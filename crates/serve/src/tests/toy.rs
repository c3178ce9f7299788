//! A device that acknowledges writes long before they are durable.

use nacre_kernel::state::State;
use nacre_kernel::{
    Breakdown, Burst, Bytes, Capabilities, Completion, ComponentId, ComponentReport, Data, Device, Endured,
    Op, Persistence, Random, Recovery, Request, Status, Time, Transactions,
};

pub(super) const BYTES: u64 = 64 << 10;
/// From a request to its answer.
pub(super) const LATENCY: Time = Time::from_us(10);
/// From the answer of a write until it is durable, by the 16 KiB it begins in: later ones may be durable earlier.
pub(super) const DELAYS: [Time; 4] = [Time::ZERO, Time::from_us(50), Time::from_us(300), Time::from_us(2000)];

#[derive(State)]
pub(super) struct Toy {
    busy_until: Time,
    counts: [u64; 4],
    /// When what was last written to each byte is durable.
    durable: Vec<Time>,
    /// And when it is acknowledged.
    acknowledged: Vec<Time>,
}

impl Default for Toy {
    fn default() -> Toy {
        let never = vec![Time::ZERO; BYTES as usize];
        Toy { busy_until: Time::ZERO, counts: [0; 4], durable: never.clone(), acknowledged: never }
    }
}

impl Device for Toy {
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        _data: Data<'_>,
        _breakdown: &mut Breakdown,
    ) -> Completion {
        self.counts[request.op as usize] += 1;
        let done = now + LATENCY;
        if request.op == Op::Flush {
            // Quick: what was acknowledged is durable when it is done, long before it would have been.
            let bytes = self.durable.iter_mut().zip(&self.acknowledged);
            let acknowledged = bytes.filter(|&(_, &acknowledged)| acknowledged <= now);
            acknowledged.for_each(|(durable, _)| *durable = done.min(*durable));
        }
        if request.op == Op::Write {
            let durable = done + DELAYS[(request.address / (BYTES / 4)) as usize];
            let first = request.address as usize;
            let bytes = first..first + request.bytes as usize;
            self.durable[bytes.clone()].fill(durable);
            self.acknowledged[bytes].fill(done);
            self.busy_until = self.busy_until.max(durable);
        }
        Completion { done, status: Status::Done }
    }

    fn is_durable(&self, at: Time, address: u64, bytes: u32) -> bool {
        self.durable[address as usize..][..bytes as usize].iter().all(|&durable| durable <= at)
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

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: false,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: 512,
            transactions: false,
            preconditions: false,
            rated_endurance: false,
        }
    }

    fn power_fail(&mut self, _at: Time, _chance: &mut Random) {}

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..Recovery::default() }
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, _requests: &[Request]) {}

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("it says that it cannot")
    }

    fn precondition(&mut self, _requests: &[Request]) {}
}
