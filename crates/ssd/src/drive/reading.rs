//! Host reads: lookup of units, which may need pages of the mapping table, and selection of the pages to
//! read.

use super::Ssd;
use crate::config::Unwritten;
use crate::drive::active::{Part, Target};
use crate::flash::backend::{HostRead, ReadTimes};
use crate::flash::command::Owner;
use crate::ftl::translation::{Found, Mapping, Translation};
use crate::layout::geometry::Spot;
use nacre_kernel::{Activity, Op, Time};

impl<T: Translation> Ssd<T> {
    /// Starts a read in the drive.
    #[inline]
    pub(super) fn begin_read(&mut self, number: u32) {
        let units = self.ftl.geometry().units_of(&self.active[number].request);
        if self.look_up(number, units, false) {
            self.read_units(number, units);
        }
    }

    /// Reads the units of a request whose mappings are known. A page that holds several of the units is read
    /// once.
    pub(super) fn read_units(&mut self, number: u32, (first, last): (u64, u64)) {
        let mut unit = first;
        // The count keeps the request open until all reads are issued.
        self.active[number].parts = 1;
        while unit <= last {
            let found = self.ftl.find(unit);
            let mut end = unit + 1;
            while end <= last && self.ftl.is_beside(end, &found) {
                end += 1;
            }
            self.read_part(number, (unit, (end - unit) as u32), found);
            unit = end;
        }
        self.end_part_of(number, &ReadTimes::default(), false);
    }

    /// Reads units of one operation, unless they are in the write buffer.
    #[inline]
    fn read_part(&mut self, number: u32, (unit, units): (u64, u32), found: Found) {
        let is_written = found.superblock != u32::MAX;
        if !is_written {
            self.counts.unwritten_reads += u64::from(units);
            if self.config.unwritten != Unwritten::Flash {
                return;
            }
        } else if self.is_buffered(&found) {
            self.counts.buffer_hits += u64::from(units);
            if self.is_lost((unit, units)) {
                self.active[number].is_lost = true;
            }
            return;
        }
        self.active[number].parts += 1;
        if self.flash.errors.is_none() {
            let data = self.data_of(number, (unit, units));
            return self.read_flash(Owner::Request(number), (unit, units), found.spot, data);
        }
        let (part, entry) = self.parts.take();
        *entry = Part { active: number, target: Target::Units, unit, units, found, ..Part::default() };
        if is_written {
            self.note_pages(part);
        }
        self.read_page(part);
    }

    /// Returns whether the units of `found` are in the buffer or are being programmed.
    #[inline]
    pub(super) fn is_buffered(&self, found: &Found) -> bool {
        found.is_held || self.flash.is_programming(found.superblock, found.operation, found.spot.die)
    }

    /// Issues a host read of `units` units of one operation, starting with `unit`, for `owner`.
    #[inline]
    pub(super) fn read_flash(&mut self, owner: Owner, (unit, units): (u64, u32), spot: Spot, data: Time) {
        let planes = if self.flash.timing.lanes > 1 { self.ftl.planes_of(unit, units) } else { 0..1 };
        self.flash.read(&HostRead { owner, spot, planes, units, data, activity: Activity::Read });
    }

    /// Returns the channel time of the data that request `number` reads from these units.
    #[inline]
    fn data_of(&self, number: u32, units: (u64, u32)) -> Time {
        let unit_bytes = self.ftl.geometry().unit_bytes;
        self.flash.timing.data_of(&self.active[number].request, units, unit_bytes)
    }

    /// Records the physical pages of the units of `part`, because the units may move before they are read.
    pub(super) fn note_pages(&mut self, part: u32) {
        let entry = &mut self.parts[part];
        let (first, units) = (entry.unit, entry.units);
        entry.pages = (first..first + u64::from(units)).map(|unit| self.ftl.page_of(unit)).collect();
    }

    /// Issues a read of the page of `part`: the first read or a read retry.
    #[inline]
    pub(super) fn read_page(&mut self, part: u32) {
        let Part { unit, units, target, ref found, ref other, .. } = self.parts[part];
        let (spot, owner) = (found.spot, Owner::Part(part));
        let data = match target {
            Target::Units => self.data_of(self.parts[part].active, (unit, units)),
            _ => self.flash.timing.unit_data * u64::from(units),
        };
        if !matches!(target, Target::Other(_)) {
            return self.read_flash(owner, (unit, units), spot, data);
        }
        let geometry = self.ftl.geometry();
        let plane = geometry.lane_within(other.operation, other.within, spot.cells) % geometry.planes;
        let planes = if self.flash.timing.lanes > 1 { plane..plane + 1 } else { 0..1 };
        self.flash.read(&HostRead { owner, spot, planes, units, data, activity: Activity::Read });
    }

    /// Handles the end of the page transfer of `part`.
    #[inline]
    pub(super) fn end_page(&mut self, part: u32, times: &ReadTimes) {
        let entry = &mut self.parts[part];
        entry.times.add(times);
        if let Target::Mapping(page) = entry.target {
            self.parts.give_back(part);
            return self.end_lookup(page);
        }
        if self.flash.errors.is_some() {
            return self.decode_page(part);
        }
        self.end_part(part);
    }

    /// Handles the end of `part` after its page is read and decoded.
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

    /// Handles the end of one part of a read. In a drive without bit errors, a part ends with its page
    /// transfer. After the last part, the data is sent to the host.
    #[inline]
    pub(super) fn end_part_of(&mut self, number: u32, times: &ReadTimes, is_lost: bool) {
        let active = &mut self.active[number];
        active.parts -= 1;
        active.times = *times;
        active.is_lost |= is_lost;
        if active.parts == 0 {
            self.host.answer(self.now, number);
            self.refresh_due();
        }
    }

    /// Looks up the mappings of all units of a request. `changes` means that the request will modify them.
    /// Returns whether all mappings are known.
    #[inline(always)]
    pub(super) fn look_up(&mut self, number: u32, units: (u64, u64), changes: bool) -> bool {
        if self.ftl.geometry().mapping_units == 0 {
            true
        } else {
            self.look_up_in_flash(number, units, changes)
        }
    }

    #[inline(never)]
    fn look_up_in_flash(&mut self, number: u32, (first, last): (u64, u64), changes: bool) -> bool {
        for unit in first..=last {
            match self.ftl.look_up(unit, changes, &mut self.flash, &mut self.counts) {
                Mapping::Known => {
                    let page = (unit / u64::from(self.ftl.geometry().mappings_per_unit)) as u32;
                    // Another request may already be reading the page.
                    let is_read = self.lookups.iter().any(|&(other, _)| other == page);
                    if is_read && !self.lookups.contains(&(page, number)) {
                        self.lookups.push((page, number));
                        self.active[number].lookups += 1;
                    }
                }
                Mapping::InFlash { page, found } => self.read_mapping(number, page, found),
            }
        }
        self.active[number].lookups == 0
    }

    /// Makes request `number` wait for `page` of the mapping table. The page is read unless the write buffer
    /// holds it.
    fn read_mapping(&mut self, number: u32, page: u32, found: Option<Found>) {
        let Some(found) = found else { return };
        if found.superblock != u32::MAX && self.is_buffered(&found) {
            return;
        }
        self.lookups.push((page, number));
        self.active[number].lookups += 1;
        let (part, entry) = self.parts.take();
        *entry = Part { target: Target::Mapping(page), found, ..Part::default() };
        let unit = self.ftl.geometry().logical_units + u64::from(page);
        let planes = if self.flash.timing.lanes > 1 { self.ftl.planes_of(unit, 1) } else { 0..1 };
        let (owner, spot, data) = (Owner::Part(part), found.spot, self.flash.timing.mapping_data);
        self.flash.read(&HostRead { owner, spot, planes, units: 1, data, activity: Activity::Translate });
    }

    /// Continues a request whose mappings are all known.
    pub(super) fn end_lookups(&mut self, number: u32) {
        let request = self.active[number].request;
        match request.op {
            Op::Read => self.read_units(number, self.ftl.geometry().units_of(&request)),
            Op::Write => self.take_turn(number),
            Op::Trim => {
                self.trim(number);
            }
            Op::Flush => unreachable!("a flush needs no mapping"),
        }
    }

    /// Handles the end of the read of a mapping table page, and continues the requests that wait for no other
    /// page.
    pub(super) fn end_lookup(&mut self, page: u32) {
        let waiting: Vec<u32> =
            self.lookups.extract_if(.., |(other, _)| *other == page).map(|(_, number)| number).collect();
        for number in waiting {
            let active = &mut self.active[number];
            active.lookups -= 1;
            if active.lookups == 0 {
                active.known = self.now;
                self.known.push(number);
            }
        }
    }
}
