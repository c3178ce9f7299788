//! Garbage collection while the host is idle, up to a soft threshold. A host request stops it.

use crate::config::OPEN;
use crate::ftl::array::Array;
use crate::ops::FlashOps;
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Whether a region has fewer erased superblocks than `idle_reserve` asks for, and can have more.
    pub(crate) fn cleans_while_idle(&self) -> bool {
        !self.is_worn_out && (0..self.regions.len()).any(|region| self.cleans_region(region))
    }

    fn cleans_region(&self, region: usize) -> bool {
        let wanted = self.rules.erased_while_idle;
        if self.regions[region].erased.len() >= wanted as usize {
            return false;
        }
        wanted <= self.most_erased(region)
    }

    /// Maximum erased superblocks of a region: the others hold the data, with one invalid unit in each, or
    /// are open.
    pub(crate) fn most_erased(&self, region: usize) -> u32 {
        let live =
            if self.geometry.has_regions() { self.partitions[region].live } else { self.table.len() as u64 };
        let holding = live.div_ceil(u64::from(self.geometry.units_per_superblock - 1));
        let open = OPEN + self.geometry.open_for_handles;
        self.blocks.usable_count(region).saturating_sub(holding as u32 + open)
    }

    /// Copies as many units as all dies program at once (a stripe, or a page of each plane), from the
    /// superblocks that are being emptied or from the next victims.
    pub(crate) fn clean_a_little<W: FlashOps>(&mut self, work: &mut W) {
        for region in 0..self.regions.len() {
            if self.is_worn_out || !self.cleans_region(region) {
                continue;
            }
            if self.regions[region].relocation.is_none() {
                self.begin_cleaning(region);
            }
            self.copy(region, self.geometry.units_at_once(), work);
        }
    }
}
