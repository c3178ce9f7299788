//! Mapping of blocks to dense numbers: an open-addressing table of regions.
//!
//! A region is a run of adjacent blocks in one volume. The blocks of a region have contiguous numbers.
//! Per-block data is therefore an array, and a long request needs one look-up per region instead of one per
//! block.

use prefetch_index::prefetch_index;

/// Number of slots in the smallest table.
const SMALLEST: usize = 1 << 10;

/// Region number that marks a free slot.
const FREE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    region: u64,
    volume: u32,
    number: u32,
}

/// Table of regions and their numbers. Numbers are assigned from zero in insertion order, and numbers of
/// removed regions are reused.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    shift: u32,
    regions: u32,
    /// Numbers below `regions` that are not assigned to a region.
    unused: Vec<u32>,
}

/// Returns a 64-bit hash of a volume and the number of a region or block (the finalizer of MurmurHash3).
#[inline]
pub(crate) fn hash(volume: u32, number: u64) -> u64 {
    let mut bits = number ^ u64::from(volume).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}

impl Index {
    pub(crate) fn new() -> Index {
        let free = Entry { region: 0, volume: 0, number: FREE };
        Index {
            entries: vec![free; SMALLEST],
            shift: 64 - SMALLEST.trailing_zeros(),
            regions: 0,
            unused: Vec::new(),
        }
    }

    /// Returns the maximum number of regions that were in use at the same time. All region numbers are below
    /// this maximum.
    pub(crate) fn regions(&self) -> u32 {
        self.regions
    }

    /// Returns the number of a region. Assigns a number if the region has none.
    #[inline]
    pub(crate) fn number(&mut self, volume: u32, region: u64) -> u32 {
        let mut place = (hash(volume, region) >> self.shift) as usize;
        loop {
            let entry = &self.entries[place];
            if entry.number == FREE {
                return self.add(volume, region);
            }
            if entry.region == region && entry.volume == volume {
                return entry.number;
            }
            place = (place + 1) & (self.entries.len() - 1);
        }
    }

    /// Prefetches the slot at which the search for a region starts.
    #[inline]
    pub(crate) fn prefetch(&self, volume: u32, region: u64) {
        prefetch_index(&self.entries, (hash(volume, region) >> self.shift) as usize);
    }

    #[cold]
    fn add(&mut self, volume: u32, region: u64) -> u32 {
        if self.regions as usize - self.unused.len() >= self.entries.len() / 2 {
            self.grow();
        }
        let number = self.unused.pop().unwrap_or_else(|| {
            assert!(self.regions < FREE, "more regions than numbers");
            self.regions += 1;
            self.regions - 1
        });
        self.place(Entry { region, volume, number });
        number
    }

    /// Removes a region and returns its number, or `None` if the region is not in the table.
    pub(crate) fn remove(&mut self, volume: u32, region: u64) -> Option<u32> {
        let mask = self.entries.len() - 1;
        let mut hole = (hash(volume, region) >> self.shift) as usize;
        while self.entries[hole].region != region || self.entries[hole].volume != volume {
            if self.entries[hole].number == FREE {
                return None;
            }
            hole = (hole + 1) & mask;
        }
        let number = self.entries[hole].number;
        if number == FREE {
            return None;
        }
        // Later entries move up if the search for them would otherwise end at the free slot.
        let mut place = hole;
        loop {
            place = (place + 1) & mask;
            let entry = self.entries[place];
            if entry.number == FREE {
                break;
            }
            let home = (hash(entry.volume, entry.region) >> self.shift) as usize;
            if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(hole) & mask) {
                self.entries[hole] = entry;
                hole = place;
            }
        }
        self.entries[hole].number = FREE;
        self.unused.push(number);
        Some(number)
    }

    fn place(&mut self, entry: Entry) {
        let mut place = (hash(entry.volume, entry.region) >> self.shift) as usize;
        while self.entries[place].number != FREE {
            place = (place + 1) & (self.entries.len() - 1);
        }
        self.entries[place] = entry;
    }

    fn grow(&mut self) {
        let free = Entry { region: 0, volume: 0, number: FREE };
        let old = std::mem::take(&mut self.entries);
        self.entries = vec![free; old.len() * 2];
        self.shift -= 1;
        for entry in old.into_iter().filter(|entry| entry.number != FREE) {
            self.place(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_region_keeps_its_number_while_the_table_grows() {
        let mut index = Index::new();
        let regions: Vec<(u32, u64)> = (0..5000u64).map(|i| ((i % 3) as u32, i / 3 * 977)).collect();
        for (expected, &(volume, region)) in regions.iter().enumerate() {
            assert_eq!(index.number(volume, region), expected as u32);
        }
        for (expected, &(volume, region)) in regions.iter().enumerate() {
            assert_eq!(index.number(volume, region), expected as u32);
        }
        assert_eq!(index.regions(), 5000);
    }

    #[test]
    fn numbers_of_regions_that_left_are_given_out_again() {
        let mut index = Index::new();
        let mut numbers = std::collections::BTreeMap::new();
        let mut next = 1_u64;
        for step in 0..60_000_u64 {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Up to 900 of 4,000 regions are in use at a time.
            let region = next >> 33 & 0xfff;
            if numbers.len() == 900 || step % 3 == 0 {
                assert_eq!(index.remove(1, region), numbers.remove(&region), "step {step}");
            } else {
                let number = index.number(1, region);
                assert_eq!(*numbers.entry(region).or_insert(number), number, "step {step}");
            }
        }
        let distinct: std::collections::BTreeSet<u32> = numbers.values().copied().collect();
        assert_eq!(distinct.len(), numbers.len());
        assert!(index.regions() <= 900, "{} numbers", index.regions());
    }
}
