//! LRU stack distances in one pass.
//!
//! The stack distance of an access is the number of distinct blocks accessed since the last access to the
//! block, including the block. An LRU cache hits if and only if it has at least as many blocks (R. Mattson et
//! al., Evaluation techniques for storage hierarchies, IBM Systems Journal 9(2), 1970). Every access takes
//! the next position of a row, and only the latest position of each block is marked. The stack distance is
//! the number of marks from the previous position of the block to the end of the row (B. Bennett, V. Kruskal,
//! LRU stack processing, IBM J. R&D 19(4), 1975). When the row is full, marked positions are compacted.
//!
//! The memory of a block is 4 bytes for its latest position, its share of the table of regions (two entries
//! of 16 B for at most 16 blocks), and its share of the row (1.5 bits for each of at most 8 positions).

use crate::index::Index;
use crate::marks::Marks;
use prefetch_index::prefetch_index;
use std::ops::Range;

/// Maximum number of positions in a row, which is twice the maximum number of blocks.
const PLACES_MAX: usize = 1 << 31;
/// Number of positions in a row per block. Between two compactions, accesses use 75 % of the positions.
const PLACES_PER_BLOCK: usize = 4;
/// Number of positions in the smallest row.
const PLACES_MIN: usize = 1 << 16;

/// LRU stack of all blocks.
#[derive(Clone, Debug)]
pub struct Distances {
    index: Index,
    /// Binary logarithm of the number of blocks in a region.
    region_bits: u32,
    /// Latest position plus one of each block, indexed by block number. Zero means that the block is not in
    /// the stack.
    latest: Vec<u32>,
    marks: Marks,
}

/// An accessed block and its stack distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Number of the block. Numbers are dense, and a block has the same number in all of its accesses.
    pub number: u32,
    /// Number of distinct blocks accessed since the previous access to the block, including the block. Zero
    /// for the first access to the block.
    pub distance: u32,
}

impl Distances {
    /// Creates an empty stack for adjacent blocks, e.g. those of files and tables.
    pub fn dense() -> Distances {
        Distances::with_regions(4)
    }

    /// Creates an empty stack for scattered blocks, e.g. those of a sample.
    pub fn sparse() -> Distances {
        Distances::with_regions(0)
    }

    fn with_regions(region_bits: u32) -> Distances {
        Distances { index: Index::new(), region_bits, latest: Vec::new(), marks: Marks::new(PLACES_MIN, 0) }
    }

    /// Returns the number of blocks in the stack.
    pub fn blocks(&self) -> u64 {
        u64::from(self.marks.marked())
    }

    /// Accesses `count` blocks of `volume` in order, starting at block `first`. Calls `act` with each block
    /// and its stack distance.
    #[inline]
    pub fn touch(&mut self, volume: u32, first: u64, count: u64, mut act: impl FnMut(Touched)) {
        let (mut block, end) = (first, first + count);
        while block < end {
            let numbers = self.numbers_of(volume, block, end);
            block += numbers.len() as u64;
            for number in numbers {
                act(Touched { number, distance: self.renew(number) });
            }
        }
    }

    /// Returns the numbers of the blocks of `volume` from `block` to `end`, but at most to the end of the
    /// region of `block`. The blocks need not be in the stack.
    #[inline]
    pub(crate) fn numbers_of(&mut self, volume: u32, block: u64, end: u64) -> Range<u32> {
        let region = block >> self.region_bits;
        let base = self.index.number(volume, region) << self.region_bits;
        if base as usize >= self.latest.len() {
            self.latest.resize((self.index.regions() as usize) << self.region_bits, 0);
        }
        let stop = end.min((region + 1) << self.region_bits);
        let first = base + (block & ((1 << self.region_bits) - 1)) as u32;
        first..first + (stop - block) as u32
    }

    /// Prefetches the memory for looking up the number of `block`.
    #[inline]
    pub(crate) fn prefetch_number(&self, volume: u32, block: u64) {
        self.index.prefetch(volume, block >> self.region_bits);
    }

    /// Prefetches the latest position of block number `number`.
    #[inline]
    pub(crate) fn prefetch_latest(&self, number: u32) {
        prefetch_index(&self.latest, number as usize);
    }

    /// Prefetches the memory for moving block number `number` to the top of the stack.
    #[inline]
    pub(crate) fn prefetch_marks(&self, number: u32) {
        self.marks.prefetch(self.latest[number as usize].saturating_sub(1) as usize);
    }

    /// Returns a number that is greater than all block numbers.
    pub(crate) fn numbers(&self) -> u64 {
        self.latest.len() as u64
    }

    /// Returns whether block number `number` is in the stack.
    pub fn holds(&self, number: u32) -> bool {
        self.latest[number as usize] > 0
    }

    /// Removes `block` from a sparse stack. The number of the block is then reused.
    ///
    /// # Panics
    ///
    /// If the block is not in the stack.
    pub fn remove(&mut self, volume: u32, block: u64) {
        assert_eq!(self.region_bits, 0, "blocks that lie side by side share an entry");
        let number = self.index.remove(volume, block);
        let number = number.unwrap_or_else(|| panic!("block {block} of volume {volume} is not in the stack"));
        let latest = &mut self.latest[number as usize];
        self.marks.take(*latest as usize - 1);
        *latest = 0;
    }

    /// Moves block number `number` to the top of the stack. Returns its stack distance, or zero if the block
    /// was not in the stack.
    #[inline]
    pub(crate) fn renew(&mut self, number: u32) -> u32 {
        let next = match self.marks.next() {
            Some(next) => next,
            None => self.move_together(),
        };
        let latest = std::mem::replace(&mut self.latest[number as usize], next as u32 + 1);
        let distance = if latest == 0 { 0 } else { self.marks.take(latest as usize - 1) + 1 };
        self.marks.mark();
        distance
    }

    /// Compacts the marked positions to the front of the row, in order. Returns the first unused position.
    #[cold]
    fn move_together(&mut self) -> usize {
        for latest in self.latest.iter_mut().filter(|latest| **latest > 0) {
            *latest = self.marks.rank(*latest as usize - 1) + 1;
        }
        let blocks = self.marks.marked() as usize;
        assert!(blocks <= PLACES_MAX / 2, "more than 2^30 different blocks: sample them");
        let places = (blocks * PLACES_PER_BLOCK).clamp(PLACES_MIN, PLACES_MAX);
        self.marks = Marks::new(places, blocks);
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes the distances by their definition: with a list of blocks, ordered by their latest access.
    fn brute_force(blocks: &[(u32, u64)]) -> Vec<u32> {
        let mut stack: Vec<(u32, u64)> = Vec::new();
        let touch = |block: &(u32, u64)| {
            let depth = stack.iter().position(|held| held == block);
            if let Some(depth) = depth {
                stack.remove(depth);
            }
            stack.insert(0, *block);
            depth.map_or(0, |depth| depth as u32 + 1)
        };
        blocks.iter().map(touch).collect()
    }

    fn in_one_pass(distances: &mut Distances, blocks: &[(u32, u64)]) -> Vec<u32> {
        let mut found = Vec::new();
        for &(volume, block) in blocks {
            distances.touch(volume, block, 1, |touched| found.push(touched.distance));
        }
        found
    }

    proptest! {
        #[test]
        fn distances_are_those_of_the_definition(
            blocks in prop::collection::vec((0u32..2, 0u64..90), 0..600)
        ) {
            let expected = brute_force(&blocks);
            prop_assert_eq!(in_one_pass(&mut Distances::dense(), &blocks), expected.clone());
            prop_assert_eq!(in_one_pass(&mut Distances::sparse(), &blocks), expected);
        }
    }

    #[test]
    fn the_order_survives_when_the_row_is_full() {
        // 300 blocks are in a row of 2^16, which is compacted after every 65,536 accesses.
        let blocks: Vec<(u32, u64)> = (0..200_000u64).map(|i| (0, i * i % 300)).collect();
        assert_eq!(in_one_pass(&mut Distances::dense(), &blocks), brute_force(&blocks));
        // 100,000 blocks are accessed in a cycle, so that the row has to grow. Each block is at the bottom of
        // the stack when it is accessed.
        let mut distances = Distances::dense();
        let circle: Vec<(u32, u64)> = (0..450_000u64).map(|i| (0, i % 100_000)).collect();
        let found = in_one_pass(&mut distances, &circle);
        assert!(found[..100_000].iter().all(|&distance| distance == 0));
        assert!(found[100_000..].iter().all(|&distance| distance == 100_000));
        assert_eq!(distances.blocks(), 100_000);
    }

    #[test]
    fn a_request_of_many_blocks_is_its_blocks_one_by_one() {
        let (mut whole, mut single) = (Distances::dense(), Distances::dense());
        for (first, count) in [(5, 60), (0, 3), (20, 100), (5, 60)] {
            let mut found = Vec::new();
            whole.touch(1, first, count, |touched| found.push(touched));
            let mut expected = Vec::new();
            for block in first..first + count {
                single.touch(1, block, 1, |touched| expected.push(touched));
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_block_that_was_taken_out_counts_no_more_and_comes_as_new() {
        let mut distances = Distances::sparse();
        assert_eq!(in_one_pass(&mut distances, &[(0, 10), (0, 20), (0, 30)]), [0; 3]);
        distances.remove(0, 20);
        assert_eq!((distances.blocks(), distances.numbers()), (2, 3));
        assert_eq!(in_one_pass(&mut distances, &[(0, 10), (0, 20), (0, 30)]), [2, 0, 3]);
        assert_eq!(distances.numbers(), 3, "its number was free");
    }
}
