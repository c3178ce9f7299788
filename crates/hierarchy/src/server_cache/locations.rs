//! Locations of blocks on the device of a level.

use crate::map::Map;
use nacre_kernel::state::State;

/// Assigns a separate location to every block. On insertion, block n gets the location n modulo
/// the number of locations if it is free, so that adjacent blocks stay adjacent.
/// Otherwise, the block gets the lowest free location.
///
/// Memory grows with the number of resident blocks, not with the number of locations.
#[derive(Debug, State)]
#[state(after = "Locations::check_restored")]
pub(super) struct Locations {
    /// Number of locations on the device.
    #[state(same)]
    locations: u64,
    /// Location of each resident block.
    of: Map,
    taken: Taken,
}

/// Set of occupied locations, stored as a tree of 64-bit words. A bit of the lowest level represents a
/// location. A bit of a higher level represents a word of the level below, and is set if that word is full.
/// Missing words are zero.
#[derive(Debug, State)]
struct Taken {
    levels: Vec<Map>,
}

impl Locations {
    /// Creates an empty set, in which all locations are free.
    pub(super) fn new(locations: u64) -> Locations {
        Locations { locations, of: Map::new(), taken: Taken::new(locations) }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let is_right = |(_, location)| location < self.locations && self.taken.contains(location);
        match self.of.iter().all(is_right) && self.taken.count() == self.of.len() as u64 {
            true => Ok(()),
            false => Err(format!("{} blocks of a cache share locations", self.of.len())),
        }
    }

    /// Number of resident blocks.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.of.len() as u64
    }

    /// The resident blocks in numerical order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u64> {
        let mut blocks: Vec<u64> = self.of.iter().map(|(block, _)| block).collect();
        blocks.sort_unstable();
        blocks.into_iter()
    }

    /// Location of `block`; `None` if it is not resident.
    #[inline]
    pub(super) fn get(&self, block: u64) -> Option<u64> {
        self.of.get(block)
    }

    /// Inserts `block` and returns its location.
    pub(super) fn enter(&mut self, block: u64) -> u64 {
        let home = block % self.locations;
        let location = if self.taken.contains(home) { self.taken.lowest_free() } else { home };
        assert!(
            location < self.locations,
            "block {block} comes in, and all {} locations are taken",
            self.locations
        );
        self.taken.take(location);
        self.of.set(block, location);
        location
    }

    /// Inserts `block` at the free location `location`.
    pub(super) fn enter_at(&mut self, block: u64, location: u64) {
        assert!(
            location < self.locations && !self.taken.contains(location),
            "location {location} is not free"
        );
        self.taken.take(location);
        self.of.set(block, location);
    }

    /// Removes the resident `block`. Returns its location, which is now free.
    pub(super) fn leave(&mut self, block: u64) -> u64 {
        let location = self.of.remove(block).expect("a block that leaves has a location");
        self.taken.release(location);
        location
    }

    /// Replaces `victim` with `block`. Returns the former location of `victim` and the location of `block`,
    /// which are equal if all locations are occupied.
    pub(super) fn replace(&mut self, victim: u64, block: u64) -> (u64, u64) {
        if self.len() < self.locations {
            return (self.leave(victim), self.enter(block));
        }
        let location = self.of.remove(victim).expect("a block that leaves has a location");
        self.of.set(block, location);
        (location, location)
    }

    /// Prefetches the memory for look-ups of `blocks`.
    #[inline]
    pub(super) fn prefetch(&self, blocks: &[u64]) {
        blocks.iter().for_each(|&block| self.of.prefetch(block));
    }

    /// Panics unless all blocks have different locations and all other locations are free.
    pub(super) fn check_invariants(&self) {
        self.of.check_invariants();
        let mut locations: Vec<u64> = self.of.iter().map(|(_, location)| location).collect();
        locations.sort_unstable();
        assert!(locations.windows(2).all(|pair| pair[0] < pair[1]), "two blocks share a location");
        assert!(
            locations.last().is_none_or(|&last| last < self.locations),
            "a location is not on the device"
        );
        assert!(
            locations.iter().all(|&location| self.taken.contains(location)),
            "the location of a block is free"
        );
        assert_eq!(self.taken.count(), self.len(), "a location without a block is taken");
        self.taken.check_invariants();
    }
}

impl Taken {
    fn new(locations: u64) -> Taken {
        let (mut levels, mut words) = (vec![Map::new()], locations.div_ceil(64));
        while words > 1 {
            levels.push(Map::new());
            words = words.div_ceil(64);
        }
        Taken { levels }
    }

    #[inline]
    fn contains(&self, location: u64) -> bool {
        self.levels[0].get(location >> 6).is_some_and(|word| word >> (location & 63) & 1 == 1)
    }

    fn take(&mut self, mut at: u64) {
        for level in &mut self.levels {
            let word = level.get(at >> 6).unwrap_or(0) | 1 << (at & 63);
            level.set(at >> 6, word);
            if word != u64::MAX {
                return;
            }
            at >>= 6;
        }
    }

    fn release(&mut self, mut at: u64) {
        for level in &mut self.levels {
            let word = level.get(at >> 6).unwrap_or(0);
            level.set(at >> 6, word & !(1 << (at & 63)));
            if word != u64::MAX {
                return;
            }
            at >>= 6;
        }
    }

    /// Lowest free location. If none is free, returns a value past the last location, because bits past it
    /// are never set.
    fn lowest_free(&self) -> u64 {
        let step = |at: u64, level: &Map| at << 6 | u64::from(level.get(at).unwrap_or(0).trailing_ones());
        self.levels.iter().rev().fold(0, step)
    }

    fn count(&self) -> u64 {
        self.levels[0].iter().map(|(_, word)| u64::from(word.count_ones())).sum()
    }

    fn check_invariants(&self) {
        self.levels.iter().for_each(Map::check_invariants);
        for pair in self.levels.windows(2) {
            let full = || pair[0].iter().filter(|&(_, word)| word == u64::MAX);
            let marked: u32 = pair[1].iter().map(|(_, word)| word.count_ones()).sum();
            assert_eq!(full().count(), marked as usize, "full words are marked");
            for (at, _) in full() {
                let above = pair[1].get(at >> 6).unwrap_or(0);
                assert!(above >> (at & 63) & 1 == 1, "word {at} is full and not marked");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_at_its_home_or_the_lowest_free_location() {
        for count in [1, 5, 64, 65, 5000] {
            let mut random = nacre_kernel::Streams::new(count).stream("places");
            let (mut locations, mut naive) = (Locations::new(count), vec![None; count as usize]);
            for step in 0..4000 {
                let block = random.below(3 * count);
                match naive.iter().position(|&held| held == Some(block)) {
                    Some(location) => {
                        assert_eq!(locations.get(block), Some(location as u64));
                        assert_eq!(locations.leave(block), location as u64);
                        naive[location] = None;
                    }
                    None => {
                        assert_eq!(locations.get(block), None);
                        let home = (block % count) as usize;
                        let free = naive.iter().position(Option::is_none);
                        let location = if naive[home].is_none() { Some(home) } else { free };
                        let Some(location) = location else { continue };
                        assert_eq!(locations.enter(block), location as u64);
                        naive[location] = Some(block);
                    }
                }
                if step % 400 == 0 {
                    locations.check_invariants();
                }
            }
        }
    }

    #[test]
    fn a_device_of_any_size_has_places() {
        let mut locations = Locations::new(1 << 55);
        let blocks: Vec<u64> = (0..100).map(|number| 7 + (number << 55)).collect();
        for &block in &blocks {
            locations.enter(block);
        }
        locations.check_invariants();
        assert_eq!(locations.get(7), Some(7));
        assert_eq!(locations.get(blocks[99]), Some(99), "the home and 98 locations below were taken");
    }
}
