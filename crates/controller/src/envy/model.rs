//! The device: one controller that serves the host, word by word, and works in the flash when it is quiet.

use super::array::{Array, Programs};
use super::background::{Background, Pace, SPENT, Until};
use super::config::Config;
use super::geometry::Geometry;
use super::history::History;
use super::page_table::Location;
use super::translation::Translation;
use super::write_buffer::{Slot, SlotState, WriteBuffer};
use crate::cleaning::Cleaner;
use nacre_kernel::state::State;
use nacre_kernel::{
    Activity, Breakdown, ComponentId, Data, HostCounts, Ledger, Op, Operations, Recovery, Request, Time,
    UnderWay,
};
use nacre_media::persistence::{Pending, Write};
use nacre_media::store::Store;

/// Flash as main memory.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(super) struct Envy<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    pub(super) array: Array<S>,
    pub(super) buffer: WriteBuffer,
    pub(super) background: Background,
    pub(super) translation: Translation,
    /// When the controller has served the host.
    pub(super) free_at: Time,
    /// Up to when the flash has been worked in, or stood still for the host.
    pub(super) worked_until: Time,
    pub(super) book: Book,
    /// The state of slots that the host may change as they are: dirty ones, or in a transaction its own.
    pub(super) writable: SlotState,
    /// Whether the power is off, and what that interrupted.
    pub(super) has_failed: bool,
    pub(super) interrupted: Recovery,
    /// Writes whose time may not have come yet; only where bytes are carried.
    pub(super) pending: Pending<Write>,
    /// Of the controller, and of the flash while the host waits for it.
    pub(super) under_way: UnderWay,
    pub(super) flash_under_way: UnderWay,
    #[state(skip = "from the configuration")]
    pub(super) page_shift: u32,
}

/// What was done since measuring began.
#[derive(State)]
pub(super) struct Book {
    pub(super) start: Time,
    pub(super) ledger: Ledger,
    pub(super) host: HostCounts,
    /// Words read and written.
    pub(super) accesses: [u64; 2],
    /// Of these words, and of programs and erases in the order of [`SPENT`], those that a loss of power cancelled.
    pub(super) accesses_cancelled: [u64; 2],
    pub(super) flash_cancelled: [u64; 4],
    pub(super) copies_on_write: u64,
    pub(super) forced_drains: u64,
    /// Programs and erases before.
    pub(super) programs_before: Programs,
    pub(super) erases_before: u64,
    pub(super) history: History,
}

/// Where one request is: its time so far and the breakdown that tells of it.
pub(super) struct Visit<'a> {
    pub(super) at: Time,
    pub(super) breakdown: &'a mut Breakdown,
}

/// The part of a request that lies in one page.
pub(super) struct Piece {
    /// Its first byte.
    pub(super) address: u64,
    /// When the controller begins with it, and when it is done.
    pub(super) begin: Time,
    pub(super) end: Time,
    /// Where a write puts it.
    pub(super) location: Location,
}

impl<S: Store> Envy<S> {
    /// A device with its data laid out, that has done nothing yet.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        geometry: Geometry,
        store: S,
        cleaner: Box<dyn Cleaner>,
    ) -> Envy<S> {
        let pace = Pace {
            program: config.program_erase.program,
            erase: config.program_erase.erase,
            concurrency: config.concurrency as usize,
            threshold: (f64::from(config.buffer_pages()) * config.threshold.0) as u32,
            wear_swap_gap: config.wear_swap_gap,
        };
        let slot_bytes = if S::CARRIES_BYTES { geometry.page_bytes as usize } else { 0 };
        let mut array = Array::new(geometry, store, cleaner);
        if !S::CARRIES_BYTES {
            let preload =
                config.preload.map_or(geometry.logical_pages, |bytes| bytes.0.div_ceil(config.page.0));
            array.lay_out(preload);
        }
        let mut envy = Envy {
            buffer: WriteBuffer::new(config.buffer_pages(), slot_bytes),
            background: Background::new(pace),
            translation: Translation::new(config.mmu_entries),
            free_at: Time::ZERO,
            worked_until: Time::ZERO,
            book: Book::new(Time::ZERO, Programs::default(), 0),
            writable: SlotState::Dirty,
            has_failed: false,
            interrupted: Recovery::default(),
            pending: Pending::default(),
            under_way: UnderWay::default(),
            flash_under_way: UnderWay::default(),
            page_shift: geometry.page_bytes.trailing_zeros(),
            id,
            path,
            config,
            array,
        };
        envy.start_book(Time::ZERO);
        envy
    }

    /// The controller is free for a request that comes at `now`; until then the flash is worked in.
    #[inline]
    pub(super) fn meet(&mut self, now: Time, breakdown: &mut Breakdown) -> Time {
        if now <= self.free_at {
            breakdown.add(self.id, Activity::Queue, self.free_at - now);
            return self.free_at;
        }
        self.work_until(now);
        let has_resumed = now > self.free_at + self.config.resume_after;
        if self.config.suspend.is_zero() || !has_resumed || !self.background.is_running() {
            return now;
        }
        breakdown.add(self.id, Activity::Suspend, self.config.suspend);
        self.book.ledger.charge(Activity::Suspend, self.config.suspend);
        if S::CARRIES_BYTES {
            let end = now + self.config.suspend;
            self.under_way.add(Activity::Suspend, now, end, Operations::default());
        }
        now + self.config.suspend
    }

    /// Nobody asks until `now`: programs and erases go on when it has been quiet for a while.
    #[inline]
    pub(super) fn work_until(&mut self, now: Time) {
        if now > self.worked_until && self.background.has_work(&self.buffer) {
            let resumed = self.worked_until.max(self.free_at + self.config.resume_after);
            self.book.ledger.charge(Activity::Suspend, resumed.min(now) - self.worked_until);
            if now > resumed {
                self.background.run(&mut self.array, &mut self.buffer, now - resumed, Until::TimeIsUp);
                self.note_cleanings(now);
            }
        }
        self.worked_until = self.worked_until.max(now);
    }

    fn note_cleanings(&mut self, now: Time) {
        let cleanings = self.background.take_cleanings_done();
        if cleanings.count > 0 {
            self.book.history.record(now, cleanings);
        }
    }

    /// The new version in `slot` begins with the bytes of the old one.
    #[inline]
    fn copy_bytes(&mut self, old: Location, slot: u32) {
        if S::CARRIES_BYTES {
            match old {
                Location::Nowhere => self.buffer.bytes_mut(slot).fill(0),
                Location::Flash(page) => self.array.flash.read(page, 0, self.buffer.bytes_mut(slot)),
                Location::Buffer(before) => self.buffer.copy_bytes(before, slot),
            }
        }
    }

    /// Serves the part of a read or write that lies in page `lpn`, so many words.
    #[inline]
    pub(super) fn access(&mut self, visit: &mut Visit<'_>, op: Op, lpn: u32, words: u64) -> Location {
        if !self.translation.look_up(lpn) {
            self.spend(visit, Activity::Translate, self.config.page_table_access);
        }
        let time = Time::from_ps(self.config.access.as_ps() * words);
        self.book.accesses[usize::from(op == Op::Write)] += words;
        if op == Op::Read {
            self.spend(visit, Activity::Read, time);
            return Location::Nowhere;
        }
        let location = self.array.table.get(lpn);
        let location = match location {
            Location::Buffer(slot) if self.buffer.slot(slot).state == self.writable => location,
            _ => {
                self.make_room(visit);
                // Making room may have moved the page.
                let location = self.copy_on_write(lpn);
                self.spend(visit, Activity::CopyOnWrite, self.config.copy_on_write);
                location
            }
        };
        self.spend(visit, Activity::Write, time);
        location
    }

    #[inline]
    pub(super) fn spend(&mut self, visit: &mut Visit<'_>, activity: Activity, time: Time) {
        if S::CARRIES_BYTES {
            self.under_way.add(activity, visit.at, visit.at + time, Operations::default());
        }
        visit.at += time;
        visit.breakdown.add(self.id, activity, time);
        self.book.ledger.charge(activity, time);
    }

    /// The buffer is full: the host waits until a page was drained.
    #[inline]
    fn make_room(&mut self, visit: &mut Visit<'_>) {
        if self.buffer.count(SlotState::Free) == 0 {
            self.force_drain(visit);
        }
    }

    #[inline(never)]
    fn force_drain(&mut self, visit: &mut Visit<'_>) {
        self.book.forced_drains += 1;
        self.spend(visit, Activity::Suspend, self.config.resume_after);
        let forever = Time::MAX.saturating_sub(visit.at);
        let before = self.flash_work();
        let time = self.background.run(&mut self.array, &mut self.buffer, forever, Until::SlotIsFree);
        if S::CARRIES_BYTES {
            self.note_flash_work(before, visit.at, time);
        }
        if self.buffer.count(SlotState::Free) == 0 {
            // Nothing is left to be drained: a transaction holds the rest, and what was released stands behind it.
            self.buffer.collect_all_released();
        }
        assert!(self.buffer.count(SlotState::Free) > 0, "draining a full buffer frees a slot");
        for (activity, spent) in SPENT.into_iter().zip(self.background.spent) {
            visit.breakdown.add(self.id, activity, spent);
        }
        visit.at += time;
        self.note_cleanings(visit.at);
    }

    /// Page `lpn` moves into the write buffer; there is a free slot.
    #[inline]
    pub(super) fn copy_on_write(&mut self, lpn: u32) -> Location {
        self.book.copies_on_write += 1;
        let old = self.array.table.get(lpn);
        let partition = match old {
            Location::Flash(page) => self.array.origin_of(page),
            Location::Buffer(slot) => self.buffer.slot(slot).partition,
            Location::Nowhere => self.array.home_of(lpn),
        };
        let slot = self.buffer.fill(Slot { lpn, partition, state: self.writable });
        self.copy_bytes(old, slot);
        if self.writable == SlotState::Uncommitted {
            self.keep_shadow(lpn, old);
        } else {
            match old {
                Location::Nowhere => {}
                Location::Flash(page) => self.array.invalidate(page),
                // What is on its way into flash comes too late.
                Location::Buffer(slot) => self.buffer.set_state(slot, SlotState::Superseded),
            }
        }
        let new = Location::Buffer(slot);
        self.array.table.set(lpn, new);
        new
    }

    /// Serves a read or write from its first byte to its last.
    #[inline]
    pub(super) fn serve(&mut self, visit: &mut Visit<'_>, request: &Request, mut data: Data<'_>) {
        let page_bytes = 1_u64 << self.page_shift;
        let (mut address, mut left) = (request.address, u64::from(request.bytes));
        while left > 0 {
            let offset = address & (page_bytes - 1);
            let count = left.min(page_bytes - offset);
            let words = count.div_ceil(self.config.word.0);
            let lpn = (address >> self.page_shift) as u32;
            let begin = visit.at;
            let location = self.access(visit, request.op, lpn, words);
            if S::CARRIES_BYTES {
                let first = (address - request.address) as usize;
                let piece = Piece { address, begin, end: visit.at, location };
                self.carry(&piece, data.part(first..first + count as usize));
            }
            address += count;
            left -= count;
        }
    }

    /// Pages that lie wholly in the request hold nothing any more.
    pub(super) fn trim(&mut self, request: &Request) {
        let page_bytes = 1_u64 << self.page_shift;
        let first = request.address.div_ceil(page_bytes);
        let end = (request.address + u64::from(request.bytes)) / page_bytes;
        for lpn in first..end.max(first) {
            let lpn = lpn as u32;
            match self.array.table.get(lpn) {
                Location::Nowhere => continue,
                Location::Flash(page) => self.array.invalidate(page),
                Location::Buffer(slot) => {
                    if self.buffer.slot(slot).state == SlotState::Dirty {
                        self.buffer.release(slot);
                    } else {
                        self.buffer.set_state(slot, SlotState::Superseded);
                    }
                }
            }
            self.array.table.set(lpn, Location::Nowhere);
        }
    }

    pub(super) fn start_book(&mut self, now: Time) {
        self.book = Book::new(now, self.array.programs, self.array.flash.erases());
        self.background.ledger = Ledger::default();
        self.under_way.clear();
        self.flash_under_way.clear();
        self.background.take_cleanings_done();
        self.translation.restart_counts();
    }
}

impl Book {
    fn new(start: Time, programs_before: Programs, erases_before: u64) -> Book {
        Book {
            start,
            ledger: Ledger::default(),
            host: HostCounts::default(),
            accesses: [0; 2],
            accesses_cancelled: [0; 2],
            flash_cancelled: [0; 4],
            copies_on_write: 0,
            forced_drains: 0,
            programs_before,
            erases_before,
            history: History::new(),
        }
    }
}

impl<S: Store> Envy<S> {
    /// Writes page `lpn` and drains what is above the threshold, in no time.
    #[inline]
    pub(super) fn precondition_page(&mut self, lpn: u32) {
        if let Location::Buffer(slot) = self.array.table.get(lpn)
            && self.buffer.slot(slot).state == SlotState::Dirty
        {
            return;
        }
        if self.buffer.count(SlotState::Free) == 0 {
            self.background.run(&mut self.array, &mut self.buffer, Time::MAX, Until::SlotIsFree);
        }
        self.copy_on_write(lpn);
        self.background.run(&mut self.array, &mut self.buffer, Time::MAX, Until::BelowThreshold);
    }
}
