//! Wear leveling: selects the blocks to collect and to fill, and exchanges an erased block with the least
//! worn block if the erased block is much more worn.

use super::cache::FlashCache;
use super::counts::Cause;
use super::operation::NONE as NOTHING;
use super::region::NO_BLOCK;
use super::tables::{BlockStatus, NONE, Use};
use nacre_kernel::Time;
use nacre_media::store::Store;

impl<S: Store> FlashCache<S> {
    /// Wear of `block`: its erases, plus weighted adaptations of its slots.
    pub(super) fn wear_of(&self, block: u32) -> f64 {
        let status = &self.tables.blocks[block as usize];
        f64::from(self.array.flash.erases_of(block))
            + self.config.strength_weight * f64::from(status.strengths)
            + self.config.density_weight * f64::from(status.lowered)
    }

    /// Finds the full block of `region` with the most invalid pages. If several blocks have no valid pages,
    /// finds the least worn of these blocks. Also returns the numbers of programmed and of valid pages in
    /// the full blocks of the region. Returns `None` if no block is full.
    pub(super) fn survey(&self, region: usize) -> Option<(u32, u64, u64)> {
        let (mut best, mut most) = (NO_BLOCK, 0);
        let (mut programmed, mut valid) = (0, 0);
        for (number, block) in self.tables.blocks.iter().enumerate() {
            if block.used != Use::Closed || usize::from(block.region) != region {
                continue;
            }
            let invalid = block.programmed - block.valid;
            programmed += u64::from(block.programmed);
            valid += u64::from(block.valid);
            let number = number as u32;
            let is_younger = || block.valid == 0 && self.wear_of(number) < self.wear_of(best);
            if best == NO_BLOCK || invalid > most || invalid == most && is_younger() {
                (best, most) = (number, invalid);
            }
        }
        (best != NO_BLOCK).then_some((best, programmed, valid))
    }

    /// Selects the next block of `region` to fill and removes it from the free blocks. The wear of this
    /// block exceeds the wear of every other free block by at most `wear_gap`. Returns `None` if no block
    /// is free.
    pub(super) fn take_least_worn(&mut self, region: usize) -> Option<u32> {
        let of_region = &self.regions[region];
        let least = of_region.free.iter().map(|&block| self.wear_of(block)).fold(f64::INFINITY, f64::min);
        let most = least + self.config.wear_gap as f64;
        let at = of_region.next_free(self.config.cells.dies, |block| self.wear_of(block) <= most)?;
        self.regions[region].free.remove(at)
    }

    /// Exchanges the erased block `worn`, which is in no list, with the least worn block if that block has
    /// much less wear. Returns the block that is free afterwards. `was_relieved` means that wear leveling
    /// once moved content into `worn`, and that this content has since left the block.
    pub(super) fn exchange_if_worn(&mut self, worn: u32, was_relieved: bool, now: Time) -> u32 {
        let Some(young) = self.worn_much_less(worn) else { return worn };
        let BlockStatus { used, region, valid, .. } = self.tables.blocks[young as usize];
        let region = usize::from(region);
        match used {
            // A free block of the same region will be filled next anyway.
            Use::Free if region == usize::from(self.tables.blocks[worn as usize].region) => return worn,
            Use::Free => {
                self.regions[region].free.retain(|&free| free != young);
                self.set_free(worn, region);
                return young;
            }
            // Content that was moved into this block did not stay there, so the block waits until other
            // blocks are equally worn.
            _ if was_relieved && valid > 0 => return worn,
            Use::Open => self.regions[region].forget_open(young),
            _ => self.recency.remove(young),
        }
        self.move_content(young, worn, now);
        if valid > 0 {
            let status = &mut self.tables.blocks[worn as usize];
            (status.used, status.region, status.is_relieved) = (Use::Closed, region as u8, true);
            self.recency.insert(region, worn);
        } else {
            self.set_free(worn, region);
        }
        self.erase(young, now);
        young
    }

    /// Finds the least worn block. Returns `None` unless the wear of `worn` exceeds the wear of this block
    /// by more than `wear_gap`.
    fn worn_much_less(&mut self, worn: u32) -> Option<u32> {
        let most = self.wear_of(worn) - self.config.wear_gap as f64;
        if self.least_wear >= most {
            return None;
        }
        let (mut least, mut young) = (most, None);
        self.least_wear = f64::INFINITY;
        for block in 0..self.array.flash.blocks() {
            let status = &self.tables.blocks[block as usize];
            if status.used == Use::Retired {
                continue;
            }
            let wear = self.wear_of(block);
            self.least_wear = self.least_wear.min(wear);
            if wear < least {
                (least, young) = (wear, Some(block));
            }
        }
        young
    }

    /// Moves the valid pages of the full block `young` into the erased block `worn`.
    fn move_content(&mut self, young: u32, worn: u32, now: Time) {
        for page in self.pages_of(young) {
            if self.tables.pages[page as usize].key == NONE {
                continue;
            }
            match self.next_target(worn, false) {
                Some(target) => self.move_page(page, target, now, (Cause::Leveled, NOTHING)),
                None => self.evict_page(page, now),
            }
        }
    }
}
