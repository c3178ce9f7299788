//! Refresh: data moves to other blocks before reads of its block have disturbed it too much.

use crate::ftl::array::Array;
use crate::ftl::gc::relocation::LAST;
use crate::ftl::parts::frontier::ABSENT;
use crate::ops::{Cause, FlashOps};
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Moves the valid units of `superblock` at once, and erases it. Returns `false` if too few superblocks
    /// are erased.
    pub(crate) fn refresh<W: FlashOps>(&mut self, superblock: u32, work: &mut W) -> bool {
        let region = self.geometry.region_of(superblock);
        if self.is_open[superblock as usize] {
            let open = (0..self.frontiers.len()).find(|&at| self.frontiers[at].superblock == superblock);
            self.close(open.expect("an open superblock has a frontier"), work);
        }
        // Finishes the relocation in progress, which may be of this superblock.
        if self.has_spare(region) {
            self.copy(region, u32::MAX, work);
        }
        let is_kept = self.place_of[superblock as usize] != ABSENT && !self.is_open[superblock as usize];
        if !is_kept || !self.has_spare(region) || self.regions[region].relocation.is_some() {
            return self.place_of[superblock as usize] == ABSENT;
        }
        let place = self.place_of[superblock as usize] as usize;
        self.begin(place, Cause::Refresh);
        self.copy(region, u32::MAX, work);
        true
    }

    /// Whether `region` has an erased superblock for this data and another one in reserve.
    fn has_spare(&self, region: usize) -> bool {
        self.regions[region].erased.len() > LAST && !self.is_worn_out
    }
}
