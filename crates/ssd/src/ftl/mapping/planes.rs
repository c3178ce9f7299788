//! A mapping table in flash with allocation by plane: its pages are stored in the planes like data.

use crate::ftl::array::Array;
use crate::ftl::gc::relocation::LAST;
use crate::ops::FlashOps;
use nacre_media::store::Store;

/// The placement handle that pages of the mapping table are written through.
const HANDLE: usize = 0;

impl<S: Store> Array<S> {
    /// Programs page `page` of the mapping table with its changes, among the host data, in the plane given by
    /// its number or on the die that is free first.
    pub(crate) fn write_mapping_in_plane<W: FlashOps>(&mut self, page: u32, work: &mut W) {
        let unit = self.geometry.logical_units + page;
        let region = self.region_for(HANDLE, unit, self.entry(unit), work);
        let frontier = self.frontier_in(HANDLE, region);
        if self.room(frontier) == 0 && !self.next_superblock(frontier, work) {
            return;
        }
        self.append_mapping(page, frontier, work);
        self.count_pace_of_plane(region, work);
    }

    /// Programs the table pages whose mappings moved and are not cached, each once and in its plane, after a
    /// block of `region` was emptied. If almost no block is erased there, they wait in DRAM.
    pub(crate) fn write_moved_in_planes<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        let mut waiting = Vec::new();
        while let Some(page) = self.mapping.as_mut().and_then(|mapping| mapping.take_moved()) {
            match self.region_of_mapping(page, region).filter(|&at| self.regions[at].erased.len() > LAST) {
                Some(region) => self.write_anew(page, self.host_frontiers + region, work),
                None => waiting.push(page),
            }
        }
        for page in waiting.into_iter().rev() {
            self.mapping.iter_mut().for_each(|mapping| mapping.put_back(page));
        }
    }

    /// The region of page `page` of the mapping table. A page that was never programmed goes to the region
    /// given by its number, or to the `cleaned` region, if there is space.
    fn region_of_mapping(&self, page: u32, cleaned: usize) -> Option<usize> {
        let unit = self.geometry.logical_units + page;
        match self.entry(unit) {
            0 if self.allocation.is_dynamic || !self.geometry.is_by_plane() => {
                self.has_space_for_page(cleaned).then_some(cleaned)
            }
            0 => Some(self.allocation.by_address(unit).0),
            entry => Some(self.geometry.region_of(self.flash.block_of(entry - 1))),
        }
    }
}
