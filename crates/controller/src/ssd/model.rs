//! The device: what a request does to the array, and what it waits for.

use super::array::Array;
use super::book::Book;
use super::config::Config;
use super::flash_ops::Untimed;
use super::history::History;
use super::host::HostInterface;
use super::mapping_cache::Lookup;
use super::outage::Outage;
use super::pace::Pace;
use super::schedule::Schedule;
use super::versions::Versions;
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Breakdown, Completion, ComponentId, Data, Op, Request, Status, Time};
use nacre_media::store::Store;
use prefetch_index::prefetch_index;

/// A page-mapped SSD.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(super) struct Ssd<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    pub(super) array: Array<S>,
    pub(super) schedule: Schedule,
    pub(super) interface: HostInterface,
    pub(super) book: Book,
    pub(super) history: History,
    /// When the drive could be written no more, and how many bytes it had taken in by then.
    #[state(varies)]
    pub(super) end_of_life: Option<(Time, u64)>,
    /// Units whose newest bytes may not be on the flash yet; none where there are no bytes.
    pub(super) versions: Versions,
    pub(super) outage: Outage,
    /// Its part of a whole drive, where it is a share of one.
    #[state(skip = "from the configuration")]
    pub(super) share: Option<f64>,
    /// Whether reads of the host simply go first, and nothing is cleaned while it is quiet.
    #[state(skip = "from the configuration")]
    pub(super) is_plain: bool,
    /// When the last request that came was done.
    pub(super) quiet_from: Time,
    /// The bytes of a unit, while it is written.
    #[state(skip = "of no meaning between two requests")]
    pub(super) page: Vec<u8>,
}

impl<S: Store> Ssd<S> {
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        array: Array<S>,
        interface: HostInterface,
    ) -> Ssd<S> {
        Ssd {
            id,
            path,
            schedule: Schedule::new(array.geometry, &config, S::CARRIES_BYTES),
            interface,
            book: Book::default(),
            history: History::new(u64::from(array.geometry.units_per_superblock)),
            end_of_life: None,
            share: None,
            versions: Versions::default(),
            is_plain: config.idle_cleaning.is_none()
                && config.errors.is_none()
                && Pace::of(&config, &array.geometry).is_plain,
            outage: Outage::default(),
            quiet_from: Time::ZERO,
            page: vec![0; array.flash.store().page_bytes()],
            array,
            config,
        }
    }

    /// Does what `request` asks for; `PLAIN` is that of the schedule's pace.
    #[inline(always)]
    pub(super) fn serve<const PLAIN: bool>(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        match request.op {
            Op::Read => {
                if !PLAIN && self.schedule.errors.0.is_some() {
                    return self.read_and_give_decoded(now, request, data, breakdown);
                }
                let completion = self.read::<PLAIN>(now, request, breakdown);
                self.give(request.address, data);
                completion
            }
            Op::Write => self.write(now, request, &data, breakdown),
            Op::Trim => self.trim(now, request, breakdown),
            Op::Flush => self.flush(now, request, breakdown),
        }
    }

    /// Looks up where `unit` is. A page of the mapping table that is not cached is read first, and one that
    /// was changed and leaves for it is programmed. Gives when the mapping is known.
    #[inline(always)]
    pub(super) fn translate(&mut self, at: Time, unit: u32, changes: bool, is_timed: bool) -> Time {
        if self.array.mapping.is_none() { at } else { self.look_up(at, unit, changes, is_timed) }
    }

    #[inline(never)]
    fn look_up(&mut self, at: Time, unit: u32, changes: bool, is_timed: bool) -> Time {
        let mapping = self.array.mapping.as_mut().expect("the mapping is in flash");
        let page = unit / self.array.geometry.mappings_per_unit;
        self.book.lookups += 1;
        match mapping.look_up(page, changes) {
            Lookup::Hit => at,
            Lookup::Miss { programmed } => self.miss(at, page, programmed, is_timed),
        }
    }

    fn miss(&mut self, at: Time, page: u32, programmed: Option<u32>, is_timed: bool) -> Time {
        self.book.misses += 1;
        let entry = self.array.table[(self.array.geometry.logical_units + page) as usize];
        let mut known = at;
        if is_timed && entry != 0 && !self.array.is_held(entry - 1) {
            let (superblock, operation) = self.array.locate(entry - 1);
            let spot = self.array.spot(superblock, operation);
            let planes = self.planes_of(self.array.geometry.logical_units + page, 1);
            known = self.schedule.fetch((at, at), (spot, planes), 1, Activity::Translate).done;
            self.schedule.count_read(Activity::Translate, 1);
        }
        if let Some(leaving) = programmed {
            if is_timed {
                self.array.write_mapping(leaving, &mut self.schedule.from(at, at));
            } else {
                self.array.write_mapping(leaving, &mut Untimed);
            }
        }
        known
    }

    /// Writes the bytes of `request` into the buffer.
    #[inline(never)]
    pub(super) fn write(
        &mut self,
        now: Time,
        request: &Request,
        data: &Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let (first, last) = self.array.geometry.units_of(request);
        self.array.handles.choose(request.volume);
        let at = self.interface.enter(now, request, u64::from(last - first) + 1, breakdown);
        let unit_bytes = u64::from(self.array.geometry.unit_bytes);
        let (mut known, mut buffered) = (at, at);
        let mut status = Status::Done;
        for unit in first..=last {
            if self.array.is_worn_out {
                status = self.refuse(at);
                break;
            }
            let begin = u64::from(unit) * unit_bytes;
            let is_whole =
                request.address <= begin && begin + unit_bytes <= request.address + u64::from(request.bytes);
            if !is_whole {
                self.read_rest(at, unit);
            }
            known = known.max(self.translate(at, unit, true, true));
            buffered = buffered.max(self.schedule.filling_from);
            let turn = (at, known.max(buffered));
            if !self.put(turn, unit, request.address, data) {
                status = self.refuse(at);
                break;
            }
            if is_whole {
                self.replace(unit);
            }
        }
        breakdown.add(self.id, Activity::Translate, known - at);
        breakdown.add(self.id, Activity::Queue, buffered.saturating_sub(known));
        let done = self.interface.leave(known.max(buffered), breakdown);
        if S::CARRIES_BYTES {
            self.versions.acknowledge(done);
        }
        self.history.note(at, &self.array.programs);
        Completion { done, status }
    }

    #[cold]
    pub(super) fn refuse(&mut self, at: Time) -> Status {
        self.book.refused_writes += 1;
        let bytes = self.array.programs.host * u64::from(self.array.geometry.unit_bytes);
        self.end_of_life.get_or_insert((at, bytes));
        Status::WriteRefused
    }

    /// Units that lie wholly in the request hold nothing any more.
    pub(super) fn trim(&mut self, now: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let (first, last) = self.array.geometry.units_of(request);
        let at = self.interface.enter(now, request, u64::from(last - first) + 1, breakdown);
        let unit_bytes = u64::from(self.array.geometry.unit_bytes);
        let first = request.address.div_ceil(unit_bytes);
        let end = (request.address + u64::from(request.bytes)) / unit_bytes;
        let mut done = at;
        for unit in first..end.max(first) {
            if self.array.table[unit as usize] != 0 {
                done = done.max(self.translate(at, unit as u32, true, true));
                self.array.trim(unit as u32);
                self.replace(unit as u32);
                self.book.trimmed += 1;
                if S::CARRIES_BYTES {
                    self.versions.trim(unit as u32, at);
                }
            }
        }
        breakdown.add(self.id, Activity::Translate, done - at);
        let done = self.interface.leave(done, breakdown);
        Completion { done, status: Status::Done }
    }

    /// Everything in the buffer is programmed, where it would not survive a power failure. A drive that is worn out
    /// programs no more: what it still holds makes the flush fail.
    pub(super) fn flush(&mut self, now: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let (first, last) = self.array.geometry.units_of(request);
        let at = self.interface.enter(now, request, u64::from(last - first) + 1, breakdown);
        let (mut done, mut status) = (at, Status::Done);
        if !self.config.power_protected {
            let begin = at.max(self.schedule.filling_from);
            if !self.array.is_worn_out {
                self.array.flush(&mut self.schedule.from(at, begin));
            }
            done = at.max(self.schedule.programmed(at));
            status = self.flushed(done);
        }
        breakdown.add(self.id, Activity::Drain, done - at);
        let done = self.interface.leave(done, breakdown);
        Completion { done, status }
    }

    /// A flush is answered at `done`: what was written survives from then on, unless the drive still holds it or lost it.
    fn flushed(&mut self, done: Time) -> Status {
        if self.array.is_worn_out && self.array.held_operations() > 0 {
            return Status::WriteRefused;
        }
        if S::CARRIES_BYTES {
            self.versions.flush(done, &mut self.schedule);
        }
        match self.schedule.errors.0.as_mut().is_some_and(|errors| errors.tell_loss()) {
            // What was lost was not saved.
            true => Status::MediaError,
            false => Status::Done,
        }
    }

    /// Asks for what `requests` will need of the mapping, all at once, and then for the bits of what they replace,
    /// which is known only when the mapping has been read.
    #[inline]
    pub(super) fn prefetch_entries(&self, requests: &[Request]) {
        let unit = |request: &Request| (request.address >> self.array.geometry.unit_shift) as usize;
        requests.iter().for_each(|request| prefetch_index(&self.array.table, unit(request)));
        for request in requests.iter().filter(|request| request.op == Op::Write) {
            let entry = self.array.table.get(unit(request)).copied().unwrap_or(0);
            prefetch_index(&self.array.live, entry.saturating_sub(1) as usize / 64);
        }
    }
}
