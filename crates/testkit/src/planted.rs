//! Mistakes planted into a device, to show that the suites find them.

use nacre_kernel::state::{self, State, StateError, StateReader, StateWriter};
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured, Op,
    Random, Recovery, Request, Time, Transactions,
};
use std::cell::RefCell;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A write is acknowledged at a quarter of its time.
    AcknowledgedEarly,
    /// A flush is answered, and the device never hears of it.
    FlushThatLies,
    /// It says that units of 4 KiB are never torn.
    TornTakenForWhole,
    /// What is saved is the state that was saved the time before.
    StaleRestore,
    /// Every eleventh read is of the block behind.
    MappingOffByOne,
    /// A restored device does not know its wear and its counts any more.
    WearForgotten,
}

impl Mistake {
    /// All of them.
    pub const ALL: [Mistake; 6] = [
        Mistake::AcknowledgedEarly,
        Mistake::FlushThatLies,
        Mistake::TornTakenForWhole,
        Mistake::StaleRestore,
        Mistake::MappingOffByOne,
        Mistake::WearForgotten,
    ];
}

/// A device that makes one mistake.
pub struct Planted {
    inner: Box<dyn Device>,
    mistake: Mistake,
    reads: u64,
    before: RefCell<Option<Vec<u8>>>,
}

impl Planted {
    /// `inner`, which makes `mistake`.
    pub fn new(inner: Box<dyn Device>, mistake: Mistake) -> Planted {
        Planted { inner, mistake, reads: 0, before: RefCell::new(None) }
    }
}

impl State for Planted {
    fn save(&self, into: &mut StateWriter) {
        let now = state::saved(&*self.inner).expect("it can be saved");
        let before = self.before.replace(Some(now.clone()));
        let stale = before.filter(|_| self.mistake == Mistake::StaleRestore);
        into.put_u64(self.reads);
        into.put_bytes(&stale.unwrap_or(now));
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateError> {
        self.reads = from.u64("reads")?;
        let bytes = from.bytes("the state of the device")?.to_vec();
        *self.before.borrow_mut() = Some(bytes.clone());
        state::restored(&mut *self.inner, &bytes)?;
        if self.mistake == Mistake::WearForgotten {
            self.inner.restart_ledger();
        }
        Ok(())
    }
}

impl Device for Planted {
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        match (self.mistake, request.op) {
            (Mistake::FlushThatLies, Op::Flush) => {
                Completion { done: now, status: nacre_kernel::Status::Done }
            }
            (Mistake::AcknowledgedEarly, Op::Write) => {
                let mark = breakdown.mark();
                let completion = self.inner.submit(now, request, data, breakdown);
                let component = breakdown.segments()[mark..].first().map(|segment| segment.component);
                let Some(component) = component else { return completion };
                breakdown.drop_range(mark, breakdown.mark());
                let early = Time::from_ps((completion.done - now).as_ps() / 4);
                breakdown.add(component, Activity::Write, early);
                Completion { done: now + early, ..completion }
            }
            (Mistake::MappingOffByOne, Op::Read) => {
                self.reads += 1;
                let end = self.inner.capacity().map_or(u64::MAX, |capacity| capacity.0);
                let is_wrong =
                    self.reads.is_multiple_of(11) && request.address + 2 * u64::from(request.bytes) <= end;
                let address = request.address + if is_wrong { u64::from(request.bytes) } else { 0 };
                self.inner.submit(now, &Request { address, ..*request }, data, breakdown)
            }
            _ => self.inner.submit(now, request, data, breakdown),
        }
    }

    fn advance(&mut self, to: Time) {
        self.inner.advance(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        self.inner.capacity()
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        match self.mistake {
            Mistake::TornTakenForWhole => Capabilities { atomic_unit: 4096, ..inner },
            _ => inner,
        }
    }

    fn busy_until(&self) -> Time {
        self.inner.busy_until()
    }

    fn restart_ledger(&mut self) {
        self.inner.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        self.inner.report(elapsed)
    }

    fn check_invariants(&self) {
        self.inner.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.inner.power_fail(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.inner.recover(at)
    }

    fn precondition(&mut self, requests: &[Request]) {
        self.inner.precondition(requests);
    }

    fn wear_out(&mut self, bursts: &[Burst]) -> Endured {
        self.inner.wear_out(bursts)
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        self.inner.transactions()
    }

    fn prefetch(&self, requests: &[Request]) {
        self.inner.prefetch(requests);
    }

    fn is_durable(&self, at: Time, address: u64, bytes: u32) -> bool {
        self.inner.is_durable(at, address, bytes)
    }
}
