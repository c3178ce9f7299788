//! A write-back cache of pages in frames of a memory that is written in place, before a slower device: what disk caches
//! in DRAM and in phase change memory have in common.
//!
//! A frame holds one page. The page used longest ago leaves; a dirty one is written back first. Pages
//! of which more than `dirty_limit` are dirty go back in the order in which they became so, and stay, clean.
//! At most [`WRITE_BACKS`] of them are on their way: then who needs the next one waits.

mod counts;
pub(crate) mod events;
mod power;
mod report;
mod requests;
mod writes;

use crate::recency::Recency;
use crate::replacement::index::Index;
use crate::unfinished::Unfinished;
use counts::Counts;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentId, ComponentReport, Data, Device,
    Endured, HostCounts, Op, Persistence, Random, Recovery, Request, Resource, Time, Transactions, Wear,
    Zone,
};
use prefetch_index::prefetch_index;
use std::collections::{BTreeMap, BTreeSet};

/// Pages that are on their way back at one time.
pub(crate) const WRITE_BACKS: usize = 32;

/// No page.
const NONE: u64 = u64::MAX;

/// A memory of frames.
pub(crate) trait Memory: State + Send {
    /// Whether a loss of power takes what it holds.
    const IS_VOLATILE: bool;
    /// Bytes that a loss of power leaves old or new.
    const ATOMIC_UNIT: u32;
    /// Its room.
    const KIND: &'static str;

    /// Whether it holds bytes.
    fn carries_bytes(&self) -> bool;

    /// Whether a code covers a frame: who writes a part of a page reads the rest of it first.
    fn has_code(&self) -> bool;

    /// Reads `frame` from `now` on; its bytes come to `into`, which is empty where there are none.
    fn read(&mut self, frame: u32, now: Time, into: &mut [u8]) -> Access;

    /// Writes `frame` from `now` on. Its bytes are there at once.
    fn write(&mut self, frame: u32, now: Time, bytes: &[u8]) -> Access {
        let access = self.begin_write(frame, now);
        self.land(frame, bytes);
        access
    }

    /// Begins to write `frame` at `now`: the time that takes.
    fn begin_write(&mut self, frame: u32, now: Time) -> Access;

    /// `frame` holds `bytes` from now on.
    fn land(&mut self, frame: u32, bytes: &[u8]);

    /// Looks a page up, from `now` on: when that is done.
    fn look_up(&mut self, now: Time) -> Time;

    /// A frame's bytes as they are, without taking time.
    fn peek(&self, frame: u32, into: &mut [u8]);

    fn forget_before(&mut self, to: Time);

    fn busy_until(&self) -> Time;

    /// The power fails at `at`: what was reserved and has not been done does not happen, and is charged to nothing.
    fn power_fail(&mut self, at: Time);

    fn restart_ledger(&mut self);

    /// What the memory says of itself, for its part of the report.
    fn report(&self, elapsed: Time) -> MemoryReport;

    fn check_invariants(&self);
}

/// A frame was read or written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// When the memory itself begins.
    pub(crate) begin: Time,
    pub(crate) done: Time,
    /// Of the time until then: waiting, the memory, the code.
    pub(crate) spans: [(Activity, Time); 3],
    /// Whether what was read is right.
    pub(crate) is_good: bool,
}

/// What a memory has to report.
#[derive(Debug)]
pub(crate) struct MemoryReport {
    pub(crate) resources: Vec<Resource>,
    pub(crate) is_energy_modelled: bool,
    pub(crate) idle_energy: Option<nacre_kernel::Energy>,
    pub(crate) counters: Vec<(&'static str, u64)>,
    pub(crate) cost: Option<f64>,
    pub(crate) area_mm2: Option<f64>,
    pub(crate) lifetime_days: Option<f64>,
    pub(crate) wear: Option<Wear>,
    pub(crate) columns: Vec<nacre_kernel::Column>,
}

/// A frame.
#[derive(Clone, Copy, Debug, Value)]
struct Frame {
    key: u64,
    /// When its page is at hand.
    arrives: Time,
}

/// The settings of a cache of frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Bytes of a page; a power of two.
    pub(crate) page: Bytes,
    pub(crate) frames: u32,
    /// Frames that may be dirty.
    pub(crate) dirty_frames: u32,
}

/// A cache of pages in frames.
#[derive(State)]
#[state(bound = "M: Memory")]
#[state(after = "Self::check_restored")]
pub(crate) struct FrameCache<M> {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    #[state(skip = "from the configuration")]
    shift: u32,
    #[state(skip = "from the configuration")]
    settings: Settings,
    memory: M,
    index: Index,
    #[state(varies)]
    frames: Vec<Frame>,
    /// Frames without a page.
    #[state(varies)]
    free: Vec<u32>,
    used: Recency,
    /// Dirty frames, by when they became so.
    dirty: Recency,
    dirty_count: u32,
    backing: Box<dyn Device>,
    #[state(skip = "from the configuration")]
    carries_bytes: bool,
    /// When the last pages that went back were there; the next one takes the place of the first.
    back: [Time; WRITE_BACKS],
    next_back: usize,
    /// When everything that went back was there.
    all_back: Time,
    unfinished: Unfinished,
    /// Pages that the backing does not have as they were written last, and that are lost where no frame has them.
    #[state(varies)]
    lost: BTreeSet<u64>,
    /// Whether one was lost that no flush has told yet.
    has_lost: bool,
    #[state(varies)]
    rescued: BTreeMap<u64, Vec<u8>>,
    forgotten: u64,
    bytes_lost: u64,
    counts: Counts,
    host: HostCounts,
    #[state(skip = "nothing is read from it")]
    fetched: Vec<u8>,
    #[state(skip = "nothing is read from it")]
    page: Vec<u8>,
    #[state(skip = "nothing is read from it")]
    scratch: Breakdown,
}

impl<M: Memory> FrameCache<M> {
    /// An empty cache.
    pub(crate) fn new(
        id: ComponentId,
        path: String,
        settings: Settings,
        memory: M,
        backing: Box<dyn Device>,
    ) -> FrameCache<M> {
        let frames = settings.frames as usize;
        let carries_bytes = memory.carries_bytes() && backing.capabilities().carries_bytes;
        let page = if carries_bytes { settings.page.0 as usize } else { 0 };
        FrameCache {
            id,
            path,
            shift: settings.page.0.trailing_zeros(),
            settings,
            memory,
            index: Index::new(frames),
            frames: Vec::new(),
            free: Vec::new(),
            used: Recency::new(frames, 1),
            dirty: Recency::new(frames, 1),
            dirty_count: 0,
            backing,
            carries_bytes,
            back: [Time::ZERO; WRITE_BACKS],
            next_back: 0,
            all_back: Time::ZERO,
            unfinished: Unfinished::default(),
            lost: BTreeSet::new(),
            has_lost: false,
            rescued: BTreeMap::new(),
            forgotten: 0,
            bytes_lost: 0,
            counts: Counts::default(),
            host: HostCounts::default(),
            fetched: Vec::new(),
            page: vec![0; page],
            scratch: Breakdown::new(),
        }
    }

    /// The frame of page `key`.
    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.index.find(key, |frame| self.frames[frame as usize].key == key).ok()
    }

    fn is_dirty(&self, frame: u32) -> bool {
        self.dirty.holds(frame)
    }

    /// `frame` has no page any more.
    fn vacate(&mut self, frame: u32) {
        self.index.vacate(self.frames[frame as usize].key, frame);
        self.frames[frame as usize].key = NONE;
        self.used.remove(frame);
        self.make_clean(frame);
        self.free.push(frame);
    }

    fn make_clean(&mut self, frame: u32) {
        if self.dirty.holds(frame) {
            self.dirty.remove(frame);
            self.dirty_count -= 1;
        }
    }

    fn trim(&mut self, request: &Request) {
        let (first, count) = request.blocks(self.settings.page.0);
        for key in first..first + count {
            // Only the cache has what is dirty, and it stays as it was: the backing has what was before.
            if let Some(frame) = self.find(key)
                && !self.is_dirty(frame)
            {
                self.counts.pages_trimmed += 1;
                self.vacate(frame);
            }
        }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let most = self.settings.frames as usize;
        let is_known = |&frame: &u32| (frame as usize) < self.frames.len();
        let slots = self.index.slots().all(|slot| is_known(&slot));
        match self.frames.len() <= most
            && self.free.iter().all(is_known)
            && slots
            && self.next_back < WRITE_BACKS
        {
            true => Ok(()),
            false => Err(format!("{} frames of {most}", self.frames.len())),
        }
    }
}

impl<M: Memory> Device for FrameCache<M> {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let start = self.memory.look_up(now);
        breakdown.add(self.id, Activity::Translate, start - now);
        self.host.record(request);
        match request.op {
            Op::Read => self.read(start, request, data, breakdown),
            Op::Write => self.write(start, request, &data, breakdown),
            Op::Trim => {
                self.trim(request);
                self.backing.submit(start, request, Data::None, breakdown)
            }
            Op::Flush => self.flush(start, request, breakdown),
        }
    }

    fn advance(&mut self, to: Time) {
        self.memory.forget_before(to);
        self.unfinished.settle(to);
        self.backing.advance(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        self.backing.capacity().map(|capacity| Bytes(capacity.0 >> self.shift << self.shift))
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        let own = Capabilities {
            carries_bytes: self.memory.carries_bytes(),
            persistence: if M::IS_VOLATILE { Persistence::OnFlush } else { Persistence::OnAcknowledgement },
            // Pages go back one by one.
            atomic_unit: M::ATOMIC_UNIT.min(self.settings.page.0 as u32),
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        };
        // What it holds back never reaches the device behind, whose wear would be that of other writes.
        Capabilities { wears_out_ahead: false, ..own.and(self.backing.capabilities()) }
    }

    fn busy_until(&self) -> Time {
        self.memory.busy_until().max(self.all_back).max(self.backing.busy_until())
    }

    fn restart_ledger(&mut self) {
        self.counts = Counts { held_before: self.index.len() as u64, ..Counts::default() };
        self.host = HostCounts::default();
        self.memory.restart_ledger();
        self.backing.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.memory.check_invariants();
        self.index.check_invariants();
        assert_eq!(self.index.len() + self.free.len(), self.frames.len(), "frames with and without a page");
        self.counts.check_pages(self.index.len() as u64);
        assert_eq!(self.used.oldest_first(0).count(), self.index.len(), "pages by use");
        assert_eq!(self.dirty.oldest_first(0).count(), self.dirty_count as usize, "dirty pages");
        for frame in self.used.oldest_first(0) {
            assert_eq!(self.find(self.frames[frame as usize].key), Some(frame), "the page of frame {frame}");
        }
        self.backing.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.come_back(at)
    }

    fn precondition(&mut self, requests: &[Request]) {
        self.backing.precondition(requests);
    }

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("it holds writes back, and says that it cannot")
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, requests: &[Request]) {
        requests.iter().for_each(|request| self.index.prefetch(request.address >> self.shift));
        for request in requests {
            let frame = self.index.glance(request.address >> self.shift);
            prefetch_index(&self.frames, frame as usize);
        }
        self.backing.prefetch(requests);
    }
}
