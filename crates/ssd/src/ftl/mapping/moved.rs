//! Updates of a mapping table in flash after garbage collection.

use crate::ftl::array::Array;
use crate::ftl::gc::relocation::LAST;
use crate::ops::{Cause, FlashOps};
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Notes that the data of `unit` moved, so that its mapping has changed.
    #[inline]
    pub(crate) fn note_moved(&mut self, unit: u32) {
        if let Some(mapping) = &mut self.mapping
            && unit < self.geometry.logical_units
        {
            mapping.moved(unit);
        }
    }

    /// Programs the table pages whose mappings moved and are not cached, each once, after a superblock of
    /// `region` was emptied. If almost no superblock is erased, they wait in DRAM for the next victim.
    pub(crate) fn write_moved<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        if self.geometry.has_regions() {
            return self.write_moved_in_planes(region, work);
        }
        while self.regions[0].erased.len() > LAST {
            let Some(page) = self.mapping.as_mut().and_then(|mapping| mapping.take_moved()) else { return };
            self.write_anew(page, self.host_frontiers, work);
        }
    }

    /// Reads page `page` of the mapping table and programs it with its changes, in `frontier` of garbage
    /// collection.
    pub(crate) fn write_anew<W: FlashOps>(&mut self, page: u32, frontier: usize, work: &mut W) {
        self.read_mapping(page, Cause::Mapping, work);
        if self.room(frontier) == 0 {
            self.seal(frontier, Cause::Cleaning, work);
            self.open_next(frontier);
        }
        self.append_mapping(page, frontier, work);
    }

    /// Reads page `page` of the mapping table if it was ever programmed.
    pub(crate) fn read_mapping<W: FlashOps>(&mut self, page: u32, cause: Cause, work: &mut W) {
        let entry = self.entry(self.geometry.logical_units + page);
        if entry != 0 && !self.is_held(entry - 1) {
            let (superblock, operation) = self.locate(entry - 1);
            work.read(superblock, operation, self.cells(superblock), 1, cause);
        }
    }

    /// The superblock and the operation of `page`.
    #[inline]
    pub(crate) fn locate(&self, page: u32) -> (u32, u32) {
        let superblock = self.flash.block_of(page);
        let index = page & ((1 << self.geometry.shift) - 1);
        (superblock, self.geometry.operation_of(superblock, index))
    }
}
