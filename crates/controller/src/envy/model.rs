//! The device: one controller that serves the host and performs flash work when idle.

use super::array::{Array, Programs};
use super::background::{Background, Pace, Until};
use super::config::Config;
use super::geometry::Geometry;
use super::history::History;
use super::page_table::Location;
use super::translation::Translation;
use super::visit::{Service, Visit};
use super::write_buffer::{Slot, SlotState, WriteBuffer};
use crate::cleaning::Cleaner;
use nacre_kernel::state::State;
use nacre_kernel::{Activity, ComponentId, HostCounts, Ledger, Recovery, Request, Time};
use nacre_media::store::Store;
use std::collections::VecDeque;

/// The eNVy device: flash as main memory.
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
    /// Requests in arrival order. The first request is in service.
    #[state(varies)]
    pub(super) visits: VecDeque<Visit>,
    pub(super) service: Service,
    /// Time at which the controller finished the latest request, or will be ready after a power loss.
    pub(super) free_at: Time,
    /// Time up to which background work was simulated or suspended.
    pub(super) worked_until: Time,
    pub(super) counters: Counters,
    /// State of a slot that the host may modify without copying the page: dirty, or written by the open
    /// transaction.
    pub(super) writable: SlotState,
    /// Whether power is off.
    pub(super) has_failed: bool,
    pub(super) interrupted: Recovery,
    #[state(skip = "from the configuration")]
    pub(super) page_shift: u32,
}

/// Counters since measurement started.
#[derive(State)]
pub(super) struct Counters {
    pub(super) start: Time,
    pub(super) ledger: Ledger,
    pub(super) host: HostCounts,
    /// Numbers of words read and written.
    pub(super) accesses: [u64; 2],
    pub(super) copies_on_write: u64,
    pub(super) forced_drains: u64,
    /// Numbers of programs before the start of measurement.
    pub(super) programs_before: Programs,
    /// Number of erases before the start of measurement.
    pub(super) erases_before: u64,
    pub(super) history: History,
}

impl<S: Store> Envy<S> {
    /// A device with its initial data, before any request.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        geometry: Geometry,
        store: S,
        cleaner: Box<dyn Cleaner>,
    ) -> Envy<S> {
        let pace = Pace {
            program: config.program_of_page(),
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
            visits: VecDeque::new(),
            service: Service::default(),
            free_at: Time::ZERO,
            worked_until: Time::ZERO,
            counters: Counters::new(Time::ZERO, Programs::default(), 0),
            writable: SlotState::Dirty,
            has_failed: false,
            interrupted: Recovery::default(),
            page_shift: geometry.page_bytes.trailing_zeros(),
            id,
            path,
            config,
            array,
        };
        envy.start_book(Time::ZERO);
        envy
    }

    /// Advances background work to `now` without requests. Programs and erases resume after an idle period.
    #[inline]
    pub(super) fn work_until(&mut self, now: Time) {
        if now > self.worked_until && self.background.has_work(&self.buffer) {
            let resumed = self.worked_until.max(self.free_at + self.config.resume_after);
            self.counters.ledger.charge(Activity::Suspend, resumed.min(now) - self.worked_until);
            if now > resumed {
                self.work(resumed, now, Until::TimeIsUp);
            }
        }
        self.worked_until = self.worked_until.max(now);
    }

    /// Runs programs and erases from `from` to `to`, or until `until` is met. Returns the time used.
    pub(super) fn work(&mut self, from: Time, to: Time, until: Until) -> Time {
        let clock = self.background.clock;
        let time = self.background.run(&mut self.array, &mut self.buffer, to - from, until);
        for (end, cleanings) in self.background.take_cleanings_done() {
            self.counters.history.record(from + (end - clock), cleanings);
        }
        time
    }

    /// Copies the data of the page at `old` into `slot`, before the host modifies the copy.
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

    /// Moves page `lpn` into a free slot of the write buffer.
    #[inline]
    pub(super) fn copy_on_write(&mut self, lpn: u32) {
        self.counters.copies_on_write += 1;
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
                // Slots whose pages are being programmed into flash cannot be used.
                Location::Buffer(slot) => self.buffer.set_state(slot, SlotState::Superseded),
            }
        }
        self.array.table.set(lpn, Location::Buffer(slot));
    }

    /// Discards the pages that the request covers completely.
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

    /// Starts measurement at `now`.
    pub(super) fn start_book(&mut self, now: Time) {
        self.counters = Counters::new(now, self.array.programs, self.array.flash.erases());
        self.background.ledger = Ledger::default();
        self.background.take_cleanings_done();
        self.translation.restart_counts();
    }
}

impl Counters {
    fn new(start: Time, programs_before: Programs, erases_before: u64) -> Counters {
        Counters {
            start,
            ledger: Ledger::default(),
            host: HostCounts::default(),
            accesses: [0; 2],
            copies_on_write: 0,
            forced_drains: 0,
            programs_before,
            erases_before,
            history: History::new(),
        }
    }
}

impl<S: Store> Envy<S> {
    /// Writes page `lpn`, and drains pages above the threshold. Simulated time does not advance.
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
