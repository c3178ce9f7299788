//! Requests that wait until their mappings are read from flash.

use super::Ssd;
use crate::drive::active::{Part, Target};
use crate::flash::backend::HostRead;
use crate::flash::command::Owner;
use crate::ftl::translation::{Found, Mapping, Translation};
use nacre_kernel::{Activity, Op};

impl<T: Translation> Ssd<T> {
    /// Looks up the mappings of all units of a request. `changes` means that the request will modify them.
    /// Returns whether all mappings are known.
    #[inline(always)]
    pub(super) fn look_up(&mut self, number: u32, units: (u32, u32), changes: bool) -> bool {
        if self.ftl.geometry().mapping_units == 0 {
            true
        } else {
            self.look_up_in_flash(number, units, changes)
        }
    }

    #[inline(never)]
    fn look_up_in_flash(&mut self, number: u32, (first, last): (u32, u32), changes: bool) -> bool {
        for unit in first..=last {
            match self.ftl.look_up(unit, changes, &mut self.flash, &mut self.book) {
                Mapping::Known => {
                    let page = unit / self.ftl.geometry().mappings_per_unit;
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
        let unit = self.ftl.geometry().logical_units + page;
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

    /// Handles the end of the read of a mapping table page, and continues requests that have no other page to
    /// wait for.
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
