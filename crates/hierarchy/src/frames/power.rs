//! Power losses and recovery.

use super::Memory;
use super::busy::{Busy, Why};
use super::cache::{Event, FrameCache};
use super::operation::{NONE, Operation, Purpose};
use nacre_kernel::event::{Barriers, Payload};
use nacre_kernel::{Random, Recovery, Time};
use nacre_media::persistence::drawn_units;

impl<M: Memory> FrameCache<M> {
    /// Handles a power loss. Volatile data is lost. In non-volatile memory, only data that was not completely
    /// written is lost.
    pub(super) fn lose_power(&mut self, at: Time, chance: &mut Random) {
        let in_progress: Vec<Busy> = self.busy.iter().map(|(_, busy)| busy.clone()).collect();
        for frame in &mut self.frames {
            frame.busy = NONE;
        }
        self.busy.clear();
        self.fetching = 0;
        self.lose_unreadable();
        let leaving = self.pages_leaving();
        if M::IS_VOLATILE {
            let expected = in_progress.iter().filter(|busy| busy.why == Why::Fetching).count();
            let held = (self.index.len() - expected) as u64;
            self.forgotten += held;
            self.bytes_lost += (u64::from(self.dirty_count) + leaving.len() as u64) * self.settings.page.0;
            self.counts.pages_power_failed += held;
            let all: Vec<u32> = self.used.oldest_first(0).collect();
            all.into_iter().for_each(|frame| self.vacate(frame));
        } else {
            in_progress.into_iter().for_each(|busy| self.interrupt(busy, at, chance));
        }
        self.arrivals.clear();
        self.agenda.clear();
        self.visits.clear();
        self.fetches.clear();
        self.operations.clear();
        self.changing = crate::map::Map::new();
        self.leaving.clear();
        self.on_their_way = 0;
        (self.writing, self.flushing) = (Barriers::new(), Barriers::new());
        self.without_frame.clear();
        self.memory.power_fail(at);
        self.backing.power_fail(at, chance);
        self.next = self.backing.next_event();
        if !M::IS_VOLATILE {
            // Pages being written back are still in the cache, and are written after power returns.
            for (key, data) in leaving {
                self.send_back(at, key, data, true);
            }
        }
    }

    /// Marks pages as lost if they were unreadable in their frames and were to be written back.
    fn lose_unreadable(&mut self) {
        let bad = self.operations.iter().filter(|(_, of)| of.purpose == Purpose::Back && !of.back.is_good);
        let bad: Vec<u64> = bad.map(|(_, of)| of.key).collect();
        self.counts.uncorrectable += bad.len() as u64;
        bad.into_iter().for_each(|key| self.lose(key));
    }

    /// Pages whose write-back has not reached the backing yet, with their data, in eviction order.
    fn pages_leaving(&self) -> Vec<(u64, Payload)> {
        let back =
            self.operations.iter().filter(|(_, of)| matches!(of.purpose, Purpose::Back | Purpose::Safe));
        // Data that was lost after this operation was created was newer.
        let is_newest = |of: &Operation| self.lost.get(&of.key).is_none_or(|&lost| lost <= of.serial);
        let mut back: Vec<_> = back.filter(|(_, of)| of.back.is_good && is_newest(of)).collect();
        back.sort_by_key(|(_, of)| of.serial);
        let mut pages: Vec<(u64, Payload)> = Vec::new();
        for (number, of) in back {
            // Only the latest version of a page is written back.
            if self.changing.get(of.key).is_none_or(|last| {
                last == u64::from(number) || self.operations[last as u32].purpose == Purpose::Trim
            }) {
                pages.retain(|(key, _)| *key != of.key);
                pages.push((of.key, of.data.clone()));
            }
        }
        pages
    }

    /// Interrupts a fetch into a frame, or a write to a frame.
    fn interrupt(&mut self, busy: Busy, at: Time, chance: &mut Random) {
        let Busy { why, frame, is_new, began, page, .. } = busy;
        match why {
            // The frame of a fetched page holds undefined data.
            Why::Fetching => self.vacate(frame),
            Why::Filling | Why::Placing => {
                self.counts.pages_power_failed += 1;
                self.vacate(frame);
            }
            Why::Writing if is_new => {
                self.counts.pages_power_failed += 1;
                self.vacate(frame);
            }
            Why::Writing if began < at => {
                if let Some(new) = page.bytes() {
                    self.memory.peek(frame, &mut self.page);
                    for unit in drawn_units(0..new.len() as u64, M::ATOMIC_UNIT, chance) {
                        let unit = unit.start as usize..unit.end as usize;
                        self.page[unit.clone()].copy_from_slice(&new[unit]);
                    }
                    let torn = self.page.clone();
                    self.memory.land(frame, &torn);
                }
                self.make_dirty(frame);
            }
            Why::Writing | Why::Merging => {}
        }
    }

    /// Marks cached copies as dirty if the backing lost data, so that they are written back on eviction.
    #[cold]
    fn keep_copies(&mut self) {
        let clean: Vec<u32> = self.used.oldest_first(0).filter(|&frame| !self.dirty.holds(frame)).collect();
        clean.into_iter().for_each(|frame| self.make_dirty(frame));
    }

    /// Recovers the backing. Write-backs resume when it is ready.
    pub(super) fn come_back(&mut self, at: Time) -> Recovery {
        let below = self.backing.recover(at);
        self.next = self.backing.next_event();
        if below.bytes_lost > 0 {
            self.keep_copies();
        }
        let done = at + self.memory.rebuild();
        let back: Vec<u32> = self.operations.iter().map(|(number, _)| number).collect();
        self.agenda.clear();
        for &number in &back {
            self.agenda.schedule(below.done.max(done), Event::Operation(number));
        }
        let own = Recovery {
            done,
            blocks_forgotten: std::mem::take(&mut self.forgotten),
            bytes_lost: std::mem::take(&mut self.bytes_lost),
            programs_repeated: back.len() as u64,
            ..Recovery::default()
        };
        let recovery = own.in_parallel_with(below);
        self.ready = recovery.done;
        recovery
    }
}
