//! Checks of restored state. Every number in the tables must be within the drive.

use crate::ftl::array::Array;
use crate::ftl::parts::frontier::ABSENT;
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    pub(crate) fn check_restored(&mut self) -> Result<(), String> {
        let (superblocks, places) = (self.place_of.len() as u32, self.places.len() as u32);
        let below = |what: &str, most: u32, bound: u32| match most < bound {
            true => Ok(()),
            false => Err(format!("{what} {most} of {bound}")),
        };
        // Tables have millions of entries, and a maximum requires no branch per entry.
        let largest = |numbers: &mut dyn Iterator<Item = u32>| numbers.fold(0, u32::max);
        let real = |number: &u32| *number != ABSENT;
        let units = self.owners.len() as u32;
        below("logical unit", self.owners.iter().copied().fold(0, u32::max), self.table.len() as u32)?;
        if self.table.is_derived() {
            self.find_table();
        }
        below("physical unit", self.table.entries().fold(0, u32::max), units + 1)?;
        let mut standing = self.order.iter().copied().filter(real);
        below("superblock", largest(&mut standing), superblocks)?;
        below(
            "superblock",
            largest(&mut self.regions.iter().flat_map(|of| &of.erased).map(|&(_, superblock)| superblock)),
            superblocks,
        )?;
        let mut open = self.frontiers.iter().map(|open| open.superblock).filter(real);
        below("superblock", largest(&mut open), superblocks)?;
        below("place", largest(&mut self.place_of.iter().copied().filter(real)), places)?;
        below("place", largest(&mut self.regions.iter().flat_map(|of| &of.empty).copied()), places)?;
        below("active place", largest(&mut self.partitions.iter().map(|part| part.active as u32)), places)?;
        self.spare.fit(S::CARRIES_BYTES, self.owners.len(), &self.table)
    }

    /// Rebuilds the mapping table from the units of valid pages.
    fn find_table(&mut self) {
        for (word, &bits) in (0..).zip(&self.valid) {
            let mut left = bits;
            while left != 0 {
                let page = 64 * word + left.trailing_zeros();
                self.table.set(self.owners[page as usize], page + 1, &self.owners);
                left &= left - 1;
            }
        }
    }
}
