//! Mapping of frontiers, slots, and pages to regions, for drives with several regions. Such drives have
//! allocation by plane or reclaim groups.

use crate::config::OPEN;
use crate::ftl::array::Array;
use crate::ftl::parts::regions::Relocation;
use crate::layout::geometry::Geometry;
use crate::ops::FlashOps;
use nacre_media::store::Store;
use std::ops::Range;

impl<S: Store> Array<S> {
    /// Returns the region of `frontier`. Frontiers for host data come first, then those for garbage
    /// collection, then those for wear leveling. Each of these groups is in region order.
    #[inline]
    pub(crate) fn region_of_frontier(&self, frontier: usize) -> usize {
        if self.geometry.has_regions() { frontier % self.regions.len() } else { 0 }
    }

    /// Returns the frontier for host data of `handle` in `region`. Garbage collection frontiers are
    /// numbered in the same order, by data group instead of handle.
    #[inline]
    pub(crate) fn frontier_in(&self, handle: usize, region: usize) -> usize {
        handle * self.regions.len() + region
    }

    /// Returns the wear leveling frontier of `region`.
    #[inline]
    pub(crate) fn wear_frontier(&self, region: usize) -> usize {
        self.frontiers.len() - self.regions.len() + region
    }

    /// Returns the slots of `region`.
    pub(crate) fn places_of(&self, region: usize) -> Range<usize> {
        let partition = &self.partitions[region];
        partition.first..partition.first + partition.count
    }

    /// Returns the superblocks whose valid data is being relocated.
    pub(crate) fn relocations(&self) -> impl Iterator<Item = &Relocation> {
        self.regions.iter().filter_map(|region| region.relocation.as_ref())
    }

    /// Selects the region for `unit`, which is written through `handle`. `old` is the current page of the
    /// unit, counted from 1, or 0 if the unit is unmapped.
    #[inline]
    pub(crate) fn region_for<W: FlashOps>(
        &mut self,
        handle: usize,
        unit: u64,
        old: u64,
        work: &mut W,
    ) -> usize {
        if self.geometry.has_regions() { self.choose_region(handle, unit, old, work) } else { 0 }
    }

    /// Selects the region for `unit` in a drive with several regions.
    #[inline(never)]
    fn choose_region<W: FlashOps>(&mut self, handle: usize, unit: u64, old: u64, work: &mut W) -> usize {
        if !self.geometry.is_by_plane() {
            return self.group_for(unit);
        }
        if !self.allocation.is_dynamic {
            return self.allocation.by_address(unit).0;
        }
        // A unit in the buffer is overwritten in place.
        if old != 0 {
            let region = self.geometry.region_of(self.pool.flash.block_of(old - 1));
            if self.frontiers[self.frontier_in(handle, region)].holds(old - 1) {
                return region;
            }
        }
        let current = self.allocation.in_order[self.allocation.turns[handle] as usize] as usize;
        let frontier = self.frontier_in(handle, current);
        if self.until_complete(frontier) < self.geometry.operation_units && self.room(frontier) > 0 {
            return current;
        }
        self.next_region(handle, work)
    }

    /// Selects the reclaim group for `unit`. Host data uses the group that the placement identifier names,
    /// and a mapping table page uses the group given by its number. If the group is full, the group with the
    /// least data is used.
    fn group_for(&mut self, unit: u64) -> usize {
        let groups = self.geometry.regions;
        let named = match unit.checked_sub(self.geometry.logical_units) {
            Some(page) => (page % u64::from(groups)) as usize,
            None => self.handles.group(),
        };
        if self.has_space_for_page(named) {
            return named;
        }
        let least = (0..groups as usize).min_by_key(|&group| self.partitions[group].live);
        self.handles.count_redirected(unit < self.geometry.logical_units);
        least.expect("a drive has groups")
    }

    /// Selects the region for the next page of `handle`: a plane of the die that is free first, among the
    /// dies with space. The planes of a die are used in rotation.
    fn next_region<W: FlashOps>(&mut self, handle: usize, work: &mut W) -> usize {
        let Geometry { regions, planes, dies, .. } = self.geometry;
        let turn = self.allocation.turns[handle];
        let turns = (1..=regions).map(|step| (turn + step) % regions);
        let in_order = &self.allocation.in_order;
        let region_at = |turn: u32| in_order[turn as usize] as usize;
        let with_space = turns.filter(|&turn| self.has_space_for_page(region_at(turn)));
        // If several dies are free at the same time, they are used in rotation. If all are full, the plane
        // with the least data is used.
        let Some(next) =
            with_space.min_by_key(|&turn| work.die_free_from(self.geometry.die_of(region_at(turn))))
        else {
            let live = |&turn: &u32| self.partitions[region_at(turn)].live;
            let turn = (0..regions).min_by_key(live).expect("a drive has planes");
            self.allocation.turns[handle] = turn;
            return self.allocation.in_order[turn as usize] as usize;
        };
        let die = self.geometry.die_of(region_at(next));
        let last_plane = handle * dies as usize + die as usize;
        let last = self.allocation.last_planes[last_plane];
        let mut in_turn = (1..=planes).map(|turn| (die * planes + (last + turn) % planes) as usize);
        let region = in_turn.find(|&region| self.has_space_for_page(region));
        let region = region.expect("the die has a plane with space");
        self.allocation.last_planes[last_plane] = region as u32 % planes;
        self.allocation.turns[handle] =
            in_order.iter().position(|&other| other == region as u32).expect("all are in order") as u32;
        region
    }

    /// Returns whether `region` has space for one page, or whether garbage collection can reclaim the
    /// space.
    pub(crate) fn has_space_for_page(&self, region: usize) -> bool {
        let full = self
            .pool
            .blocks
            .usable_count(region)
            .saturating_sub(self.geometry.reserve + OPEN + self.geometry.open_for_handles);
        let most = u64::from(full) * u64::from(self.geometry.units_per_superblock - 1);
        self.partitions[region].live + u64::from(self.geometry.units_per_page) <= most
    }

    /// Returns the superblock of `unit`, which was never written, and the number of the unit in the
    /// superblock. The result is the location of the unit in a drive that was filled sequentially.
    pub(crate) fn place_unwritten(&self, unit: u64) -> (u32, u32) {
        let geometry = &self.geometry;
        match geometry.is_by_plane() {
            true => (self.allocation.by_address(unit).0 as u32 * geometry.superblocks_of_region, 0),
            false => geometry.place_in_order(unit),
        }
    }

    /// Returns the operation of `unit`, which was never written. The result is the operation that contains
    /// the unit in a drive that was filled sequentially.
    #[inline]
    pub(crate) fn operation_unwritten(&self, unit: u64) -> u32 {
        let geometry = &self.geometry;
        if !geometry.is_by_plane() {
            return geometry.operation_in_order(unit);
        }
        let (region, pages) = self.allocation.by_address(unit);
        (pages % u64::from(geometry.pages_per_block)) as u32 * geometry.dies + geometry.die_of(region)
    }
}
