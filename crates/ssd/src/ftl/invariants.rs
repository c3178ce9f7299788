//! What always holds of the tables of a drive.

use crate::book::Programs;
use crate::ftl::array::Array;
use crate::ftl::parts::frontier::NOBODY;
use nacre_media::store::Store;

/// Units of a mapping that are read to check the books, however few were written: 1 GiB of it.
const READ_ANYWAY: u64 = 1 << 28;

impl<S: Store> Array<S> {
    /// Panics unless the units that are mapped and the pages that are live, so many, belong to each other. Whose each
    /// live page is maps to it; where as many are mapped, that is all of them. In the order of pages only one of the
    /// three tables is read out of order.
    fn check_mapping(&self, live: u64) {
        for (word, &bits) in self.live.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let page = 64 * word + left.trailing_zeros() as usize;
                let owner = self.owners[page];
                let entry = self.entry(owner) as usize;
                assert_eq!(entry, page + 1, "where unit {owner} is whose page {page} is");
                left &= left - 1;
            }
        }
        // Where next to nothing was written, to read GiB of a table that was never touched takes seconds.
        if self.table.len() as u64 > READ_ANYWAY + 64 * self.flash.programs() {
            return;
        }
        let mapped = self.table.mapped();
        assert_eq!(live, mapped as u64, "every live unit is mapped");
    }

    /// Panics when the books do not agree.
    pub(crate) fn check_invariants(&self) {
        let shift = self.geometry.shift;
        let mut live = 0;
        for (place, &superblock) in self.order.iter().enumerate() {
            if superblock == NOBODY {
                assert_eq!(self.places[place].live, 0, "nothing stands in place {place}");
                continue;
            }
            let first = (superblock << shift) as usize / 64;
            let words = &self.live[first..first + self.geometry.units_per_superblock.div_ceil(64) as usize];
            let count: u32 = words.iter().map(|word| word.count_ones()).sum();
            assert_eq!(self.places[place].live, count, "live units in place {place}");
            assert_eq!(self.place_of[superblock as usize] as usize, place, "the superblock in place {place}");
            live += u64::from(count);
        }
        self.check_mapping(live);
        self.handles.check_invariants(&self.frontiers);
        for (index, partition) in self.partitions.iter().enumerate() {
            let places = &self.places[partition.first..partition.first + partition.count];
            let sum: u64 = places.iter().map(|place| u64::from(place.live)).sum();
            assert_eq!(partition.live, sum, "live units in partition {index}");
        }
        for (number, region) in self.regions.iter().enumerate() {
            for &(_, superblock) in &region.erased {
                assert_eq!(self.flash.blocks()[superblock as usize].programmed, 0, "{superblock} is erased");
                assert_eq!(self.geometry.region_of(superblock), number, "the region of {superblock}");
            }
        }
        for (number, open) in self.frontiers.iter().enumerate().filter(|(_, open)| open.superblock != NOBODY)
        {
            let region = self.geometry.region_of(open.superblock);
            assert_eq!(region, self.region_of_frontier(number), "the region of frontier {number}");
        }
        for open in self.frontiers.iter().filter(|open| open.superblock != NOBODY) {
            let next = self.geometry.operation_of(open.superblock, open.issued);
            assert_eq!(open.next_operation, next, "the next operation of superblock {}", open.superblock);
        }
        for (superblock, &is_open) in self.is_open.iter().enumerate() {
            let is_frontier = self.frontiers.iter().any(|open| open.superblock as usize == superblock);
            assert_eq!(is_open, is_frontier, "whether superblock {superblock} is being filled");
        }
        let Programs { host, cleaned, leveled, mapping, padding, .. } = self.programs;
        assert_eq!(
            self.flash.programs(),
            host + cleaned + leveled + mapping + padding,
            "programs have causes"
        );
        self.blocks.check_invariants(self.flash.erases());
        self.slc.check_invariants();
    }
}
