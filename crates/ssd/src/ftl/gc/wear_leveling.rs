//! Wear leveling: cold data moves to where the blocks are worn.
//!
//! Superblocks with data that nobody writes are never cleaned and stay young, while the others take all
//! erases. When an erased superblock is ahead of the youngest one with data by more than the spread, that
//! data moves into the erased superblock with the most erases, and the young one joins the others.

use crate::ftl::array::Array;
use crate::ftl::gc::relocation::LAST;
use crate::ops::{Cause, FlashOps};
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Moves the data of the youngest superblock of `region` where erases have spread too far. Called after an erase.
    pub(crate) fn level_wear<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        let spread = self.rules.wear_spread;
        let erased = &self.regions[region].erased;
        if spread == 0 || erased.len() <= LAST + 1 {
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
