//! Reads: where a unit is, and its bytes.

use super::super::config::Unwritten;
use super::super::reading::Last;
use super::model::Zoned;
use nacre_kernel::{Activity, Breakdown, Completion, Data, Request, Status, Time};
use nacre_media::store::Store;
use std::ops::Range;

impl<S: Store> Zoned<S> {
    /// Reads the units of `request`; operations that hold several of them are read once.
    pub(super) fn read(&mut self, now: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let (first, last) = self.table.geometry.units_of(request);
        let at = self.interface.enter(now, request, u64::from(last - first) + 1, breakdown);
        let mut slowest = Last { translated: at, fetch: None, done: at };
        let mut unit = first;
        while unit <= last {
            let (superblock, operation) = self.locate(unit);
            let mut units = 1;
            while unit + units <= last && self.locate(unit + units) == (superblock, operation) {
                units += 1;
            }
            let part = self.read_operation(at, unit, units, (superblock, operation));
            if part.done >= slowest.done {
                slowest = part;
            }
            unit += units;
        }
        let crossing = self.interface.answer(slowest.done, u64::from(request.bytes));
        slowest.tell(self.id, at, &crossing, breakdown);
        Completion { done: self.interface.leave(crossing.there, breakdown), status: Status::Done }
    }

    /// The superblock of `unit`, and its operation. What was never written has the operation of no superblock that would
    /// hold it.
    fn locate(&self, unit: u32) -> (u32, u32) {
        let geometry = &self.table.geometry;
        let (zone, index) = self.table.zone_of(unit);
        if index < self.table.zones[zone as usize].written {
            let (superblock, index) = self.table.place(zone, index);
            return (superblock, geometry.operation_of(superblock, index));
        }
        (u32::MAX, geometry.operation_of(0, unit % geometry.units_per_superblock))
    }

    fn read_operation(&mut self, at: Time, unit: u32, units: u32, found: (u32, u32)) -> Last {
        let (superblock, operation) = found;
        let spot = self.table.geometry.spot(operation);
        let (zone, index) = self.table.zone_of(unit);
        let mut last = Last { translated: at, fetch: None, done: at };
        if superblock == u32::MAX {
            self.book.unwritten_reads += u64::from(units);
            if self.config.unwritten != Unwritten::Flash {
                return last;
            }
        } else if index >= self.table.zones[zone as usize].issued
            || self.schedule.is_programming(at, superblock, operation, spot.die)
        {
            self.book.buffer_hits += 1;
            return last;
        }
        self.schedule.count_read(Activity::Read, 1);
        let planes = self.planes_of(superblock, unit, units);
        let fetch = self.schedule.fetch((at, at), (spot, planes), units, Activity::Read);
        last.done = fetch.done;
        last.fetch = Some(fetch);
        last
    }

    /// The planes that so many units lie on from `unit` on, which is or would be in `superblock`.
    fn planes_of(&self, superblock: u32, unit: u32, units: u32) -> Range<u32> {
        let geometry = &self.table.geometry;
        let (zone, index) = self.table.zone_of(unit);
        match superblock {
            u32::MAX => geometry.planes_of(0, unit % geometry.units_per_superblock, units),
            _ => geometry.planes_of(superblock, self.table.place(zone, index).1, units),
        }
    }

    /// Gives the bytes of a read from `address` on. What was never written is zero.
    pub(super) fn give(&self, address: u64, data: Data<'_>) {
        let Data::Read(into) = data else { return };
        if !S::CARRIES_BYTES {
            return;
        }
        let unit_bytes = self.table.geometry.unit_bytes as usize;
        let mut done = 0;
        while done < into.len() {
            let place = address + done as u64;
            let offset = place as usize % unit_bytes;
            let end = into.len().min(done + unit_bytes - offset);
            let (zone, index) = self.table.zone_of((place >> self.table.geometry.unit_shift) as u32);
            if index < self.table.zones[zone as usize].written {
                let (superblock, index) = self.table.place(zone, index);
                let page = (superblock << self.table.geometry.shift) + index;
                self.table.flash.read(page, offset, &mut into[done..end]);
            } else {
                into[done..end].fill(0);
            }
            done = end;
        }
    }
}
