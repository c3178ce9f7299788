//! Requests that wait for their mappings to be read from flash.

use super::Ssd;
use crate::drive::active::{Part, Target};
use crate::flash::backend::HostRead;
use crate::flash::command::Owner;
use crate::ftl::translation::Found;
use crate::ftl::translation::{Mapping, Translation};
use nacre_kernel::{Activity, Op};

impl<T: Translation> Ssd<T> {
    /// Looks up the mappings of all units of a request; `changes` means that it will modify them. Returns
    /// whether all are known.
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
                    // Another request may be reading it.
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

    /// Makes request `number` wait for `page` of the mapping table, which is read unless the buffer has it.
    fn read_mapping(&mut self, number: u32, page: u32, found: Option<Found>) {
        let Some(found) = found else { return };
        let is_buffered = found.superblock != u32::MAX
            && (found.is_held
                || self.flash.is_programming(found.superblock, found.operation, found.spot.die));
        if is_buffered {
            return;
        }
        self.lookups.push((page, number));
        self.active[number].lookups += 1;
        let (part, entry) = self.parts.take();
        *entry = Part { target: Target::Mapping(page), found, ..Part::default() };
        let unit = self.ftl.geometry().logical_units + page;
        let planes = if self.flash.timing.lanes > 1 { self.ftl.planes_of(unit, 1) } else { 0..1 };
        let data = self.flash.timing.mapping_data;
        let read = HostRead {
            owner: Owner::Part(part),
            spot: found.spot,
            planes,
            units: 1,
            data,
            activity: Activity::Translate,
        };
        self.flash.read(&read);
    }

    /// All mappings of a request are known.
    pub(super) fn end_lookups(&mut self, number: u32) {
        let request = self.active[number].request;
        match request.op {
            Op::Read => self.read_units(number, self.ftl.geometry().units_of(&request)),
            Op::Write => self.take_turn(number),
            Op::Trim => self.trim(number),
            Op::Flush => unreachable!("a flush needs no mapping"),
        }
    }

    /// A page of the mapping table was read: requests that waited for this page only continue.
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
