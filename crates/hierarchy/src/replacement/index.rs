//! Open-addressing index from block keys to arena slots.
//!
//! Each position is one word. The upper half is a 32-bit tag of the key's hash, and the lower half is the
//! slot. The full key is in the node of the slot, which a hit needs anyway. A miss is usually decided by the
//! tags of one cache line. The tag also determines the home position, so growing and deleting do not access
//! any nodes.
//!
//! The home position is `tag * positions / 2^32` (Lemire's range reduction), which allows any number of
//! positions, so the index is exactly as large as needed. Entries are ordered by tag, so growing is one
//! sequential pass. Deletion shifts entries back (Knuth, TAOCP 3, 6.4, algorithm R), so there are no
//! tombstones.

use nacre_kernel::state::State;
use prefetch_index::prefetch_index;
use std::hint::select_unpredictable;

/// Marks a free position. No slot has this number.
const FREE: u64 = u64::MAX;

/// The odd number nearest to 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Number of entries in the smallest index.
const SMALLEST: usize = 16;

/// Number of words of an index that fits in the second-level cache of any server: 256 KiB. For such an index,
/// prefetching takes 10 % of the time of an access and has no benefit.
const CACHED: usize = 1 << 15;

/// Number of words in half a cache line.
const HALF_LINE: usize = 4;

/// Tags and slots of the tracked blocks.
#[derive(Debug, State)]
#[state(after = "Index::check_restored")]
pub(crate) struct Index {
    #[state(varies)]
    words: Vec<u64>,
    entries: usize,
    /// Number of entries at which the index grows.
    limit: usize,
    /// Maximum number of entries.
    #[state(same)]
    bound: usize,
}

/// Position at which a key that is not in the index can be inserted. Valid until the index changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vacancy {
    pub(super) place: usize,
    pub(super) tag: u32,
}

/// Tag of a key: 32 bits of its hash. The hash uses two multiplications. With only one multiplication, keys
/// at a stride near a Fibonacci number would be adjacent, and probing would become a linear search.
#[inline]
pub(crate) fn tag(block: u64) -> u32 {
    let first = block.wrapping_mul(MULTIPLIER);
    ((first ^ (first >> 32)).wrapping_mul(MULTIPLIER) >> 32) as u32
}

/// Number of positions for `entries` entries. The load factor is 4/7, at which a miss examines 3.2 positions
/// on average (Knuth, 6.4, eq. 23).
pub(super) fn places(entries: usize) -> usize {
    entries + entries / 2 + entries / 4 + 4
}

impl Index {
    /// Creates an empty index for at most `bound` entries.
    pub(crate) fn new(bound: usize) -> Index {
        let limit = bound.min(SMALLEST);
        Index { words: vec![FREE; places(limit)], entries: 0, limit, bound }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let used = self.slots().count();
        match self.limit <= self.bound && self.words.len() == places(self.limit) && used == self.entries {
            true if used <= self.limit => Ok(()),
            _ => Err(format!("{used} of {} entries in {} places", self.entries, self.words.len())),
        }
    }

    /// The slots of all entries.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().filter(|&&word| word != FREE).map(|&word| word as u32)
    }

    /// Whether the index is so small that prefetching has no benefit.
    #[inline]
    pub(crate) fn is_cached(&self) -> bool {
        self.words.len() <= CACHED
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.words.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        if place + 1 == self.words.len() { 0 } else { place + 1 }
    }

    /// Slot of `block`, or the position where it can be inserted. `holds` returns whether a slot holds the
    /// block.
    #[inline]
    pub(crate) fn find(&self, block: u64, holds: impl Fn(u32) -> bool) -> Result<u32, Vacancy> {
        let tag = tag(block);
        let mut place = self.home(tag);
        loop {
            let word = self.words[place];
            if word == FREE {
                return Err(Vacancy { place, tag });
            }
            if (word >> 32) as u32 == tag && holds(word as u32) {
                return Ok(word as u32);
            }
            place = self.after(place);
        }
    }

    /// Slot at the home position of `block` if its tag matches, or `u32::MAX` otherwise. Examines only this
    /// position, because the slot is only used to prefetch a node. If the slot is wrong, unneeded memory is
    /// prefetched.
    #[inline]
    pub(crate) fn glance(&self, block: u64) -> u32 {
        let tag = tag(block);
        let word = self.words[self.home(tag)];
        // One key in three is not at its home position, so branches would be mispredicted.
        select_unpredictable((word >> 32) as u32 == tag, word as u32, u32::MAX)
    }

    /// Prefetches the positions at which the search for `block` starts. The second position is half a cache
    /// line after the home position. Half of the searches reach the second position, which is in another
    /// cache line in half of the cases.
    #[inline]
    pub(crate) fn prefetch(&self, block: u64) {
        let home = self.home(tag(block));
        prefetch_index(&self.words, home);
        prefetch_index(&self.words, home + HALF_LINE);
    }

    /// Inserts `slot` at `vacancy`.
    #[inline]
    pub(crate) fn occupy(&mut self, vacancy: Vacancy, slot: u32) {
        let mut place = vacancy.place;
        if self.entries == self.limit {
            self.grow();
            place = self.free_place(vacancy.tag);
        }
        self.words[place] = u64::from(vacancy.tag) << 32 | u64::from(slot);
        self.entries += 1;
    }

    /// Removes the entry of `block` at `slot`.
    #[inline]
    pub(crate) fn vacate(&mut self, block: u64, slot: u32) {
        let tag = tag(block);
        let word = u64::from(tag) << 32 | u64::from(slot);
        let mut hole = self.home(tag);
        while self.words[hole] != word {
            assert!(self.words[hole] != FREE, "block {block} at slot {slot} is not in the index");
            hole = self.after(hole);
        }
        let mut place = hole;
        loop {
            place = self.after(place);
            let word = self.words[place];
            if word == FREE {
                break;
            }
            let home = self.home((word >> 32) as u32);
            if self.distance(home, place) >= self.distance(hole, place) {
                self.words[hole] = word;
                hole = place;
            }
        }
        self.words[hole] = FREE;
        self.entries -= 1;
    }

    /// Changes the slot of `block` from `from` to `to`.
    #[inline]
    pub(crate) fn relocate(&mut self, block: u64, from: u32, to: u32) {
        let tag = tag(block);
        let word = u64::from(tag) << 32 | u64::from(from);
        let mut place = self.home(tag);
        while self.words[place] != word {
            assert!(self.words[place] != FREE, "block {block} at slot {from} is not in the index");
            place = self.after(place);
        }
        self.words[place] = u64::from(tag) << 32 | u64::from(to);
    }

    /// Distance from position `from` forward to `to`.
    #[inline]
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.words.len() - from }
    }

    fn free_place(&self, tag: u32) -> usize {
        let mut place = self.home(tag);
        while self.words[place] != FREE {
            place = self.after(place);
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        assert!(self.limit < self.bound, "an index bounded to {} entries is full", self.bound);
        self.limit = self.limit.saturating_mul(2).min(self.bound);
        let old = std::mem::replace(&mut self.words, vec![FREE; places(self.limit)]);
        for word in old {
            if word != FREE {
                let place = self.free_place((word >> 32) as u32);
                self.words[place] = word;
            }
        }
    }

    /// Panics unless every entry can be reached from its home position.
    pub(crate) fn check_invariants(&self) {
        assert!(self.entries <= self.limit && self.limit <= self.bound);
        let mut entries = 0;
        for (place, &word) in self.words.iter().enumerate().filter(|(_, word)| **word != FREE) {
            let mut probe = self.home((word >> 32) as u32);
            while probe != place {
                assert!(self.words[probe] != FREE, "a hole hides the entry at place {place}");
                probe = self.after(probe);
            }
            entries += 1;
        }
        assert_eq!(entries, self.entries, "entries are counted right");
    }

    /// Maximum distance of an entry from its home position.
    #[cfg(test)]
    pub(crate) fn longest_probe(&self) -> usize {
        let taken = self.words.iter().enumerate().filter(|(_, word)| **word != FREE);
        let distances = taken.map(|(place, word)| self.distance(self.home((word >> 32) as u32), place));
        distances.max().unwrap_or(0)
    }
}
