//! Service of requests, one at a time and word by word. Every wait is an event.

use super::background::{SPENT, Until};
use super::model::Envy;
use super::page_table::Location;
use super::visit::{Phase, Service, TOLD, Visit};
use super::write_buffer::SlotState;
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Status, Time};
use nacre_media::store::Store;

impl<S: Store> Envy<S> {
    /// Receives a request at `now`.
    #[inline]
    pub(super) fn accept(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.check_power();
        self.counters.host.record(request);
        let data = if S::CARRIES_BYTES && request.op == Op::Write { data } else { Payload::NONE };
        self.visits.push_back(Visit { id, arrived: now, request: *request, data });
        if self.visits.len() == 1 {
            self.begin(now);
        }
    }

    /// Starts to serve the first request at `now`, or as soon as the controller is ready.
    #[inline]
    fn begin(&mut self, now: Time) {
        let start = now.max(self.free_at);
        self.service = Service::default();
        self.service.spend(Activity::Queue, start - self.visits[0].arrived);
        let mut suspended = Time::ZERO;
        if now > self.free_at {
            self.work_until(now);
            let has_resumed = now > self.free_at + self.config.resume_after;
            if has_resumed && self.background.is_running() {
                suspended = self.config.suspend;
            }
        }
        self.enter(Phase::Waits, Activity::Suspend, start, suspended);
    }

    /// Starts `phase` at `at`, and charges `time` to `activity` of the controller and to the request.
    #[inline]
    fn enter(&mut self, phase: Phase, activity: Activity, at: Time, time: Time) {
        (self.service.phase, self.service.begin, self.service.end) = (phase, at, at + time);
        self.service.spend(activity, time);
        self.counters.ledger.charge(activity, time);
    }

    /// End time of the current phase, or `Time::MAX` if no request is in service.
    #[inline]
    pub(super) fn next(&self) -> Time {
        if self.service.is_idle() { Time::MAX } else { self.service.end }
    }

    /// Handles the event that is due at [`Envy::next`]. Pages that finish before `until` are drained
    /// immediately.
    #[inline]
    pub(super) fn step(&mut self, until: Time, completions: &mut Completions) {
        let at = self.service.end;
        match self.service.phase {
            Phase::Idle => unreachable!("no request is served"),
            Phase::Waits => self.next_part(at, completions),
            Phase::Translates => self.translated(at),
            Phase::Full => {
                (self.service.phase, self.service.begin, self.worked_until) = (Phase::Drains, at, at);
                self.drain_until(at);
            }
            Phase::Drains if self.buffer.count(SlotState::Free) > 0 => {
                self.enter(Phase::Copies, Activity::CopyOnWrite, at, self.config.copy_of_page());
            }
            Phase::Drains => self.drain_until(until.saturating_sub(Time::from_ps(1))),
            Phase::Copies => {
                // Cleaning may have moved the page since the last look-up.
                let lpn = self.page_of(self.part().0);
                self.copy_on_write(lpn);
                self.access(at);
            }
            Phase::Accesses => {
                let (address, bytes) = self.part();
                self.write_words(address, bytes);
                self.service.served += bytes;
                self.next_part(at, completions);
            }
        }
    }

    /// Address and number of bytes of the next part of the first request. A part is within one page.
    #[inline]
    pub(super) fn part(&self) -> (u64, u64) {
        let (request, page_bytes) = (&self.visits[0].request, 1 << self.page_shift);
        let address = request.address + self.service.served;
        let left = u64::from(request.bytes) - self.service.served;
        (address, left.min(page_bytes - (address & (page_bytes - 1))))
    }

    #[inline]
    fn page_of(&self, address: u64) -> u32 {
        (address >> self.page_shift) as u32
    }

    /// Starts the next part of the request, or completes it.
    #[inline]
    fn next_part(&mut self, at: Time, completions: &mut Completions) {
        let Request { op, bytes, .. } = self.visits[0].request;
        if !matches!(op, Op::Read | Op::Write) || self.service.served == u64::from(bytes) {
            return self.complete(at, completions);
        }
        let lpn = self.page_of(self.part().0);
        if self.translation.look_up(lpn) {
            self.translated(at);
        } else {
            self.enter(Phase::Translates, Activity::Translate, at, self.config.page_table_access);
        }
    }

    /// Handles the end of a page table look-up. A page can be written only in the write buffer.
    #[inline]
    fn translated(&mut self, at: Time) {
        let lpn = self.page_of(self.part().0);
        let is_writable = match self.array.table.get(lpn) {
            Location::Buffer(slot) => self.buffer.slot(slot).state == self.writable,
            _ => false,
        };
        if self.visits[0].request.op == Op::Read || is_writable {
            self.access(at);
        } else if self.buffer.count(SlotState::Free) > 0 {
            self.enter(Phase::Copies, Activity::CopyOnWrite, at, self.config.copy_of_page());
        } else {
            self.counters.forced_drains += 1;
            self.enter(Phase::Full, Activity::Suspend, at, self.config.resume_after);
        }
    }

    /// Runs programs and erases up to `until`, or until a slot is free.
    #[cold]
    fn drain_until(&mut self, until: Time) {
        let from = self.worked_until;
        let time = self.work(from, until, Until::SlotIsFree);
        self.worked_until += time;
        for (activity, spent) in SPENT.into_iter().zip(self.background.spent) {
            self.service.spend(activity, spent);
        }
        if self.buffer.count(SlotState::Free) == 0 && !self.background.is_running() {
            // Nothing is left to drain. A transaction owns the other slots, and released slots follow these
            // slots in the queue.
            self.buffer.collect_all_released();
            assert!(self.buffer.count(SlotState::Free) > 0, "draining a full buffer frees a slot");
        }
        self.service.end = match self.buffer.count(SlotState::Free) {
            0 => self.worked_until + self.background.next_in().expect("it is running"),
            _ => self.worked_until,
        };
    }

    /// Starts to read or write the words of one page.
    #[inline]
    fn access(&mut self, at: Time) {
        let (op, words) = (self.visits[0].request.op, self.part().1.div_ceil(self.config.word.0));
        self.counters.accesses[usize::from(op == Op::Write)] += words;
        let activity = if op == Op::Write { Activity::Write } else { Activity::Read };
        self.enter(Phase::Accesses, activity, at, Time::from_ps(self.config.access.as_ps() * words));
    }

    #[inline]
    fn complete(&mut self, at: Time, completions: &mut Completions) {
        let Visit { id, request, .. } = self.visits.pop_front().expect("it was served");
        if request.op == Op::Trim {
            assert!(self.writable == SlotState::Dirty, "a transaction has no trims");
            self.trim(&request);
        }
        let spent = self.service.spent;
        let spans: [(Activity, Time); TOLD.len()] = std::array::from_fn(|told| (TOLD[told], spent[told]));
        let completed = completions.push(id, at, Status::Done, self.id, spans);
        if S::CARRIES_BYTES && request.op == Op::Read {
            completed.data = self.read_newest(request.address, request.bytes as usize);
        }
        (self.free_at, self.worked_until) = (at, at);
        self.service.phase = Phase::Idle;
        if !self.visits.is_empty() {
            self.begin(at);
        }
    }

    /// Handles a power loss at `at`. The remainder of the current phase is not charged, and only the words
    /// written so far are stored.
    pub(super) fn cut_service(&mut self, at: Time) {
        let Service { phase, begin, end, .. } = self.service;
        let left = end.saturating_sub(at.max(begin));
        let activity = match phase {
            Phase::Idle | Phase::Drains => None,
            Phase::Waits | Phase::Full => Some(Activity::Suspend),
            Phase::Translates => Some(Activity::Translate),
            Phase::Copies => Some(Activity::CopyOnWrite),
            Phase::Accesses => Some(self.cut_words(at - begin, left)),
        };
        if let Some(activity) = activity {
            self.counters.ledger.give_back(activity, left);
        }
        self.service = Service::default();
        self.visits.clear();
    }

    /// Counts only the words that were read or written before a power loss, and stores the written words.
    /// `time` is the duration of the phase, and `left` is the remaining part. Returns the activity of the
    /// phase.
    fn cut_words(&mut self, time: Time, left: Time) -> Activity {
        let (address, bytes) = self.part();
        let access = self.config.access.as_ps().max(1);
        let is_write = self.visits[0].request.op == Op::Write;
        let count = &mut self.counters.accesses[usize::from(is_write)];
        *count = count.saturating_sub(left.as_ps() / access);
        if !is_write {
            return Activity::Read;
        }
        let word = self.config.word.0;
        let reached = address + (time.as_ps() / access * word).min(bytes);
        let whole = if reached == address + bytes { reached } else { reached / word * word };
        self.write_words(address, whole.saturating_sub(address));
        Activity::Write
    }
}
