//! The card: from a host's request to its rows and back.

use super::backup::Backup;
use super::channel::{First, Served};
use super::config::{Config, Written};
use super::memory::Memory;
use crate::host_interface::{HostInterface, Lap, Laps, Mark, Step};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Breakdown, ComponentId, Data, HostCounts, Ledger, Op, Pool, Random, Ranges, Recovery, Request,
    Stage, Time,
};
use nacre_media::persistence::{Landing, Linear};
use nacre_media::store::Store;
use std::ops::Range;

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
    pub(super) bytes: Linear<S>,
    pub(super) has_failed: bool,
    /// Bytes that could not be read back from the flash, until they are written again.
    pub(super) unreadable: Ranges,
    /// Parts of them that are being written: lost again where the power fails before that is done.
    #[state(varies)]
    rewritten: Vec<Rewritten>,
    /// Pages that could not, since the card was new.
    pub(super) lost_pages: u64,
    /// Since when it is ready.
    pub(super) ready: Time,
    /// When all rows that were written are closed.
    pub(super) closed: Time,
    /// When the last dump is over.
    pub(super) dumped: Time,
    /// What the last loss of power left to do and took away.
    pub(super) interrupted: Recovery,
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

/// Bytes that could not be read, until a write of them that is done at `done`.
#[derive(Clone, Copy, Debug, Value)]
struct Rewritten {
    first: u64,
    end: u64,
    done: Time,
}

/// A piece of a write, and when it landed.
#[derive(Clone, Copy, Debug)]
struct Piece {
    address: u64,
    pub(super) bytes: u64,
    begin: Time,
    end: Time,
}

/// How a request came to its last piece: what it took that was not waiting.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    pub(super) step: Step,
    medium: Time,
    /// Whether the interface notes the stages.
    is_noted: bool,
}

impl<S: Store> NvramCard<S> {
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        interface: Box<dyn HostInterface>,
        mut memory: Memory,
        backup: Backup,
        store: S,
    ) -> NvramCard<S> {
        memory.channels.iter_mut().for_each(|channel| channel.carries_bytes = S::CARRIES_BYTES);
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
            unreadable: Ranges::default(),
            rewritten: Vec::new(),
            lost_pages: 0,
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
    pub(super) fn begin(&mut self, now: Time, request: &Request, is_close: bool) -> Way {
        let is_noted = is_close && self.interface.laps().map(Laps::begin).is_some();
        let begun = self.interface.begin(now.max(self.ready), request);
        let processing = self.config.processing;
        if processing.is_zero() || !self.interface.has_commands() {
            return Way { step: begun, medium: Time::ZERO, is_noted };
        }
        let done = self.processors.reserve(begun.there, processing) + processing;
        self.book.processors.charge(Activity::Software, processing);
        if is_noted && let Some(laps) = self.interface.laps() {
            laps.note(Stage::Controller, Activity::Software, done, processing);
        }
        let worked = Step { there: done, software: processing, ..Step::default() };
        Way { step: begun.then(worked), medium: Time::ZERO, is_noted }
    }

    /// All pieces of a read or write that is known since `begun`: the way of the one that is done last.
    #[inline]
    pub(super) fn serve(&mut self, begun: Way, request: &Request) -> Way {
        let piece = self.interface.piece();
        let is_write = request.op == Op::Write;
        let (mut address, end) = (request.address, request.address + u64::from(request.bytes));
        let mut last = begun;
        let is_noted = begun.is_noted;
        let (fork, mut way) = (self.mark(is_noted), self.mark(is_noted));
        while address < end {
            let bytes = (piece - address % piece).min(end - address);
            self.go_on_from(is_noted, fork);
            let brought = self.interface.bring(begun.step.there, request.op, bytes);
            let served = self.memory.serve(brought.there, address, bytes, is_write);
            let done = match self.config.written {
                Written::Closed if is_write => served.closed,
                _ => served.done,
            };
            if is_noted && let Some(laps) = self.interface.laps() {
                laps.add(&stages(&served, done, is_write));
            }
            let answered = self.interface.answer(done, request.op, bytes);
            if answered.there >= last.step.there {
                way = self.mark(is_noted);
                let medium = (served.alone + (done - served.done)).min(done - brought.there);
                last = Way { step: begun.step.then(brought).then(answered), medium, is_noted };
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
        self.go_on_from(is_noted, way);
        last
    }

    /// Where the stages are that are noted.
    #[inline]
    fn mark(&mut self, is_noted: bool) -> Mark {
        if is_noted {
            self.interface.laps().map_or_else(Mark::default, |laps| laps.mark())
        } else {
            Mark::default()
        }
    }

    /// The stages that are noted next come behind `mark`.
    #[inline]
    fn go_on_from(&mut self, is_noted: bool, mark: Mark) {
        if is_noted && let Some(laps) = self.interface.laps() {
            laps.go_on_from(mark);
        }
    }

    /// The request has come so far: when the host knows, and where the time went.
    #[inline]
    pub(super) fn end(&mut self, now: Time, way: Way, op: Op, breakdown: &mut Breakdown) -> Time {
        let ended = self.interface.end(way.step.there, op);
        if way.is_noted
            && let Some(laps) = self.interface.laps()
        {
            laps.tell(self.id, now, ended.there, breakdown);
            return ended.there;
        }
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
    pub(super) fn carry(&mut self, request: &Request, mut data: Data<'_>, done: Time) {
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

    /// Whether what is asked for, and done at `done`, can be given; what is written can again.
    #[inline]
    pub(super) fn is_readable(&mut self, request: &Request, done: Time) -> bool {
        let range = request.address..request.address + u64::from(request.bytes);
        match request.op {
            Op::Read => self.unreadable.is_empty() || !self.unreadable.overlaps(&range),
            Op::Write | Op::Trim if !self.unreadable.is_empty() => {
                self.rewrite(range, request.op, done);
                true
            }
            Op::Write | Op::Trim | Op::Flush => true,
        }
    }

    /// Bytes of `range` that could not be read are replaced.
    fn rewrite(&mut self, range: Range<u64>, op: Op, done: Time) {
        let mut first = range.start;
        while op == Op::Write && first < range.end {
            let (was_lost, count) = self.unreadable.run(first, range.end);
            if was_lost {
                self.rewritten.push(Rewritten { first, end: first + count, done });
            }
            first += count;
        }
        self.unreadable.remove(range);
    }

    /// No loss of power comes before `to`.
    #[inline]
    pub(super) fn settle_rewritten(&mut self, to: Time) {
        if !self.rewritten.is_empty() {
            self.rewritten.retain(|write| write.done > to);
        }
    }

    /// The power fails at `at`: writes that are not done replace nothing.
    pub(super) fn lose_rewritten(&mut self, at: Time) {
        for Rewritten { first, end, .. } in self.rewritten.drain(..).filter(|write| write.done > at) {
            self.unreadable.insert(first..end);
        }
    }

    /// Pages that cannot be read back after a dump which saved what comes before page `end`; gives the bytes that are lost
    /// with them, but for those that were not saved.
    pub(super) fn misread(&mut self, end: u64, chance: &mut Random) -> u64 {
        let shift = self.backup.plan().page_shift;
        let mut lost = 0;
        for page in self.backup.misread(chance) {
            let range = page << shift..(page + 1) << shift;
            let was_saved = page < end || !self.backup.is_changed(page);
            if was_saved {
                lost += self.unreadable.gaps(range.clone()).map(|gap| gap.end - gap.start).sum::<u64>();
            }
            self.unreadable.insert(range);
            self.lost_pages += 1;
        }
        lost
    }

    /// Copies what differs between memory and flash: to the flash before page `end`, back from it after.
    pub(super) fn copy_pages(&mut self, at: Time, end: u64) {
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

/// The stages of a piece in the memory, which is done with it at `done`.
fn stages(served: &Served, done: Time, is_write: bool) -> [Lap; 7] {
    let First { precharge, activation, latency, moving, .. } = served.first;
    let activity = if is_write { Activity::Write } else { Activity::Read };
    let lap = |stage, end, alone| Lap { stage, activity, end, alone };
    [
        lap(Stage::Scheduler, served.first.entered, Time::ZERO),
        lap(Stage::Refresh, served.first.refreshed, Time::ZERO),
        lap(Stage::Precharge, served.first.precharged, precharge),
        lap(Stage::Activate, served.first.opened, activation),
        lap(Stage::Column, served.first.begun, latency),
        lap(Stage::DataBus, served.done, moving),
        lap(Stage::RowClose, done, done - served.done),
    ]
}
