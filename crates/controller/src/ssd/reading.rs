//! Reads of the host: where a unit is, what reading it waits for, and where that time went.

use super::config::Unwritten;
use super::fetching::Fetch;
use super::geometry::Spot;
use super::host::Crossing;
use super::model::Ssd;
use nacre_kernel::{Activity, Breakdown, Completion, ComponentId, Request, Status, Time};
use nacre_media::store::Store;
use std::ops::Range;

/// Where a unit is.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// `u32::MAX` where it was never written.
    pub(super) superblock: u32,
    operation: u32,
    pub(super) spot: Spot,
    /// Whether the write buffer has it.
    pub(super) is_buffered: bool,
}

/// The part of a read that is done last, and where its time went.
pub(super) struct Last {
    pub(super) translated: Time,
    pub(super) fetch: Option<Fetch>,
    pub(super) done: Time,
}

impl Last {
    /// Adds to `breakdown` where the time went of a read that the drive began at `at`.
    #[inline(always)]
    pub(super) fn tell(&self, id: ComponentId, at: Time, crossing: &Crossing, breakdown: &mut Breakdown) {
        let link = [(Activity::Queue, crossing.waits), (Activity::Link, crossing.takes)];
        let Last { translated, fetch, .. } = *self;
        if let Some(Fetch { turn, sensed, transfer, done }) = fetch {
            let mut waits = turn.start - translated;
            // Apart, because there is hardly ever something of them.
            if translated != at || !turn.suspending.is_zero() {
                waits = waits - turn.suspending;
                breakdown.add_all(id, [(Activity::Translate, translated - at), (Activity::Queue, waits)]);
                waits = Time::ZERO;
                breakdown.add(id, Activity::Suspend, turn.suspending);
            }
            let spans = [
                (Activity::Queue, waits),
                (Activity::Read, sensed - turn.start),
                (Activity::Queue, transfer - sensed),
                (Activity::Transfer, done - transfer),
                link[0],
                link[1],
            ];
            breakdown.add_all(id, spans);
        } else {
            breakdown.add(id, Activity::Translate, translated - at);
            breakdown.add_all(id, link);
        }
        if !crossing.software.is_zero() {
            breakdown.add(id, Activity::Software, crossing.software);
        }
    }
}

impl<S: Store> Ssd<S> {
    /// Reads the units of `request`; `PLAIN` is that of the schedule's pace.
    #[inline(always)]
    pub(super) fn read<const PLAIN: bool>(
        &mut self,
        now: Time,
        request: &Request,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let (first, last) = self.array.geometry.units_of(request);
        let at = self.interface.enter(now, request, u64::from(last - first) + 1, breakdown);
        let read = match first == last {
            true => self.read_unit::<PLAIN>(at, first),
            false => {
                // Field by field, as in `Die::read`.
                let Last { translated, fetch, done } = self.read_units::<PLAIN>(at, first, last);
                Last { translated, fetch, done }
            }
        };
        let crossing = self.interface.answer(read.done, u64::from(request.bytes));
        read.tell(self.id, at, &crossing, breakdown);
        let done = self.interface.leave(crossing.there, breakdown);
        Completion { done, status: Status::Done }
    }

    #[inline(always)]
    fn read_unit<const PLAIN: bool>(&mut self, at: Time, unit: u32) -> Last {
        let translated = self.translate(at, unit, false, true);
        let found = self.find(unit, at);
        let fetch = self.fetch::<PLAIN>(at, translated, &found, (unit, 1));
        Last { translated, done: fetch.map_or(translated, |fetch| fetch.done), fetch }
    }

    /// Reads units from `first` to `last`; pages that hold several of them are read once.
    #[inline(never)]
    fn read_units<const PLAIN: bool>(&mut self, at: Time, first: u32, last: u32) -> Last {
        let mut slowest = Last { translated: at, fetch: None, done: at };
        let mut unit = first;
        while unit <= last {
            let translated = self.translate(at, unit, false, true);
            let found = self.find(unit, at);
            let mut units = 1;
            if !found.is_buffered {
                while unit + units <= last && self.is_beside(unit + units, &found) {
                    self.translate(at, unit + units, false, true);
                    units += 1;
                }
            }
            let fetch = self.fetch::<PLAIN>(at, translated, &found, (unit, units));
            let done = fetch.map_or(translated, |fetch| fetch.done);
            if done >= slowest.done {
                slowest = Last { translated, fetch, done };
            }
            unit += units;
        }
        slowest
    }

    /// The planes that so many units lie on from `unit` on, where planes read by themselves. What was never written lies where
    /// it would had the drive been filled in order.
    pub(super) fn planes_of(&self, unit: u32, units: u32) -> Range<u32> {
        if !self.config.reads_by_plane() {
            return 0..0;
        }
        let geometry = &self.array.geometry;
        let (superblock, index) = match self.array.table[unit as usize].checked_sub(1) {
            Some(page) => (page >> geometry.shift, page & ((1 << geometry.shift) - 1)),
            None => self.array.place_unwritten(unit),
        };
        geometry.planes_of(superblock, index, units)
    }

    /// Has units of one operation read, unless the write buffer has them or they need not be read.
    #[inline(always)]
    pub(super) fn fetch<const PLAIN: bool>(
        &mut self,
        now: Time,
        at: Time,
        found: &Found,
        (unit, units): (u32, u32),
    ) -> Option<Fetch> {
        if found.is_buffered {
            self.book.buffer_hits += 1;
            return None;
        }
        if found.superblock == u32::MAX && self.config.unwritten != Unwritten::Flash {
            return None;
        }
        self.schedule.count_read(Activity::Read, 1);
        Some(match PLAIN {
            true => self.schedule.fetch_plainly(at, found.spot, units, Activity::Read),
            false => {
                let spot = (found.spot, self.planes_of(unit, units));
                self.schedule.fetch_in_turn((now, at), spot, units, Activity::Read)
            }
        })
    }

    /// Where `unit` is. What was never written has the operation that would hold it had the drive been filled
    /// in order.
    #[inline(always)]
    pub(super) fn find(&mut self, unit: u32, at: Time) -> Found {
        let entry = self.array.table[unit as usize];
        if entry == 0 {
            self.book.unwritten_reads += 1;
            let operation = self.array.operation_unwritten(unit);
            let spot = self.array.geometry.spot(operation);
            return Found { superblock: u32::MAX, operation, spot, is_buffered: false };
        }
        let (superblock, operation) = self.array.locate(entry - 1);
        let spot = self.array.spot(superblock, operation);
        let is_buffered = self.array.is_held(entry - 1)
            || self.schedule.is_programming(at, superblock, operation, spot.die);
        Found { superblock, operation, spot, is_buffered }
    }

    /// Whether `unit` is in the operation that was `found`.
    #[inline]
    pub(super) fn is_beside(&self, unit: u32, found: &Found) -> bool {
        let entry = self.array.table[unit as usize];
        if entry == 0 {
            let is_same = found.operation == self.array.operation_unwritten(unit);
            return found.superblock == u32::MAX
                && is_same
                && self.array.geometry.shares_a_page_with_last(unit);
        }
        self.array.locate(entry - 1) == (found.superblock, found.operation)
    }

    /// A write that covers a unit in part needs the rest of it before it is programmed, not before it is done.
    #[cold]
    pub(super) fn read_rest(&mut self, at: Time, unit: u32) {
        self.book.partial_writes += 1;
        let found = self.find(unit, at);
        if found.superblock != u32::MAX && !found.is_buffered {
            let spot = (found.spot, self.planes_of(unit, 1));
            self.schedule.fetch((at, at), spot, 1, Activity::Read);
            self.schedule.count_read(Activity::Read, 1);
        }
        if self.schedule.errors.0.is_some() {
            self.decode_rest(unit, &found, at);
        }
    }
}
