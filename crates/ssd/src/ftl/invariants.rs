//! Invariants of the tables of a drive, and checks of restored state. Every number in the tables must be
//! valid for the drive.

use crate::ftl::array::Array;
use crate::superblocks::ABSENT;
use nacre_media::store::Store;

/// Maximum number of units of a mapping table that is always checked completely. A table with this number
/// of units takes 1 GiB.
const READ_ANYWAY: u64 = 1 << 28;

impl<S: Store> Array<S> {
    /// Panics unless the mapping table and the `live` valid pages are consistent: each valid page must be
    /// mapped by its owner, and the number of valid pages must equal the number of mapped units. Together,
    /// these conditions cover all mapped units. The check runs in page order, so that only one of the three
    /// tables is accessed randomly.
    fn check_mapping(&self, live: u64) {
        for (word, &bits) in self.valid.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let page = 64 * word + left.trailing_zeros() as usize;
                let owner = self.owners.get(page);
                let entry = self.entry(owner) as usize;
                assert_eq!(entry, page + 1, "where unit {owner} is whose page {page} is");
                if owner < self.geometry.logical_units {
                    self.handles.check_part(page, page >> self.geometry.shift);
                }
                left &= left - 1;
            }
        }
        // Checking gigabytes of an unused table would take seconds.
        if self.table.len() as u64 > READ_ANYWAY + 64 * self.pool.flash.programs() {
            return;
        }
        let mapped = self.table.mapped();
        assert_eq!(live, mapped as u64, "every valid page is mapped");
    }

    /// Panics if the tables are inconsistent.
    pub(crate) fn check_invariants(&self) {
        let shift = self.geometry.shift;
        let mut live = 0;
        for (place, &superblock) in self.order.iter().enumerate() {
            if superblock == ABSENT {
                assert_eq!(self.places[place].live, 0, "no superblock is in slot {place}");
                continue;
            }
            let first = (superblock as usize) << shift >> 6;
            let words = &self.valid[first..first + self.geometry.units_per_superblock.div_ceil(64) as usize];
            let count: u32 = words.iter().map(|word| word.count_ones()).sum();
            assert_eq!(self.places[place].live, count, "valid units in slot {place}");
            assert_eq!(self.place_of[superblock as usize] as usize, place, "the superblock in place {place}");
            live += u64::from(count);
        }
        self.check_mapping(live);
        self.handles.check_invariants(&self.frontiers);
        for (index, partition) in self.partitions.iter().enumerate() {
            let places = &self.places[partition.first..partition.first + partition.count];
            let sum: u64 = places.iter().map(|place| u64::from(place.live)).sum();
            assert_eq!(partition.live, sum, "valid units in partition {index}");
        }
        for (number, open) in self.frontiers.iter().enumerate().filter(|(_, open)| open.superblock != ABSENT)
        {
            let region = self.geometry.region_of(open.superblock);
            assert_eq!(region, self.region_of_frontier(number), "the region of frontier {number}");
        }
        for open in self.frontiers.iter().filter(|open| open.superblock != ABSENT) {
            let next = self.geometry.operation_of(open.superblock, open.issued);
            assert_eq!(open.next_operation, next, "the next operation of superblock {}", open.superblock);
        }
        for (superblock, &is_open) in self.is_open.iter().enumerate() {
            let is_frontier = self.frontiers.iter().any(|open| open.superblock as usize == superblock);
            assert_eq!(is_open, is_frontier, "whether superblock {superblock} is open");
        }
        self.pool.check_invariants();
        self.slc.check_invariants();
    }

    pub(crate) fn check_restored(&mut self) -> Result<(), String> {
        let (superblocks, places) = (self.place_of.len() as u64, self.places.len() as u64);
        let below = |what: &str, most: u64, bound: u64| match most < bound {
            true => Ok(()),
            false => Err(format!("{what} {most} of {bound}")),
        };
        // Tables have millions of entries, and a maximum requires no branch per entry.
        let largest = |numbers: &mut dyn Iterator<Item = u32>| numbers.fold(0, u32::max).into();
        let real = |number: &u32| *number != ABSENT;
        below("logical unit", self.owners.largest(), self.table.len() as u64)?;
        if self.table.is_derived() {
            self.find_table();
        }
        below("physical unit", self.table.entries().fold(0, u64::max), self.geometry.numbers() as u64 + 1)?;
        let mut standing = self.order.iter().copied().filter(real);
        below("superblock", largest(&mut standing), superblocks)?;
        let mut open = self.frontiers.iter().map(|open| open.superblock).filter(real);
        below("superblock", largest(&mut open), superblocks)?;
        below("place", largest(&mut self.place_of.iter().copied().filter(real)), places)?;
        below("place", largest(&mut self.regions.iter().flat_map(|of| &of.empty).copied()), places)?;
        below("active place", largest(&mut self.partitions.iter().map(|part| part.active as u32)), places)?;
        self.spare.fit(S::CARRIES_BYTES, self.geometry.numbers(), &self.table)
    }

    /// Rebuilds the mapping table from the owners of valid pages.
    fn find_table(&mut self) {
        for (word, &bits) in (0..).zip(&self.valid) {
            let mut left = bits;
            while left != 0 {
                let page = 64 * word + u64::from(left.trailing_zeros());
                self.table.set(self.owners.get(page as usize), page + 1, &self.owners);
                left &= left - 1;
            }
        }
    }
}
