//! Cleaning while the host is quiet, up to a soft threshold. A request of the host stops it.

use crate::config::OPEN;
use crate::ftl::array::Array;
use crate::ops::FlashOps;
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Whether fewer superblocks of a region are erased than are wanted, and so many can be.
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

    /// Superblocks of a region that can be erased at a time: the others hold the data, with a unit in each that is not
    /// live, or are being filled.
    pub(crate) fn most_erased(&self, region: usize) -> u32 {
        let live =
            if self.geometry.is_by_plane() { self.partitions[region].live } else { self.table.len() as u64 };
        let holding = live.div_ceil(u64::from(self.geometry.units_per_superblock - 1));
        let open = OPEN + self.geometry.open_for_handles;
        self.blocks.usable_count(region).saturating_sub(holding as u32 + open)
    }

    /// Copies as much of the superblocks that are being emptied, or the next ones, as all dies program at once: a stripe, or
    /// a page of each plane.
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
