//! The cache with its frames, their content, and the operations in progress.

use super::busy::{Busy, Fetch, Waiter};
use super::counts::Counts;
use super::modes::Modes;
use super::operation::{NONE, Operation, Purpose};
use super::{Memory, NONE as NO_PAGE, Settings};
use crate::map::Map;
use crate::recency::Recency;
use crate::replacement::index::Index;
use crate::visits::Visits;
use nacre_kernel::event::{Agenda, Barriers, Completions, Device, Payload, RequestId, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, ComponentId, HostCounts, LossReport, Request, Span, Stage, Time};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// A frame: its page, and its index among the busy frames.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Frame {
    pub(super) key: u64,
    pub(super) busy: u32,
}

/// An event at a known time.
#[derive(Clone, Copy, Debug, Value)]
pub(super) enum Event {
    /// The encoding of a busy frame's page has ended.
    Encoded(u32),
    /// The memory has written the page of a busy frame, or has read the rest of this page.
    Frame(u32),
    /// One of the waits of an operation has ended.
    Operation(u32),
    /// The memory has copied a page for the controller, or moved one for wear leveling.
    Copied,
}

/// A request during look-up.
#[derive(Clone, Debug, Value)]
pub(super) struct Arrival {
    pub(super) begins: Time,
    /// Arrival time.
    pub(super) came: Time,
    pub(super) id: RequestId,
    pub(super) request: Request,
    pub(super) data: Payload,
}

/// A cache of pages in frames.
#[derive(State)]
#[state(bound = "M: Memory")]
#[state(after = "Self::complete_restored")]
pub(crate) struct FrameCache<M> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) shift: u32,
    #[state(skip = "from the configuration")]
    pub(super) settings: Settings,
    pub(super) memory: M,
    pub(super) index: Index,
    #[state(varies)]
    pub(super) frames: Vec<Frame>,
    /// Frames without a page.
    #[state(varies)]
    pub(super) free: Vec<u32>,
    pub(super) used: Recency,
    /// Dirty frames, in the order in which they became dirty.
    pub(super) dirty: Recency,
    pub(super) dirty_count: u32,
    pub(super) modes: Modes,
    pub(super) backing: Box<dyn Device>,
    /// Time of the next event of the backing.
    #[state(skip = "asked of the backing")]
    pub(super) next: Time,
    #[state(skip = "from the configuration")]
    pub(super) carries_bytes: bool,
    /// Whether every write-back is followed by a flush.
    #[state(skip = "from the configuration")]
    pub(super) flushes: bool,
    #[state(varies)]
    pub(super) arrivals: VecDeque<Arrival>,
    pub(super) agenda: Agenda<Event>,
    pub(super) visits: Visits,
    pub(super) busy: Slab<Busy>,
    /// Number of frames that are reserved for a fetch and hold no page yet.
    pub(super) fetching: u64,
    pub(super) fetches: Slab<Fetch>,
    pub(super) operations: Slab<Operation>,
    /// Latest write-back or trim in progress for each page.
    pub(super) changing: Map,
    /// Write-backs that wait for a slot.
    #[state(varies)]
    pub(super) leaving: VecDeque<u32>,
    /// Number of write-backs in progress.
    pub(super) on_their_way: u32,
    /// Host writes to a volatile memory that are in progress, and host flushes that wait for them. Each
    /// flush has its request number and the time since which it waits.
    pub(super) writing: Barriers<(u32, Time)>,
    /// Write-backs in progress, and host flushes that wait for them.
    pub(super) flushing: Barriers<(u32, Time)>,
    /// Request parts that wait because every frame is busy, in order of arrival.
    #[state(varies)]
    pub(super) without_frame: VecDeque<Waiter>,
    /// Whether a part from `without_frame` is being served. Such a part must not wait behind the parts that
    /// are still in `without_frame`.
    #[state(skip = "between events none is")]
    pub(super) is_their_turn: bool,
    /// Number of operations created so far.
    pub(super) serial: u64,
    /// Lost pages: neither the backing nor a frame has their current version. The value is the number of
    /// operations that were created before the loss.
    #[state(varies)]
    pub(super) lost: BTreeMap<u64, u64>,
    pub(super) report: LossReport,
    /// Time from which the cache is ready after a recovery.
    pub(super) ready: Time,
    pub(super) forgotten: u64,
    pub(super) bytes_lost: u64,
    pub(super) counts: Counts,
    pub(super) host: HostCounts,
    #[state(skip = "nothing is read from it")]
    pub(super) page: Vec<u8>,
    /// Completions of the backing.
    #[state(skip = "empty between events")]
    pub(super) completed: Completions,
}

impl<M: Memory> FrameCache<M> {
    /// Creates an empty cache.
    pub(crate) fn new(
        id: ComponentId,
        path: String,
        settings: Settings,
        memory: M,
        backing: Box<dyn Device>,
    ) -> FrameCache<M> {
        let frames = settings.frames as usize;
        let carries_bytes = memory.carries_bytes() && backing.capabilities().carries_bytes;
        let persistence = backing.capabilities().persistence;
        let page = if carries_bytes { settings.page.0 as usize } else { 0 };
        let modes = Modes::new(memory.mode_rules(), settings.frames);
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
            modes,
            next: backing.next_event(),
            flushes: !M::IS_VOLATILE && (persistence.needs_flush() || persistence.is_up_to_energy()),
            backing,
            carries_bytes,
            arrivals: VecDeque::new(),
            agenda: Agenda::new(),
            visits: Visits::new(id),
            busy: Slab::new(),
            fetching: 0,
            fetches: Slab::new(),
            operations: Slab::new(),
            changing: Map::new(),
            leaving: VecDeque::new(),
            on_their_way: 0,
            writing: Barriers::new(),
            flushing: Barriers::new(),
            without_frame: VecDeque::new(),
            is_their_turn: false,
            serial: 0,
            lost: BTreeMap::new(),
            report: LossReport::default(),
            ready: Time::ZERO,
            forgotten: 0,
            bytes_lost: 0,
            counts: Counts::default(),
            host: HostCounts::default(),
            page: vec![0; page],
            completed: Completions::new(),
        }
    }

    fn complete_restored(&mut self) -> Result<(), String> {
        self.next = self.backing.next_event();
        let most = self.settings.frames as usize;
        let is_known = |&frame: &u32| (frame as usize) < self.frames.len();
        let slots = self.index.slots().all(|slot| is_known(&slot));
        match self.frames.len() <= most && self.free.iter().all(is_known) && slots {
            true => Ok(()),
            false => Err(format!("{} frames of {most}", self.frames.len())),
        }
    }

    /// Frame of page `key`; `None` if the page is not cached.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        self.index.find(key, |frame| self.frames[frame as usize].key == key).ok()
    }

    /// Index of `frame` among the busy frames; `None` if it is not busy.
    #[inline]
    pub(super) fn busy_of(&self, frame: u32) -> Option<u32> {
        let busy = self.frames[frame as usize].busy;
        (busy != NONE).then_some(busy)
    }

    /// Removes the page of `frame`, which must not be busy.
    pub(super) fn vacate(&mut self, frame: u32) {
        debug_assert!(self.busy_of(frame).is_none(), "frame {frame} is busy");
        self.index.vacate(self.frames[frame as usize].key, frame);
        self.frames[frame as usize].key = NO_PAGE;
        self.used.remove(frame);
        self.make_clean(frame);
        self.leave_row(frame);
        self.memory.leaves();
        self.free.push(frame);
    }

    pub(super) fn make_clean(&mut self, frame: u32) {
        if self.dirty.holds(frame) {
            self.dirty.remove(frame);
            self.dirty_count -= 1;
        }
    }

    pub(super) fn make_dirty(&mut self, frame: u32) {
        if !self.dirty.holds(frame) {
            self.dirty.insert(0, frame);
            self.dirty_count += 1;
        }
    }

    /// Number of cached pages, excluding pages that are being fetched.
    pub(super) fn held(&self) -> u64 {
        self.index.len() as u64 - self.fetching
    }

    /// Takes a frame for the uncached page `key`. Returns the frame, and the write-back that must start
    /// before the frame is used. `None` if all frames are busy.
    pub(super) fn take_frame(&mut self, key: u64, now: Time) -> Option<(u32, u32)> {
        let mut behind = NONE;
        let frame = if let Some(frame) = self.free.pop() {
            frame
        } else if self.frames.len() < self.settings.frames as usize {
            self.frames.push(Frame { key, busy: NONE });
            self.frames.len() as u32 - 1
        } else {
            let mut by_use = self.used.oldest_first(0);
            let oldest = by_use.find(|&frame| self.busy_of(frame).is_none());
            drop(by_use);
            let oldest = oldest?;
            if self.dirty.holds(oldest) {
                let back = self.write_back(oldest, now);
                if !self.operations[back].back.is_under_way {
                    behind = back;
                }
            }
            self.counts.evictions += 1;
            self.vacate(oldest);
            self.free.pop().expect("a frame is free")
        };
        let vacancy = self.index.find(key, |frame| self.frames[frame as usize].key == key);
        self.index.occupy(vacancy.expect_err("a page is in the cache once"), frame);
        self.frames[frame as usize] = Frame { key, busy: NONE };
        self.used.insert(0, frame);
        self.modes.enters(frame);
        Some((frame, behind))
    }

    /// The part of page `key` that request `visit` covers: its byte range within the page, and its byte range
    /// within the request.
    #[inline]
    pub(super) fn part(&self, key: u64, visit: u32) -> (Range<usize>, Range<usize>) {
        let request = self.visits.request(visit);
        let start = key << self.shift;
        let from = request.address.max(start);
        let end = (request.address + u64::from(request.bytes)).min(start + self.settings.page.0);
        let within = |base: u64| (from - base) as usize..(end - base) as usize;
        (within(start), within(request.address))
    }

    /// Creates a span of the cache.
    #[inline]
    pub(super) fn span(&self, activity: Activity, time: Time) -> Span {
        Span { component: self.id, activity, stage: Stage::Untold, time }
    }

    /// Creates spans of the cache. Spans of zero length are omitted.
    #[inline]
    pub(super) fn spans_of(&self, spans: [(Activity, Time); 3]) -> Spans {
        let none = self.span(Activity::Queue, Time::ZERO);
        let mut told = Spans { spans: [none; 3], count: 0 };
        for (activity, time) in spans {
            told.spans[told.count] = Span { activity, time, ..told.spans[told.count] };
            told.count += usize::from(!time.is_zero());
        }
        told
    }

    /// Records that the current data of page `key` is lost, because only the cache had it.
    #[cold]
    pub(super) fn lose(&mut self, key: u64) {
        self.counts.lost_pages += 1;
        self.lost.insert(key, self.serial);
        self.report.lose();
    }

    /// Whether page `key`, which is in no frame, is lost. It is not lost if a newer version is being written
    /// back.
    #[cold]
    pub(super) fn is_lost(&self, key: u64) -> bool {
        let Some(&since) = self.lost.get(&key) else { return false };
        let on = self.changing.get(key).map(|on| &self.operations[on as u32]);
        let is_back = |of: &Operation| matches!(of.purpose, Purpose::Back | Purpose::Safe) && of.back.is_good;
        !on.is_some_and(|of| is_back(of) && of.serial >= since)
    }

    /// Handles uncorrectable data of page `key` in `frame`, which must not be busy. Returns whether the page
    /// is lost.
    #[cold]
    pub(super) fn misread(&mut self, now: Time, frame: u32, key: u64) -> bool {
        self.counts.uncorrectable += 1;
        self.counts.pages_given_up += 1;
        let is_lost = self.dirty.holds(frame) || self.lost.contains_key(&key);
        let remedy = if self.memory.is_at_limit(frame) { self.remedy(frame) } else { None };
        self.vacate(frame);
        self.adapt_empty(now, frame, remedy);
        if is_lost {
            self.lose(key);
        }
        is_lost
    }
}

/// Up to three spans of the cache.
pub(super) struct Spans {
    spans: [Span; 3],
    count: usize,
}

impl std::ops::Deref for Spans {
    type Target = [Span];

    #[inline]
    fn deref(&self) -> &[Span] {
        &self.spans[..self.count]
    }
}

/// Total time of all spans.
#[inline]
pub(super) fn total(spans: &[Span]) -> Time {
    spans.iter().fold(Time::ZERO, |sum, span| sum + span.time)
}
