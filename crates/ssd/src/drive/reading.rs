//! Host reads: the location of units, and the pages that are read.

use super::Ssd;
use crate::config::Unwritten;
use crate::drive::active::{Part, PartTimes, Target};
use crate::flash::backend::{HostRead, ReadTimes};
use crate::flash::command::Owner;
use crate::ftl::translation::Found;
use crate::ftl::translation::Translation;
use nacre_kernel::{Activity, Time};

impl<T: Translation> Ssd<T> {
    /// Starts a read in the drive.
    #[inline]
    pub(super) fn begin_read(&mut self, number: u32) {
        let units = self.ftl.geometry().units_of(&self.active[number].request);
        if self.look_up(number, units, false) {
            self.read_units(number, units);
        }
    }

    /// The mappings of a read are known: each page is read once, even if it holds several of its units.
    pub(super) fn read_units(&mut self, number: u32, (first, last): (u32, u32)) {
        let mut unit = first;
        // Keeps the request open until all reads are issued.
        self.active[number].parts = 1;
        while unit <= last {
            let found = self.ftl.find(unit);
            let mut units = 1;
            while unit + units <= last && self.ftl.is_beside(unit + units, &found) {
                units += 1;
            }
            self.read_part(number, (unit, units), found);
            unit += units;
        }
        self.end_part_of(number, &PartTimes::default(), false);
    }

    /// Reads units of one operation, unless the buffer has them.
    #[inline]
    fn read_part(&mut self, number: u32, (unit, units): (u32, u32), found: Found) {
        let is_written = found.superblock != u32::MAX;
        if !is_written {
            self.book.unwritten_reads += u64::from(units);
            if self.config.unwritten != Unwritten::Flash {
                return;
            }
        } else if found.is_held
            || self.flash.is_programming(found.superblock, found.operation, found.spot.die)
        {
            self.book.buffer_hits += u64::from(units);
            if self.is_lost((unit, units)) {
                self.active[number].is_lost = true;
            }
            return;
        }
        self.active[number].parts += 1;
        if self.flash.errors.0.is_none() {
            let planes = if self.flash.timing.lanes > 1 { self.ftl.planes_of(unit, units) } else { 0..1 };
            let (owner, spot) = (Owner::Request(number), found.spot);
            let data = self.data_of(number, (unit, units));
            return self.flash.read(&HostRead { owner, spot, planes, units, data, activity: Activity::Read });
        }
        let (part, entry) = self.parts.take();
        *entry = Part { active: number, target: Target::Units, unit, units, found, ..Part::default() };
        if is_written {
            self.note_pages(part);
        }
        self.read_page(part);
    }

    /// Channel time of the data of these units.
    #[inline]
    fn data_of(&self, number: u32, units: (u32, u32)) -> Time {
        let unit_bytes = self.ftl.geometry().unit_bytes;
        self.flash.timing.data_of(&self.active[number].request, units, unit_bytes)
    }

    /// A page of a request has crossed the channel, in a drive without bit errors.
    #[inline]
    pub(super) fn end_page_of(&mut self, number: u32, times: &ReadTimes) {
        let mut own = PartTimes::default();
        own.add(times);
        self.end_part_of(number, &own, false);
    }

    /// Records the physical pages of the units of `part`: they may move before they are read.
    pub(super) fn note_pages(&mut self, part: u32) {
        let entry = &mut self.parts[part];
        let (first, units) = (entry.unit, entry.units);
        entry.pages = (first..first + units).map(|unit| self.ftl.page_of(unit)).collect();
    }

    /// Issues the read of the page of `part`, also for a read retry.
    #[inline]
    pub(super) fn read_page(&mut self, part: u32) {
        let Part { unit, units, target, ref found, ref other, .. } = self.parts[part];
        let (spot, is_other) = (found.spot, matches!(target, Target::Other(_)));
        let planes = match self.flash.timing.lanes {
            1 => 0..1,
            _ if is_other => {
                let geometry = self.ftl.geometry();
                let plane = geometry.lane_within(other.operation, other.within) % geometry.planes;
                plane..plane + 1
            }
            _ => self.ftl.planes_of(unit, units),
        };
        let owner = Owner::Part(part);
        let data = match target {
            Target::Units => self.data_of(self.parts[part].active, (unit, units)),
            _ => self.flash.timing.unit_data * u64::from(units),
        };
        self.flash.read(&HostRead { owner, spot, planes, units, data, activity: Activity::Read });
    }

    /// The page of `part` has crossed the channel.
    #[inline]
    pub(super) fn end_page(&mut self, part: u32, times: &ReadTimes) {
        let entry = &mut self.parts[part];
        entry.times.add(times);
        if let Target::Mapping(page) = entry.target {
            self.parts.give_back(part);
            return self.end_lookup(page);
        }
        if self.flash.errors.0.is_some() {
            return self.decode_page(part);
        }
        self.end_part(part);
    }

    /// A part is read and decoded.
    #[inline]
    pub(super) fn end_part(&mut self, part: u32) {
        let Part { active, target, times, is_lost, unit, .. } = self.parts[part];
        self.parts.give_back(part);
        match target {
            Target::Units => self.end_part_of(active, &times, is_lost),
            Target::Other(part) => self.end_other(part, &times, is_lost.then_some(unit)),
            Target::Rest | Target::Mapping(_) => {}
        }
    }

    /// One part of a read has ended; after the last one, the data goes to the host.
    #[inline]
    fn end_part_of(&mut self, number: u32, times: &PartTimes, is_lost: bool) {
        let active = &mut self.active[number];
        active.parts -= 1;
        active.times = *times;
        active.is_lost |= is_lost;
        if active.parts == 0 {
            self.host.answer(self.now, number);
            self.refresh_due();
        }
    }
}
