//! Errors planted into a device, to show that the suites find them.

use nacre_kernel::event::{
    Agenda, Completions, Device, Endurance, Payload, Preconditioning, RequestId, Slab, Zones,
};
use nacre_kernel::state::{self, State, StateError, StateReader, StateWriter, Value};
use nacre_kernel::{
    Bytes, Capabilities, Completion, ComponentReport, Op, Persistence, Random, Recovery, Refused, Request,
    Status, Time, Transactions, Wear,
};
use std::cell::RefCell;

/// An error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mistake {
    /// A write is acknowledged when it arrives.
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

/// A device that makes one error.
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
    /// What the device below is asked, by its number there; none if nobody waits for the answer.
    asked: Slab<Option<Asked>>,
    /// What is answered, and the device below does not know.
    early: Agenda<RequestId>,
    completions: Completions,
}

/// A request of the submitter.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Asked {
    id: RequestId,
    op: Op,
    /// Whether it fails for nothing.
    fails: bool,
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
            asked: Slab::new(),
            early: Agenda::new(),
            completions: Completions::new(),
        }
    }

    fn ask(&mut self, now: Time, asked: Option<Asked>, request: &Request, data: Payload) {
        let (number, entry) = self.asked.take();
        *entry = asked;
        self.inner.submit(now, RequestId(number), request, data);
    }

    /// What the device below completed, as far as somebody waits for it.
    fn pass_on(&mut self, completions: &mut Completions) {
        for index in 0..self.completions.len() {
            let (completed, spans) = self.completions.get(index);
            let (number, at, status) = (completed.id.0, completed.at, completed.status);
            if let Some(Asked { id, op, fails }) = self.asked[number] {
                let status = match self.mistake {
                    _ if fails => Status::MediaError,
                    Mistake::RefusalHidden if op == Op::Write => Status::Done,
                    _ => status,
                };
                completions.push_spans(id, at, status, spans).data = completed.data.clone();
            }
            self.asked.give_back(number);
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
        self.asked.save(into);
        self.early.save(into);
        into.put_bytes(&stale.unwrap_or(now));
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateError> {
        self.reads = from.u64("reads")?;
        (self.written, self.ready) = Value::read(from)?;
        self.asked.restore(from)?;
        self.early.restore(from)?;
        let bytes = from.bytes("the state of the device")?.to_vec();
        *self.before.borrow_mut() = Some(bytes.clone());
        state::restored(&mut *self.inner, &bytes)?;
        if self.mistake == Mistake::WearForgotten {
            self.forgets_wear = has_wear(&self.inner.report(Time::ZERO));
            if !self.forgets_wear {
                self.inner.restart_ledger(Time::ZERO);
            }
        }
        Ok(())
    }
}

impl Device for Planted {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        let mut asked = Asked { id, op: request.op, fails: false };
        let mut request = *request;
        match (self.mistake, request.op) {
            (Mistake::FlushThatLies, Op::Flush) => return self.early.schedule(now, id),
            (Mistake::AcknowledgedEarly, Op::Write) => {
                self.early.schedule(now, id);
                return self.ask(now, None, &request, data);
            }
            (Mistake::MappingOffByOne, Op::Read) => {
                self.reads += 1;
                let end = self.inner.capacity().map_or(u64::MAX, |capacity| capacity.0);
                if self.reads.is_multiple_of(11) && request.address + 2 * u64::from(request.bytes) <= end {
                    request.address += u64::from(request.bytes);
                }
            }
            (Mistake::FailsForNothing, Op::Read) => {
                self.reads += 1;
                asked.fails = self.reads.is_multiple_of(11);
            }
            (Mistake::RecoversOnce, Op::Write) => self.written = (request.address, request.bytes),
            _ => {}
        }
        self.ask(now, Some(asked), &request, data);
    }

    fn next_event(&self) -> Time {
        self.early.next().min(self.inner.next_event())
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        while completions.is_empty() {
            let early = self.early.next();
            self.completions.clear();
            self.inner.run(until.min(early), &mut self.completions);
            if !self.completions.is_empty() {
                self.pass_on(completions);
            } else if early >= until {
                return;
            } else {
                while self.early.next() == early
                    && let Some((at, id)) = self.early.pop_before(Time::MAX)
                {
                    completions.push_spans(id, at, Status::Done, &[]);
                }
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.inner.capacity()
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

    fn restart_ledger(&mut self, now: Time) {
        self.inner.restart_ledger(now);
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
        self.asked.clear();
        self.early.clear();
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
                    self.ask(at, None, &request, vec![0; bytes as usize].into());
                }
            }
            _ => {}
        }
        recovery
    }

    fn prefetch(&self, requests: &[Request]) {
        self.inner.prefetch(requests);
    }

    fn zones(&self) -> Option<&dyn Zones> {
        self.inner.zones()
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

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        self.inner.preconditioning()
    }

    fn endurance(&mut self) -> Option<&mut dyn Endurance> {
        self.inner.endurance()
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
