//! Decoding of pages in a drive with bit errors, including read retries and rebuilds from parity.

use super::{Event, Ssd};
use crate::drive::active::{Part, Target};
use crate::errors::Sensing;
use crate::flash::backend::ReadTimes;
use crate::ftl::translation::{Found, Translation};
use crate::layout::geometry::Spot;

impl<T: Translation> Ssd<T> {
    /// Handles the arrival of the page of `part` in the controller, for the first time or after a read retry.
    #[inline(never)]
    pub(super) fn decode_page(&mut self, part: u32) {
        if self.parts[part].found.superblock == u32::MAX {
            return self.end_part(part);
        }
        if !self.parts[part].is_decoded {
            self.decode(part);
        } else {
            self.parts[part].senses -= 1;
        }
        let entry = &mut self.parts[part];
        if entry.senses > 0 {
            return self.read_page(part);
        }
        let decoding = entry.decoding;
        entry.times.correct += decoding;
        if decoding.is_zero() {
            return self.end_decoding(part);
        }
        self.agenda.schedule(self.now + decoding, Event::Decoded(part));
    }

    /// Determines the read retries, the decoding time, and the uncorrectable units of the page of `part`.
    fn decode(&mut self, part: u32) {
        let entry = &self.parts[part];
        if let Target::Other(_) = entry.target {
            return self.decode_other(part);
        }
        let (found, first, units) = (entry.found, entry.unit, entry.units);
        let has_parity = self.ftl.geometry().stripes.is_some();
        let erases = self.ftl.erases_of(found.superblock);
        let Some(errors) = &mut self.flash.errors else { return };
        let (mut all, mut beyond, mut is_lost) =
            (Sensing::default(), Vec::new(), errors.is_lost((first, units)));
        let pages = std::mem::take(&mut self.parts[part].pages);
        for (unit, &page) in (first..).zip(&pages) {
            let sensing = errors.decode(page, erases, found.spot.cells, self.now);
            all.senses = all.senses.max(sensing.senses);
            all.decoding += sensing.decoding;
            match has_parity && !errors.is_lost((unit, 1)) {
                true if sensing.is_lost => beyond.push(unit),
                false if sensing.is_lost => {
                    errors.lose(unit);
                    is_lost = true;
                }
                _ => {}
            }
        }
        errors.count_reads(&pages, found.spot.cells, all.senses);
        let entry = &mut self.parts[part];
        entry.pages = pages;
        entry.is_decoded = true;
        (entry.senses, entry.decoding) = (all.senses, all.decoding);
        (entry.is_lost, entry.beyond) = (is_lost, beyond);
    }

    fn decode_other(&mut self, part: u32) {
        let Part { found, other, .. } = self.parts[part];
        let erases = self.ftl.erases_of(found.superblock);
        let Some(errors) = &mut self.flash.errors else { return };
        let sensing = errors.decode_other(&other, erases, found.spot.cells, self.now);
        errors.count_read_of(&other, found.spot.cells, sensing.senses);
        let entry = &mut self.parts[part];
        entry.is_decoded = true;
        (entry.senses, entry.decoding, entry.is_lost) = (sensing.senses, sensing.decoding, sensing.is_lost);
    }

    /// Handles the end of the decoding of `part`. Uncorrectable units are rebuilt from their stripes, which
    /// are read immediately.
    pub(super) fn end_decoding(&mut self, part: u32) {
        let beyond = std::mem::take(&mut self.parts[part].beyond);
        if beyond.is_empty() {
            return self.end_part(part);
        }
        // The count keeps the part open until all reads are issued.
        self.parts[part].others = 1;
        for &unit in &beyond {
            self.rebuild(part, unit);
        }
        self.parts[part].beyond = beyond;
        self.end_other(part, &ReadTimes::default(), None);
    }

    /// Reads the other units of the stripe of `unit`, except units that are still in the write buffer.
    fn rebuild(&mut self, part: u32, unit: u64) {
        let Found { superblock, .. } = self.parts[part].found;
        let (filled, is_closed) = self.ftl.filled(superblock);
        let Part { unit: first, ref pages, .. } = self.parts[part];
        let page = pages[(unit - first) as usize];
        for other in self.ftl.geometry().others(page, filled, is_closed) {
            let operation = other.operation;
            let spot = Spot { cells: self.ftl.cells(superblock), ..self.ftl.geometry().spot(operation) };
            if self.flash.is_programming(superblock, operation, spot.die) {
                continue;
            }
            let found = Found { superblock, operation, spot, is_held: false };
            let (number, entry) = self.parts.take();
            *entry = Part { target: Target::Other(part), unit, units: 1, found, other, ..Part::default() };
            self.parts[part].others += 1;
            self.read_page(number);
        }
    }

    /// Handles the end of the read of a stripe unit that `part` needs for a rebuild. If the stripe unit is
    /// uncorrectable, `gone` is the unit that cannot be rebuilt.
    pub(super) fn end_other(&mut self, part: u32, times: &ReadTimes, gone: Option<u64>) {
        let entry = &mut self.parts[part];
        entry.others -= 1;
        entry.gone.extend(gone);
        if entry.others > 0 {
            return;
        }
        entry.times.add(times);
        entry.is_lost |= !entry.gone.is_empty();
        let (beyond, gone) = (std::mem::take(&mut entry.beyond), std::mem::take(&mut entry.gone));
        if let Some(errors) = &mut self.flash.errors {
            for unit in beyond {
                let is_gone = gone.contains(&unit);
                errors.count_rebuilt(!is_gone);
                if is_gone {
                    errors.lose(unit);
                }
            }
        }
        self.end_part(part);
    }

    /// Returns whether any of these units has lost its data.
    pub(super) fn is_lost(&self, units: (u64, u32)) -> bool {
        self.flash.errors.as_ref().is_some_and(|errors| errors.is_lost(units))
    }

    /// Moves the data of a superblock if one of its blocks has reached `refresh_reads`.
    pub(super) fn refresh_due(&mut self) {
        let Some(superblock) = self.flash.errors.as_mut().and_then(|errors| errors.take_due()) else {
            return;
        };
        let is_moved = self.ftl.refresh(superblock, &mut self.flash);
        if let Some(errors) = &mut self.flash.errors {
            errors.count_refresh(is_moved);
        }
    }
}
