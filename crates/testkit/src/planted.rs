//! Bugs that are planted into a device to show that the test suites find them.

use nacre_kernel::event::{
    Agenda, Completions, Device, Endurance, Payload, Preconditioning, RequestId, Slab, ZoneCommands, Zones,
};
use nacre_kernel::state::{self, State, StateError, StateReader, StateWriter, Value};
use nacre_kernel::{
    Bytes, Capabilities, Completion, ComponentReport, Op, Persistence, Random, Recovery, Refused, Request,
    Status, Time, Transactions, Wear, ZoneCommand,
};
use std::cell::RefCell;

/// A bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bug {
    /// A write is acknowledged at its arrival.
    AcknowledgedEarly,
    /// A flush completes without reaching the device.
    FlushIgnored,
    /// The device reports an atomic unit of 4 KiB.
    AtomicUnitOverstated,
    /// A save returns the state of the previous save.
    RestoresOldState,
    /// Every eleventh read returns the data of the next block.
    MappingOffByOne,
    /// A restored device has lost its counts of programs and erases, or its counters if it does not wear. A
    /// comparison of the reports before and after the restart reveals this bug.
    WearForgotten,
    /// Recovery reports no lost bytes.
    LossHidden,
    /// Recovery does not report pages that an interrupted program operation damaged.
    DamageHidden,
    /// The device reports that every write is durable as soon as it is acknowledged.
    PersistenceOverstated,
    /// A write that the worn-out medium rejected is acknowledged.
    RefusalHidden,
    /// An aborted transaction is committed.
    AbortCommits,
    /// A commit completes, but the transaction stays open.
    CommitIgnored,
    /// A recovery never ends.
    NeverReady,
    /// After an interrupted recovery, the next recovery overwrites the last write with zeros.
    SecondRecoveryZeroes,
    /// Every eleventh read fails although no data is lost.
    SpuriousError,
}

impl Bug {
    /// All bugs.
    pub const ALL: [Bug; 15] = [
        Bug::AcknowledgedEarly,
        Bug::FlushIgnored,
        Bug::AtomicUnitOverstated,
        Bug::RestoresOldState,
        Bug::MappingOffByOne,
        Bug::WearForgotten,
        Bug::LossHidden,
        Bug::DamageHidden,
        Bug::PersistenceOverstated,
        Bug::RefusalHidden,
        Bug::AbortCommits,
        Bug::CommitIgnored,
        Bug::NeverReady,
        Bug::SecondRecoveryZeroes,
        Bug::SpuriousError,
    ];
}

/// A device with one planted bug.
pub struct Planted {
    inner: Box<dyn Device>,
    bug: Bug,
    reads: u64,
    before: RefCell<Option<Vec<u8>>>,
    /// Address and size in bytes of the last write.
    written: (u64, u32),
    /// End of the most recent recovery, which may be in progress.
    ready: Time,
    /// Whether the device was restored and reports the wear of a new device.
    forgets_wear: bool,
    /// Requests to the inner device, indexed by their identifier in the inner device. `None` for a request
    /// whose submitter does not wait for its completion.
    forwarded: Slab<Option<Forwarded>>,
    /// Requests that complete without reaching the inner device.
    early: Agenda<RequestId>,
    completions: Completions,
}

/// A request that was forwarded to the inner device.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Forwarded {
    id: RequestId,
    op: Op,
    /// Whether the request fails although no data is lost.
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
    /// Plants `bug` in `inner`.
    pub fn new(inner: Box<dyn Device>, bug: Bug) -> Planted {
        Planted {
            inner,
            bug,
            reads: 0,
            before: RefCell::new(None),
            written: (0, 0),
            ready: Time::ZERO,
            forgets_wear: false,
            forwarded: Slab::new(),
            early: Agenda::new(),
            completions: Completions::new(),
        }
    }

    fn forward(&mut self, now: Time, forwarded: Option<Forwarded>, request: &Request, data: Payload) {
        let (number, entry) = self.forwarded.take();
        *entry = forwarded;
        self.inner.submit(now, RequestId(number), request, data);
    }

    fn give(
        &mut self,
        now: Time,
        forwarded: Option<Forwarded>,
        given: (ZoneCommand, &Request),
        data: Payload,
    ) {
        let (number, entry) = self.forwarded.take();
        *entry = forwarded;
        let zones = self.inner.zone_commands().expect("only a device with zones gets zone commands");
        zones.command(now, RequestId(number), given.0, given.1, data);
    }

    /// Passes completions of the inner device to the submitter if the submitter waits for them.
    fn pass_on(&mut self, completions: &mut Completions) {
        for index in 0..self.completions.len() {
            let (completed, spans) = self.completions.get(index);
            let (number, at, status) = (completed.id.0, completed.at, completed.status);
            if let Some(Forwarded { id, op, fails }) = self.forwarded[number] {
                let status = match self.bug {
                    _ if fails => Status::MediaError,
                    Bug::RefusalHidden if op == Op::Write => Status::Done,
                    _ => status,
                };
                let passed = completions.push_spans(id, at, status, spans);
                (passed.data, passed.zone) = (completed.data.clone(), completed.zone.clone());
            }
            self.forwarded.give_back(number);
        }
    }
}

impl State for Planted {
    fn save(&self, into: &mut StateWriter) {
        let now = state::saved(&*self.inner).expect("it can be saved");
        let before = self.before.replace(Some(now.clone()));
        let stale = before.filter(|_| self.bug == Bug::RestoresOldState);
        into.put_u64(self.reads);
        (self.written, self.ready).save(into);
        self.forwarded.save(into);
        self.early.save(into);
        into.put_bytes(&stale.unwrap_or(now));
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateError> {
        self.reads = from.u64("reads")?;
        (self.written, self.ready) = Value::read(from)?;
        self.forwarded.restore(from)?;
        self.early.restore(from)?;
        let bytes = from.bytes("the state of the device")?.to_vec();
        *self.before.borrow_mut() = Some(bytes.clone());
        state::restored(&mut *self.inner, &bytes)?;
        if self.bug == Bug::WearForgotten {
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
        let mut forwarded = Forwarded { id, op: request.op, fails: false };
        let mut request = *request;
        match (self.bug, request.op) {
            (Bug::FlushIgnored, Op::Flush) => return self.early.schedule(now, id),
            (Bug::AcknowledgedEarly, Op::Write) => {
                self.early.schedule(now, id);
                return self.forward(now, None, &request, data);
            }
            (Bug::MappingOffByOne, Op::Read) => {
                self.reads += 1;
                let end = self.inner.capacity().map_or(u64::MAX, |capacity| capacity.0);
                if self.reads.is_multiple_of(11) && request.address + 2 * u64::from(request.bytes) <= end {
                    request.address += u64::from(request.bytes);
                }
            }
            (Bug::SpuriousError, Op::Read) => {
                self.reads += 1;
                forwarded.fails = self.reads.is_multiple_of(11);
            }
            (Bug::SecondRecoveryZeroes, Op::Write) => self.written = (request.address, request.bytes),
            _ => {}
        }
        self.forward(now, Some(forwarded), &request, data);
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
        match self.bug {
            Bug::AtomicUnitOverstated => Capabilities { atomic_unit: 4096, ..inner },
            Bug::PersistenceOverstated => {
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
        self.forwarded.clear();
        self.early.clear();
        self.inner.power_fail(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        let mut recovery = self.inner.recover(at);
        match self.bug {
            Bug::LossHidden => recovery.bytes_lost = 0,
            Bug::DamageHidden if recovery.pages_damaged > 0 => {
                (recovery.pages_damaged, recovery.bytes_lost) = (0, 0);
            }
            Bug::NeverReady => recovery.done += Time::from_s(100_000),
            Bug::SecondRecoveryZeroes => {
                let was_under_way = at < self.ready && self.written.1 > 0;
                self.ready = recovery.done;
                if was_under_way {
                    let (address, bytes) = self.written;
                    let request = Request { arrival: at, address, bytes, volume: 0, op: Op::Write };
                    self.forward(at, None, &request, vec![0; bytes as usize].into());
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

    fn zone_commands(&mut self) -> Option<&mut dyn ZoneCommands> {
        match self.inner.zone_commands() {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        match self.bug {
            Bug::AbortCommits | Bug::CommitIgnored => {
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

impl ZoneCommands for Planted {
    fn command(&mut self, now: Time, id: RequestId, command: ZoneCommand, request: &Request, data: Payload) {
        let is_append = command == ZoneCommand::Append;
        if is_append && self.bug == Bug::AcknowledgedEarly {
            self.early.schedule(now, id);
            return self.give(now, None, (command, request), data);
        }
        let forwarded = Forwarded { id, op: request.op, fails: false };
        self.give(now, Some(forwarded), (command, request), data);
    }
}

impl Planted {
    fn inner(&mut self) -> &mut dyn Transactions {
        self.inner.transactions().expect("the device has transactions")
    }
}

impl Transactions for Planted {
    fn begin(&mut self, now: Time) -> Result<Completion, Refused> {
        // A commit that was ignored is performed here.
        if self.bug == Bug::CommitIgnored && self.inner().is_open() {
            self.inner().commit(now)?;
        }
        self.inner().begin(now)
    }

    fn commit(&mut self, now: Time) -> Result<Completion, Refused> {
        if self.bug == Bug::CommitIgnored && self.inner().is_open() {
            return Ok(Completion { done: now, status: Status::Done });
        }
        self.inner().commit(now)
    }

    fn abort(&mut self, now: Time) -> Result<Completion, Refused> {
        match self.bug {
            Bug::AbortCommits => self.inner().commit(now),
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
