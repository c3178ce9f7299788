//! Data moves to fresh cells before reads of its block have disturbed it too much.

use crate::ftl::array::Array;
use crate::ftl::gc::relocation::LAST;
use crate::ftl::parts::frontier::NOBODY;
use crate::ops::{Cause, FlashOps};
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Moves the live data of `superblock` at once, and erases it. `false`: it cannot be yet, since too little
    /// is erased.
    pub(crate) fn refresh<W: FlashOps>(&mut self, superblock: u32, work: &mut W) -> bool {
        let region = self.geometry.region_of(superblock);
        if self.is_open[superblock as usize] {
            let open = (0..self.frontiers.len()).find(|&at| self.frontiers[at].superblock == superblock);
            self.close(open.expect("it is being filled"), work);
        }
        // What is being emptied is so to its end first: that may have been this one.
        if self.has_spare(region) {
            self.copy(region, u32::MAX, work);
        }
        let is_kept = self.place_of[superblock as usize] != NOBODY && !self.is_open[superblock as usize];
        if !is_kept || !self.has_spare(region) || self.regions[region].relocation.is_some() {
            return self.place_of[superblock as usize] == NOBODY;
        }
        let place = self.place_of[superblock as usize] as usize;
        self.begin(place, Cause::Refresh);
        self.copy(region, u32::MAX, work);
        true
    }

    /// Whether data of `region` may move into a superblock that is erased, and another one stays.
    fn has_spare(&self, region: usize) -> bool {
        self.regions[region].erased.len() > LAST && !self.is_worn_out
    }
}
