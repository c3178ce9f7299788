//! Locations of blocks on the device of a level.

use crate::map::Map;
use nacre_kernel::state::State;

/// Every block has its own location: its number modulo the number of locations, if that is free on insertion,
/// so that adjacent blocks stay adjacent; otherwise the lowest free one.
///
/// Memory grows with the resident blocks, never with the locations.
#[derive(Debug, State)]
#[state(after = "Places::check_restored")]
pub(super) struct Places {
    /// Locations of the device.
    #[state(same)]
    places: u64,
    /// The location of each block.
    of: Map,
    taken: Taken,
}

/// Occupied locations: a tree of 64-bit words. A bit of the lowest level is a location, a bit above it is a
/// full word. Missing words are zero.
#[derive(Debug, State)]
struct Taken {
    levels: Vec<Map>,
}

impl Places {
    /// All locations free.
    pub(super) fn new(places: u64) -> Places {
        Places { places, of: Map::new(), taken: Taken::new(places) }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let is_right = |(_, place)| place < self.places && self.taken.contains(place);
        match self.of.iter().all(is_right) && self.taken.count() == self.of.len() as u64 {
            true => Ok(()),
            false => Err(format!("{} blocks of a cache share places", self.of.len())),
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

    /// Location of `block`, if resident.
    #[inline]
    pub(super) fn get(&self, block: u64) -> Option<u64> {
        self.of.get(block)
    }

    /// Inserts `block`; returns its location.
    pub(super) fn enter(&mut self, block: u64) -> u64 {
        let home = block % self.places;
        let place = if self.taken.contains(home) { self.taken.lowest_free() } else { home };
        assert!(place < self.places, "block {block} comes in, and all {} places are taken", self.places);
        self.taken.take(place);
        self.of.set(block, place);
        place
    }

    /// Inserts `block` at the free location `place`.
    pub(super) fn enter_at(&mut self, block: u64, place: u64) {
        assert!(place < self.places && !self.taken.contains(place), "place {place} is not free");
        self.taken.take(place);
        self.of.set(block, place);
    }

    /// Removes the resident `block`; returns its location, now free.
    pub(super) fn leave(&mut self, block: u64) -> u64 {
        let place = self.of.remove(block).expect("a block that leaves has a place");
        self.taken.release(place);
        place
    }

    /// Replaces `victim` by `block`; returns both locations, which are equal if all are occupied.
    pub(super) fn replace(&mut self, victim: u64, block: u64) -> (u64, u64) {
        if self.len() < self.places {
            return (self.leave(victim), self.enter(block));
        }
        let place = self.of.remove(victim).expect("a block that leaves has a place");
        self.of.set(block, place);
        (place, place)
    }

    /// Prefetches memory for look-ups of `blocks`.
    #[inline]
    pub(super) fn prefetch(&self, blocks: &[u64]) {
        blocks.iter().for_each(|&block| self.of.prefetch(block));
    }

    /// Panics unless every block has its own location, and all other locations are free.
    pub(super) fn check_invariants(&self) {
        self.of.check_invariants();
        let mut places: Vec<u64> = self.of.iter().map(|(_, place)| place).collect();
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "two blocks share a place");
        assert!(places.last().is_none_or(|&last| last < self.places), "a place is not on the device");
        assert!(places.iter().all(|&place| self.taken.contains(place)), "the place of a block is free");
        assert_eq!(self.taken.count(), self.len(), "a place without a block is taken");
        self.taken.check_invariants();
    }
}

impl Taken {
    fn new(places: u64) -> Taken {
        let (mut levels, mut words) = (vec![Map::new()], places.div_ceil(64));
        while words > 1 {
            levels.push(Map::new());
            words = words.div_ceil(64);
        }
        Taken { levels }
    }

    #[inline]
    fn contains(&self, place: u64) -> bool {
        self.levels[0].get(place >> 6).is_some_and(|word| word >> (place & 63) & 1 == 1)
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

    /// Returns a value past the last location if none is free: bits past it are never set.
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
    fn a_block_lies_at_home_or_at_the_lowest_free_place() {
        for count in [1, 5, 64, 65, 5000] {
            let mut random = nacre_kernel::Streams::new(count).stream("places");
            let (mut places, mut naive) = (Places::new(count), vec![None; count as usize]);
            for step in 0..4000 {
                let block = random.below(3 * count);
                match naive.iter().position(|&held| held == Some(block)) {
                    Some(place) => {
                        assert_eq!(places.get(block), Some(place as u64));
                        assert_eq!(places.leave(block), place as u64);
                        naive[place] = None;
                    }
                    None => {
                        assert_eq!(places.get(block), None);
                        let home = (block % count) as usize;
                        let free = naive.iter().position(Option::is_none);
                        let place = if naive[home].is_none() { Some(home) } else { free };
                        let Some(place) = place else { continue };
                        assert_eq!(places.enter(block), place as u64);
                        naive[place] = Some(block);
                    }
                }
                if step % 400 == 0 {
                    places.check_invariants();
                }
            }
        }
    }

    #[test]
    fn a_device_of_any_size_has_places() {
        let mut places = Places::new(1 << 55);
        let blocks: Vec<u64> = (0..100).map(|number| 7 + (number << 55)).collect();
        for &block in &blocks {
            places.enter(block);
        }
        places.check_invariants();
        assert_eq!(places.get(7), Some(7));
        assert_eq!(places.get(blocks[99]), Some(99), "the home and 98 places below were taken");
    }
}
