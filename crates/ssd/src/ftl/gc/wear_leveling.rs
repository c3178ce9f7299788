//! Static wear leveling: cold data moves to worn blocks.
//!
//! Superblocks with data that is never rewritten are never garbage-collected. They keep few erases, while the
//! others take all. When an erased superblock has more erases than the least worn superblock with data, by
//! more than the spread, that data moves to the erased superblock with the most erases. The less worn
//! superblock is then used like the others.

use crate::ftl::array::Array;
use crate::ftl::gc::relocation::LAST;
use crate::ops::{Cause, FlashOps};
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Moves the data of the least worn superblock of `region` if the difference of erases is too large.
    /// Called after an erase.
    pub(crate) fn level_wear<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        let Some(spread) = self.rules.wear_spread else { return };
        let erased = &self.regions[region].erased;
        if erased.len() <= LAST + 1 {
            return;
        }
        let erases = |superblock: u32| self.flash.blocks()[superblock as usize].erases;
        let most = erased.iter().map(|&(_, superblock)| erases(superblock)).max().unwrap_or(0);
        let filled = self.places_of(region).filter(|&place| self.places[place].programmed > 0);
        let Some(youngest) = filled.min_by_key(|&place| erases(self.order[place])) else { return };
        if most <= erases(self.order[youngest]).saturating_add(spread) {
            return;
        }
        self.programs.levelings += 1;
        if self.handles.level(region, self.order[youngest]) {
            self.close(self.wear_frontier(region), work);
        }
        self.begin(youngest, Cause::Wear);
    }
}
