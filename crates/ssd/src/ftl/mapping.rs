//! A mapping table in flash, whose pages are programmed and moved like data.

use crate::ftl::array::Array;
use crate::ftl::gc::relocation::LAST;
use crate::ops::{Cause, FlashOps};
use nacre_media::store::Store;

/// Placement handle through which pages of the mapping table are written.
const HANDLE: usize = 0;

impl<S: Store> Array<S> {
    /// Programs the changed page `page` of the mapping table, among host data.
    pub(crate) fn write_mapping<W: FlashOps>(&mut self, page: u32, work: &mut W) {
        if self.mapping.as_ref().is_some_and(|mapping| mapping.merges()) {
            self.read_mapping(page, work);
        }
        let unit = self.geometry.logical_units + u64::from(page);
        let region = self.region_for(HANDLE, unit, self.entry(unit), work);
        let frontier = self.frontier_in(HANDLE, region);
        if self.room(frontier) == 0 && !self.next_superblock(frontier, work) {
            return;
        }
        self.append_mapping(page, frontier, work);
        self.count_pace(region, work);
    }

    /// Programs page `page` of the mapping table in `frontier`, which has space.
    fn append_mapping<W: FlashOps>(&mut self, page: u32, frontier: usize, work: &mut W) {
        let unit = self.geometry.logical_units + u64::from(page);
        let old = self.entry(unit);
        if old != 0 {
            self.invalidate(old - 1);
        }
        self.append(frontier, unit, Cause::Mapping, work);
        self.pool.programs.mapping += 1;
    }

    /// Records that the data of `unit` moved, which changes its mapping.
    #[inline]
    pub(crate) fn note_moved(&mut self, unit: u64) {
        if let Some(mapping) = &mut self.mapping
            && unit < self.geometry.logical_units
        {
            mapping.moved(unit);
        }
    }

    /// Programs each uncached table page with moved mappings once, in the region of the page. Called after
    /// a superblock of the region `cleaned` was emptied. If a region has almost no erased superblocks, its
    /// pages wait in DRAM.
    pub(crate) fn write_moved<W: FlashOps>(&mut self, cleaned: usize, work: &mut W) {
        let mut waiting = Vec::new();
        while (0..self.regions.len()).any(|region| self.pool.erased_count(region) > LAST)
            && let Some(page) = self.mapping.as_mut().and_then(|mapping| mapping.take_moved())
        {
            match self.region_of_mapping(page, cleaned).filter(|&at| self.pool.erased_count(at) > LAST) {
                Some(region) => self.write_anew(page, self.host_frontiers + region, work),
                None => waiting.push(page),
            }
        }
        for page in waiting.into_iter().rev() {
            self.mapping.iter_mut().for_each(|mapping| mapping.put_back(page));
        }
    }

    /// Returns the region for page `page` of the mapping table. A page that was never programmed goes to
    /// the region given by its number, or to the region `cleaned`. Returns `None` if `cleaned` has no space
    /// for the page.
    fn region_of_mapping(&self, page: u32, cleaned: usize) -> Option<usize> {
        let unit = self.geometry.logical_units + u64::from(page);
        match self.entry(unit) {
            _ if !self.geometry.has_regions() => Some(0),
            0 if self.allocation.is_dynamic || !self.geometry.is_by_plane() => {
                self.has_space_for_page(cleaned).then_some(cleaned)
            }
            0 => Some(self.allocation.by_address(unit).0),
            entry => Some(self.geometry.region_of(self.pool.flash.block_of(entry - 1))),
        }
    }

    /// Reads page `page` of the mapping table, and programs it with its changes in the garbage collection
    /// frontier `frontier`.
    fn write_anew<W: FlashOps>(&mut self, page: u32, frontier: usize, work: &mut W) {
        self.read_mapping(page, work);
        if self.room(frontier) == 0 {
            self.seal(frontier, Cause::Cleaning, work);
            self.open_next(frontier);
        }
        self.append_mapping(page, frontier, work);
    }

    /// Reads page `page` of the mapping table if it was ever programmed.
    fn read_mapping<W: FlashOps>(&mut self, page: u32, work: &mut W) {
        let entry = self.entry(self.geometry.logical_units + u64::from(page));
        if entry != 0 && !self.is_held(entry - 1) {
            let (superblock, operation) = self.locate(entry - 1);
            work.read(superblock, operation, self.cells(superblock), 1, Cause::Mapping);
        }
    }
}
