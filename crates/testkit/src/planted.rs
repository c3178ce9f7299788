//! Mistakes planted into a device, to show that the suites find them.

use nacre_kernel::state::{self, State, StateError, StateReader, StateWriter, Value};
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentReport, Data, Device, Endured, Op,
    Persistence, Random, Recovery, Refused, Request, Status, Time, Transactions, Wear, Zone,
};
use std::cell::RefCell;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// A restored device does not know any more what was programmed and erased, and how often; one that does not wear has
    /// forgotten its counts. A report before and after the restart tells.
    WearForgotten,
    /// Recovery counts no lost bytes.
    LossUntold,
    /// Recovery says nothing of pages that a program without power damaged.
    DamageUntold,
    /// It says that every write survives from its acknowledgement.
    CapacitorOverstated,
    /// A write that the worn-out medium refused is acknowledged.
    RefusalHidden,
    /// A transaction that is taken back is committed.
    AbortThatCommits,
    /// A commit is answered, and the transaction stays open.
    CommitThatLies,
    /// A recovery never ends.
    NeverReady,
    /// When a recovery is interrupted, the next one puts zeroes over what was written last.
    RecoversOnce,
    /// Every eleventh read fails, though nothing is lost.
    FailsForNothing,
}

impl Mistake {
    /// All of them.
    pub const ALL: [Mistake; 15] = [
        Mistake::AcknowledgedEarly,
        Mistake::FlushThatLies,
        Mistake::TornTakenForWhole,
        Mistake::StaleRestore,
        Mistake::MappingOffByOne,
        Mistake::WearForgotten,
        Mistake::LossUntold,
        Mistake::DamageUntold,
        Mistake::CapacitorOverstated,
        Mistake::RefusalHidden,
        Mistake::AbortThatCommits,
        Mistake::CommitThatLies,
        Mistake::NeverReady,
        Mistake::RecoversOnce,
        Mistake::FailsForNothing,
    ];
}

/// A device that makes one mistake.
pub struct Planted {
    inner: Box<dyn Device>,
    mistake: Mistake,
    reads: u64,
    before: RefCell<Option<Vec<u8>>>,
    /// First byte and bytes of the last write, and when a recovery is done that may still be under way.
    written: (u64, u32),
    ready: Time,
    /// Whether it was restored, and reports as little wear as a new device.
    forgets_wear: bool,
}

fn has_wear(report: &ComponentReport) -> bool {
    report.wear.is_some() || report.children.iter().any(has_wear)
}

fn forget_wear(report: &mut ComponentReport) {
    if let Some(wear) = &mut report.wear {
        let as_new = Wear { endurance: wear.endurance, ..Wear::default() };
        *wear = Wear { block_erases: vec![0; wear.block_erases.len()], ..as_new };
    }
    report.children.iter_mut().for_each(forget_wear);
}

impl Planted {
    /// `inner`, which makes `mistake`.
    pub fn new(inner: Box<dyn Device>, mistake: Mistake) -> Planted {
        Planted {
            inner,
            mistake,
            reads: 0,
            before: RefCell::new(None),
            written: (0, 0),
            ready: Time::ZERO,
            forgets_wear: false,
        }
    }
}

impl State for Planted {
    fn save(&self, into: &mut StateWriter) {
        let now = state::saved(&*self.inner).expect("it can be saved");
        let before = self.before.replace(Some(now.clone()));
        let stale = before.filter(|_| self.mistake == Mistake::StaleRestore);
        into.put_u64(self.reads);
        (self.written, self.ready).save(into);
        into.put_bytes(&stale.unwrap_or(now));
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateError> {
        self.reads = from.u64("reads")?;
        (self.written, self.ready) = Value::read(from)?;
        let bytes = from.bytes("the state of the device")?.to_vec();
        *self.before.borrow_mut() = Some(bytes.clone());
        state::restored(&mut *self.inner, &bytes)?;
        if self.mistake == Mistake::WearForgotten {
            self.forgets_wear = has_wear(&self.inner.report(Time::ZERO));
            if !self.forgets_wear {
                self.inner.restart_ledger();
            }
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
            (Mistake::FlushThatLies, Op::Flush) => Completion { done: now, status: Status::Done },
            (Mistake::AcknowledgedEarly, Op::Write) => {
                let mark = breakdown.mark();
                let completion = self.inner.submit(now, request, data, breakdown);
                let component = breakdown.spans()[mark..].first().map(|span| span.component);
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
            (Mistake::FailsForNothing, Op::Read) => {
                self.reads += 1;
                let completion = self.inner.submit(now, request, data, breakdown);
                let fails = self.reads.is_multiple_of(11);
                Completion {
                    status: if fails { Status::MediaError } else { completion.status },
                    ..completion
                }
            }
            (Mistake::RefusalHidden, Op::Write) => {
                let completion = self.inner.submit(now, request, data, breakdown);
                Completion { status: Status::Done, ..completion }
            }
            (Mistake::RecoversOnce, Op::Write) => {
                self.written = (request.address, request.bytes);
                self.inner.submit(now, request, data, breakdown)
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

    fn zone(&self, address: u64) -> Option<Zone> {
        self.inner.zone(address)
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        match self.mistake {
            Mistake::TornTakenForWhole => Capabilities { atomic_unit: 4096, ..inner },
            Mistake::CapacitorOverstated => {
                Capabilities { persistence: Persistence::OnAcknowledgement, ..inner }
            }
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
        let mut report = self.inner.report(elapsed);
        if self.forgets_wear {
            forget_wear(&mut report);
        }
        report
    }

    fn check_invariants(&self) {
        self.inner.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.inner.power_fail(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        let mut recovery = self.inner.recover(at);
        match self.mistake {
            Mistake::LossUntold => recovery.bytes_lost = 0,
            Mistake::DamageUntold if recovery.pages_damaged > 0 => {
                (recovery.pages_damaged, recovery.bytes_lost) = (0, 0);
            }
            Mistake::NeverReady => recovery.done += Time::from_s(100_000),
            Mistake::RecoversOnce => {
                let was_under_way = at < self.ready && self.written.1 > 0;
                self.ready = recovery.done;
                if was_under_way {
                    let (address, bytes) = self.written;
                    let request = Request { arrival: at, address, bytes, volume: 0, op: Op::Write };
                    let zeroes = vec![0; bytes as usize];
                    self.inner.submit(at, &request, Data::Write(&zeroes), &mut Breakdown::new());
                }
            }
            _ => {}
        }
        recovery
    }

    fn precondition(&mut self, requests: &[Request]) {
        self.inner.precondition(requests);
    }

    fn wear_out(&mut self, bursts: &[Burst]) -> Endured {
        self.inner.wear_out(bursts)
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        match self.mistake {
            Mistake::AbortThatCommits | Mistake::CommitThatLies => {
                self.inner.transactions()?;
                Some(self)
            }
            _ => self.inner.transactions(),
        }
    }

    fn prefetch(&self, requests: &[Request]) {
        self.inner.prefetch(requests);
    }
}

impl Planted {
    fn inner(&mut self) -> &mut dyn Transactions {
        self.inner.transactions().expect("the device has transactions")
    }
}

impl Transactions for Planted {
    fn begin(&mut self, now: Time) -> Result<Completion, Refused> {
        // A commit that was a lie is made good now.
        if self.mistake == Mistake::CommitThatLies && self.inner().is_open() {
            self.inner().commit(now)?;
        }
        self.inner().begin(now)
    }

    fn commit(&mut self, now: Time) -> Result<Completion, Refused> {
        if self.mistake == Mistake::CommitThatLies && self.inner().is_open() {
            return Ok(Completion { done: now, status: Status::Done });
        }
        self.inner().commit(now)
    }

    fn abort(&mut self, now: Time) -> Result<Completion, Refused> {
        match self.mistake {
            Mistake::AbortThatCommits => self.inner().commit(now),
            _ => self.inner().abort(now),
        }
    }

    fn is_open(&self) -> bool {
        unreachable!("the crash simulator does not ask")
    }

    fn check(&self, _address: u64, _bytes: u64) -> Result<(), Refused> {
        Ok(())
    }
}
