//! The card: from a host's request to its rows and back.

use super::backup::Backup;
use super::config::{Config, Written};
use super::memory::Memory;
use super::report;
use crate::host_interface::{HostInterface, Step};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentId, ComponentReport, Data, Device,
    Endured, HostCounts, Ledger, Op, Persistence, Pool, Random, Recovery, Request, Status, Time,
    Transactions,
};
use nacre_media::persistence::{Landing, Linear};
use nacre_media::store::Store;

/// An NVRAM card over its bytes.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct NvramCard<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    #[state(same)]
    pub(super) capacity: u64,
    pub(super) interface: Box<dyn HostInterface>,
    pub(super) processors: Pool,
    pub(super) memory: Memory,
    pub(super) backup: Backup,
    /// Host addresses, and after them, where a dump may not save everything, what the flash holds.
    bytes: Linear<S>,
    has_failed: bool,
    /// Since when it is ready.
    ready: Time,
    /// When all rows that were written are closed.
    closed: Time,
    /// When the last dump is over.
    dumped: Time,
    /// What the last loss of power left to do and took away.
    interrupted: Recovery,
    /// Pieces of the write that is being served, where bytes are carried.
    #[state(skip = "of no meaning between two requests")]
    pieces: Vec<Piece>,
    pub(super) book: Book,
}

/// What was done since measuring began.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Book {
    pub(super) host: HostCounts,
    pub(super) processors: Ledger,
}

/// A piece of a write, and when it landed.
#[derive(Clone, Copy, Debug)]
struct Piece {
    address: u64,
    bytes: u64,
    begin: Time,
    end: Time,
}

/// How a request came to its last piece: what it took that was not waiting.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    step: Step,
    medium: Time,
}

impl<S: Store> NvramCard<S> {
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        interface: Box<dyn HostInterface>,
        memory: Memory,
        backup: Backup,
        store: S,
    ) -> NvramCard<S> {
        NvramCard {
            id,
            path,
            capacity: config.capacity(),
            interface,
            processors: Pool::new(config.processors),
            memory,
            backup,
            bytes: Linear::new(store, config.burst_bytes() as u32),
            has_failed: false,
            ready: Time::ZERO,
            closed: Time::ZERO,
            dumped: Time::ZERO,
            interrupted: Recovery::default(),
            pieces: Vec::new(),
            book: Book::default(),
            config,
        }
    }

    /// The host's request is on its way, and a processor of the card has worked on it.
    #[inline]
    fn begin(&mut self, now: Time, request: &Request) -> Way {
        let begun = self.interface.begin(now.max(self.ready), request);
        let processing = self.config.processing;
        if processing.is_zero() || !self.interface.has_commands() {
            return Way { step: begun, medium: Time::ZERO };
        }
        let done = self.processors.reserve(begun.there, processing) + processing;
        self.book.processors.charge(Activity::Software, processing);
        let worked = Step { there: done, software: processing, ..Step::default() };
        Way { step: begun.then(worked), medium: Time::ZERO }
    }

    /// All pieces of a read or write that is known since `begun`: the way of the one that is done last.
    #[inline]
    fn serve(&mut self, begun: Way, request: &Request) -> Way {
        let piece = self.interface.piece();
        let is_write = request.op == Op::Write;
        let (mut address, end) = (request.address, request.address + u64::from(request.bytes));
        let mut last = begun;
        while address < end {
            let bytes = (piece - address % piece).min(end - address);
            let brought = self.interface.bring(begun.step.there, request.op, bytes);
            let served = self.memory.serve(brought.there, address, bytes, is_write);
            let done = match self.config.written {
                Written::Closed if is_write => served.closed,
                _ => served.done,
            };
            let answered = self.interface.answer(done, request.op, bytes);
            if answered.there >= last.step.there {
                let medium = (served.alone + (done - served.done)).min(done - brought.there);
                last = Way { step: begun.step.then(brought).then(answered), medium };
            }
            if is_write {
                self.closed = self.closed.max(served.closed);
                if S::CARRIES_BYTES {
                    let end = if self.config.volatile { served.done } else { served.closed };
                    self.pieces.push(Piece { address, bytes, begin: served.begun, end });
                }
            }
            address += bytes;
        }
        last
    }

    /// The request has come so far: when the host knows, and where the time went.
    #[inline]
    fn end(&mut self, now: Time, way: Way, op: Op, breakdown: &mut Breakdown) -> Time {
        let ended = self.interface.end(way.step.there, op);
        let step = way.step.then(ended);
        let medium = way.medium + step.device;
        let activity = if op == Op::Read { Activity::Read } else { Activity::Write };
        let queue = step.there - now - step.software - step.link - medium;
        breakdown.add_all(
            self.id,
            [
                (Activity::Software, step.software),
                (Activity::Queue, queue),
                (Activity::Link, step.link),
                (activity, medium),
            ],
        );
        step.there
    }

    /// The bytes of a read or write that is acknowledged at `done`.
    fn carry(&mut self, request: &Request, mut data: Data<'_>, done: Time) {
        if request.op == Op::Read {
            return self.bytes.read(request, data);
        }
        for Piece { address, bytes, begin, end } in self.pieces.drain(..) {
            let first = (address - request.address) as usize;
            let part = Request { address, bytes: bytes as u32, ..*request };
            let landing = Landing { begin, end, acknowledged: done };
            self.bytes.write(&part, &data.part(first..first + bytes as usize), landing);
        }
    }

    /// Copies what differs between memory and flash: to the flash before page `end`, back from it after.
    fn copy_pages(&mut self, at: Time, end: u64) {
        let plan = *self.backup.plan();
        let page_bytes = 1_u64 << plan.page_shift;
        let mut bytes = vec![0; page_bytes as usize];
        for page in (0..plan.pages).filter(|&page| self.backup.is_changed(page)) {
            let in_memory = page * page_bytes;
            let in_flash = self.capacity + in_memory;
            let (from, to) = if page < end { (in_memory, in_flash) } else { (in_flash, in_memory) };
            let whole =
                |op, address| Request { arrival: at, address, bytes: page_bytes as u32, volume: 0, op };
            self.bytes.read(&whole(Op::Read, from), Data::Read(&mut bytes));
            let landing = Landing { begin: at, end: at, acknowledged: at };
            self.bytes.write(&whole(Op::Write, to), &Data::Write(&bytes), landing);
            self.bytes.settle(at);
        }
    }
}

impl<S: Store> Device for NvramCard<S> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        assert!(!self.has_failed, "nothing may be asked of a device without power");
        self.book.host.record(request);
        let mut way = self.begin(now, request);
        match request.op {
            Op::Read | Op::Write => way = self.serve(way, request),
            Op::Trim => self.bytes.trim(request),
            // Volatile memory is saved as it is: only rows that are durable when they are closed are waited for.
            Op::Flush if !self.config.volatile => way.step.there = way.step.there.max(self.closed),
            Op::Flush => {}
        }
        if matches!(request.op, Op::Write | Op::Trim) {
            self.backup.change(request.address, u64::from(request.bytes));
        }
        let done = self.end(now, way, request.op, breakdown);
        if S::CARRIES_BYTES && matches!(request.op, Op::Read | Op::Write) {
            self.carry(request, data, done);
        }
        Completion { done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.interface.advance(to);
        self.processors.forget_before(to);
        self.bytes.settle(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(self.capacity))
    }

    fn capabilities(&self) -> Capabilities {
        let persistence = match (self.config.volatile, self.config.written) {
            (true, _) if self.backup.loses() => Persistence::WithStoredEnergy,
            (true, _) | (false, Written::Closed) => Persistence::OnAcknowledgement,
            (false, Written::InRow) => Persistence::OnFlush,
        };
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence,
            atomic_unit: self.config.burst_bytes() as u32,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            rated_endurance: false,
        }
    }

    fn busy_until(&self) -> Time {
        let memory = self.memory.channels.iter().map(|channel| channel.busy_until());
        let others = self.interface.busy_until().max(self.processors.free_from()).max(self.ready);
        memory.fold(others, Time::max)
    }

    fn restart_ledger(&mut self) {
        self.book = Book::default();
        self.interface.restart_ledger();
        self.memory.channels.iter_mut().for_each(|channel| channel.restart());
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.interface.check_invariants();
        self.processors.check_invariants();
        report::check_bursts(self);
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.has_failed = true;
        let mut lost = self.bytes.power_fail(at, chance).bytes_lost;
        // A dump that is still under way goes on.
        let at = at.max(self.dumped);
        let dumped = self.backup.dump(at);
        self.dumped = at + dumped.time;
        if S::CARRIES_BYTES && self.backup.loses() {
            self.copy_pages(at, dumped.end);
        }
        self.backup.dumped(at, &dumped);
        lost += dumped.lost << self.backup.plan().page_shift;
        self.interrupted = Recovery {
            done: self.dumped,
            programs_finished: dumped.saved,
            programs_lost: dumped.lost,
            bytes_lost: lost,
            ..Recovery::default()
        };
        self.interface.clear();
        self.processors = Pool::new(self.config.processors);
        self.closed = Time::ZERO;
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.has_failed = false;
        let mut recovery = std::mem::take(&mut self.interrupted);
        let start = at.max(recovery.done);
        let plan = self.backup.plan();
        let restored = start + self.config.boot + plan.loading();
        recovery.pages_scanned = if self.config.volatile { plan.pages } else { 0 };
        recovery.done = restored.max(self.backup.recharge(start));
        self.memory.channels.iter_mut().for_each(|channel| channel.clear(recovery.done));
        self.ready = recovery.done;
        recovery
    }

    fn precondition(&mut self, _requests: &[Request]) {}

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("it does not know what its memory is made for")
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, _requests: &[Request]) {}
}
