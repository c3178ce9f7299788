//! Hash map from numbers to numbers, used for the block locations of a level.

use nacre_kernel::state::{State, Value};
use prefetch_index::prefetch_index;

/// Number of entries of the smallest table.
const ENTRIES_MIN: usize = 16;

/// Marks an unused entry. No valid key has this value.
const NO_KEY: u64 = u64::MAX;

/// The odd number nearest to 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

const UNUSED: Entry = Entry { key: NO_KEY, value: 0 };

#[derive(Clone, Copy, Debug, Value)]
struct Entry {
    key: u64,
    value: u64,
}

/// A hash map with open addressing and linear probing at a load factor of at most 0.7, so that a look-up
/// nearly always reads one cache line. Deletion shifts entries back (Knuth, TAOCP 3, 6.4, algorithm R).
#[derive(Debug, State)]
#[state(after = "Map::check_restored")]
pub(crate) struct Map {
    #[state(varies)]
    entries: Vec<Entry>,
    used: usize,
}

impl Map {
    /// Creates an empty map.
    pub(crate) fn new() -> Map {
        Map { entries: vec![UNUSED; ENTRIES_MIN], used: 0 }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let (entries, used) = (self.entries.len(), self.iter().count());
        match entries.is_power_of_two() && entries >= ENTRIES_MIN && used == self.used && used < entries {
            true => Ok(()),
            false => Err(format!("{} keys in a table of {entries}", self.used)),
        }
    }

    /// Number of keys.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// Value of `key`; `None` if the map does not contain it.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        let entry = self.entries[self.find(key)];
        (entry.key == key).then_some(entry.value)
    }

    /// Sets `key` to `value`.
    #[inline]
    pub(crate) fn set(&mut self, key: u64, value: u64) {
        let mut at = self.find(key);
        if self.entries[at].key != key {
            if (self.used + 1) * 10 > self.entries.len() * 7 {
                self.grow();
                at = self.find(key);
            }
            self.used += 1;
        }
        self.entries[at] = Entry { key, value };
    }

    /// Removes `key`. Returns its value; `None` if the map did not contain it.
    #[inline]
    pub(crate) fn remove(&mut self, key: u64) -> Option<u64> {
        let mut hole = self.find(key);
        let entry = self.entries[hole];
        if entry.key != key {
            return None;
        }
        let mask = self.entries.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let next = self.entries[at];
            if next.key == NO_KEY {
                break;
            }
            let home = self.home(next.key);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.entries[hole] = next;
                hole = at;
            }
        }
        self.entries[hole] = UNUSED;
        self.used -= 1;
        Some(entry.value)
    }

    /// Prefetches the memory for a look-up of `key`.
    #[inline]
    pub(crate) fn prefetch(&self, key: u64) {
        prefetch_index(&self.entries, self.home(key));
    }

    /// All keys with their values, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.entries.iter().filter(|entry| entry.key != NO_KEY).map(|entry| (entry.key, entry.value))
    }

    /// Panics unless every key can be found.
    pub(crate) fn check_invariants(&self) {
        assert_eq!(self.iter().count(), self.used, "keys are counted right");
        for (at, entry) in self.entries.iter().enumerate().filter(|(_, entry)| entry.key != NO_KEY) {
            assert_eq!(self.find(entry.key), at, "key {} is found where it is", entry.key);
        }
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        let first = key.wrapping_mul(MULTIPLIER);
        ((first ^ (first >> 32)).wrapping_mul(MULTIPLIER) >> 32) as usize & (self.entries.len() - 1)
    }

    /// The position of `key`, or the free position where it can be inserted.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mut at = self.home(key);
        while self.entries[at].key != key && self.entries[at].key != NO_KEY {
            at = (at + 1) & (self.entries.len() - 1);
        }
        at
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![UNUSED; self.entries.len() * 2];
        for entry in std::mem::replace(&mut self.entries, larger) {
            if entry.key != NO_KEY {
                let at = self.find(entry.key);
                self.entries[at] = entry;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_answers_like_a_naive_map() {
        let mut random = nacre_kernel::Streams::new(5).stream("map");
        let (mut map, mut naive) = (Map::new(), BTreeMap::new());
        for step in 0..20_000 {
            let key = random.below(400) * 377;
            match random.below(3) {
                0 => assert_eq!(map.remove(key), naive.remove(&key)),
                1 => {
                    map.set(key, step);
                    naive.insert(key, step);
                }
                _ => assert_eq!(map.get(key), naive.get(&key).copied()),
            }
            assert_eq!(map.len(), naive.len());
            if step % 500 == 0 {
                map.check_invariants();
            }
        }
        let mut all: Vec<(u64, u64)> = map.iter().collect();
        all.sort_unstable();
        assert_eq!(all, naive.into_iter().collect::<Vec<_>>());
    }
}
