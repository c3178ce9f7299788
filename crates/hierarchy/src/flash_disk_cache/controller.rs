//! Decisions of the controller about bit errors and frequently read pages.

use super::array::Sensed;
use super::cache::FlashCache;
use super::counts::{Cause, Life, Worn};
use crate::programmable::Remedy;
use nacre_controller::ecc::Verdict;
use nacre_kernel::Time;
use nacre_media::dual_mode_flash::Mode;
use nacre_media::store::Store;

/// Number of equal portions of the initial page capacity. The state of wear is recorded each time that the
/// page capacity has decreased by another portion.
const WEARING: usize = 50;

impl<S: Store> FlashCache<S> {
    /// Adapts the slot of `page` to the bit errors that a read of the page found.
    #[inline]
    pub(super) fn follow_errors(&mut self, page: u32, sensed: Sensed) {
        if sensed.wrong > 0 {
            self.follow_wrong_bits(page, sensed);
        }
    }

    fn follow_wrong_bits(&mut self, page: u32, sensed: Sensed) {
        if let Verdict::Corrected(bits) = sensed.verdict {
            self.counts.corrected_pages += 1;
            self.counts.corrected_bits += u64::from(bits);
        }
        let status = self.tables.pages[page as usize];
        let corrects = self.array.codes[status.code as usize].corrects();
        if sensed.wrong < corrects && sensed.is_good() {
            return;
        }
        let slot = self.tables.slots[(page >> 1) as usize];
        // If the slot changed after this page was programmed, it is already adapted to the errors.
        let is_answered =
            slot.code != status.code || slot.mode == Mode::Slc && self.array.flash.mode(page) == Mode::Mlc;
        if is_answered || slot.is_retired {
            return;
        }
        if !self.adapt(page) && !sensed.is_good() {
            self.retire(page >> 1);
        }
        let new = self.config.flash_bytes() / super::FLASH_PAGE;
        if self.life.usable < new {
            self.life.first_gone.get_or_insert(self.life.taken);
        }
        if self.life.half.is_none() && 2 * self.life.usable <= new {
            self.life.half = Some(self.life.taken);
        }
        while self.wearing.len() < WEARING
            && self.life.usable * WEARING as u64 <= new * (WEARING - 1 - self.wearing.len()) as u64
        {
            let Life { taken, usable, .. } = self.life;
            self.wearing.push(Worn { taken, asked: self.tables.global.accesses, usable });
        }
    }

    /// Changes the slot of `page` to a stronger code or to SLC mode, whichever costs less. Returns whether
    /// either was possible.
    fn adapt(&mut self, page: u32) -> bool {
        let slot = self.tables.slots[(page >> 1) as usize];
        let can_raise = self.config.raises_strength && usize::from(slot.code) + 1 < self.array.codes.len();
        let can_lower = self.config.lowers_density && slot.mode == Mode::Mlc;
        let costs = || [self.cost_of_strength(page), self.cost_of_density(page)];
        let Some(remedy) = Remedy::cheaper(can_raise, can_lower, costs) else { return false };
        let block = self.array.flash.block_of(page) as usize;
        let slot = &mut self.tables.slots[(page >> 1) as usize];
        if remedy == Remedy::Strength {
            slot.code += 1;
            self.tables.blocks[block].strengths += 1;
            self.counts.strength_raised += 1;
        } else {
            slot.mode = Mode::Slc;
            self.life.usable -= 1;
            self.tables.blocks[block].lowered += 1;
            self.counts.density_lowered += 1;
        }
        true
    }

    /// Cost in seconds per access of correcting one more bit in `page`.
    fn cost_of_strength(&self, page: u32) -> f64 {
        let code = self.tables.slots[(page >> 1) as usize].code;
        let decode = [code, code + 1].map(|code| self.array.decode_time(code));
        self.tables.global.cost_of_strength(self.tables.pages[page as usize].used(), decode)
    }

    /// Cost in seconds per access of SLC mode for the slot of `page`.
    fn cost_of_density(&self, page: u32) -> f64 {
        let reads = [Mode::Slc, Mode::Mlc].map(|mode| self.config.cells.nand.read(mode));
        self.tables.global.cost_of_density(self.tables.pages[page as usize].used(), reads)
    }

    fn retire(&mut self, slot: u32) {
        let block = self.array.flash.block_of(2 * slot) as usize;
        let status = &mut self.tables.slots[slot as usize];
        status.is_retired = true;
        self.life.usable -= u64::from(status.mode.pages());
        self.tables.blocks[block].slots -= 1;
        self.counts.retired_slots += 1;
    }

    /// Moves disk page `key`, whose hit counter is saturated, to a slot in SLC mode after operation `after`.
    pub(super) fn promote(&mut self, key: u64, now: Time, after: u32) {
        let Some(page) = self.tables.find(key) else { return };
        if self.array.flash.mode(page) == Mode::Slc {
            return;
        }
        let region = usize::from(self.tables.blocks[self.array.flash.block_of(page) as usize].region);
        let Some(target) = self.make_room(region, (key, true), now) else { return };
        // Garbage collection may have moved or dropped the page in the meantime.
        let Some(page) = self.tables.find(key) else { return };
        self.counts.pages_promoted += 1;
        self.move_page(page, target, now, (Cause::Promoted, after));
        if let Some(page) = self.tables.find(key) {
            let accesses = self.tables.global.accesses;
            let status = &mut self.tables.pages[page as usize];
            (status.hits, status.since) = (0, accesses);
        }
    }
}
