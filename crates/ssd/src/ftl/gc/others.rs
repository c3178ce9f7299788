//! Relocations that are independent of the rate of host writes: garbage collection while the host is idle,
//! refresh, and static wear leveling.
//!
//! *Static wear leveling*: superblocks with data that is never rewritten are never garbage-collected. They
//! keep few erases, while the other superblocks are erased often. The spread limits the difference in
//! erases between an erased superblock and the least worn superblock with data. Beyond this limit, the data
//! moves to the erased superblock with the most erases. The less worn superblock is then used like the
//! others.

use crate::config::OPEN;
use crate::ftl::array::Array;
use crate::ftl::gc::relocation::LAST;
use crate::ops::{Cause, FlashOps};
use crate::superblocks::ABSENT;
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Returns whether some region has fewer erased superblocks than `idle_reserve` requires, and has space
    /// for that number.
    pub(crate) fn cleans_while_idle(&self) -> bool {
        !self.is_worn_out && (0..self.regions.len()).any(|region| self.cleans_region(region))
    }

    fn cleans_region(&self, region: usize) -> bool {
        let wanted = self.rules.erased_while_idle;
        if self.pool.erased_count(region) >= wanted as usize {
            return false;
        }
        wanted <= self.most_erased(region)
    }

    /// Returns the maximum number of erased superblocks in `region`. The other superblocks contain the
    /// data, with one invalid unit in each, or are open.
    pub(crate) fn most_erased(&self, region: usize) -> u32 {
        let live =
            if self.geometry.has_regions() { self.partitions[region].live } else { self.table.len() as u64 };
        let holding = live.div_ceil(u64::from(self.geometry.units_per_superblock - 1));
        let open = OPEN + self.geometry.open_for_handles;
        self.pool.blocks.usable_count(region).saturating_sub(holding as u32 + open)
    }

    /// In each region that needs erased superblocks, copies as many units as its dies program
    /// simultaneously. The units come from victims in progress or from new victims.
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

    /// Moves the valid units of `superblock` immediately, and erases it. Returns `false` if too few
    /// superblocks are erased.
    pub(crate) fn refresh<W: FlashOps>(&mut self, superblock: u32, work: &mut W) -> bool {
        let region = self.geometry.region_of(superblock);
        if self.is_open[superblock as usize] {
            let open = (0..self.frontiers.len()).find(|&at| self.frontiers[at].superblock == superblock);
            self.close(open.expect("an open superblock has a frontier"), work);
        }
        // This finishes the relocation in progress, which may be that of `superblock`.
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

    /// Returns whether `region` has an erased superblock that can receive moved data, and another one in
    /// reserve.
    fn has_spare(&self, region: usize) -> bool {
        self.pool.erased_count(region) > LAST && !self.is_worn_out
    }

    /// Moves the data of the least worn superblock of `region` if the difference in erases is too large.
    /// Called after an erase.
    pub(crate) fn level_wear<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        let Some(spread) = self.rules.wear_spread else { return };
        if self.pool.erased_count(region) <= LAST + 1 {
            return;
        }
        let erases = |superblock: u32| self.pool.erases_of(superblock);
        let most = self.pool.erased(region).map(erases).max().unwrap_or(0);
        let filled = self.places_of(region).filter(|&place| self.places[place].programmed > 0);
        let Some(youngest) = filled.min_by_key(|&place| erases(self.order[place])) else { return };
        if most <= erases(self.order[youngest]).saturating_add(spread) {
            return;
        }
        self.pool.programs.levelings += 1;
        if self.handles.level(region, self.order[youngest]) {
            self.close(self.wear_frontier(region), work);
        }
        self.begin(youngest, Cause::Wear);
    }
}
