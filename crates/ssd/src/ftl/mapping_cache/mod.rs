//! Cache of a mapping table in flash, which stores whole table pages or single mappings.
//!
//! Each page of the table has many mappings. The cache contains the most recently used pages or mappings.
//! When a changed page or mapping is evicted, its table page is programmed. Garbage collection also changes
//! mappings.

mod cached_entries;
mod cached_pages;

pub(crate) use cached_pages::CachedPages;

use crate::config::{Config, MappingTable};
use crate::layout::geometry::Geometry;
use crate::layout::numbers::Numbers;
use cached_entries::CachedEntries;
use nacre_kernel::state::State;

/// Creates the cache of the mapping table. Returns `None` if the whole table is in DRAM.
pub(crate) fn build(config: &Config, geometry: &Geometry) -> Option<Box<dyn MappingCache>> {
    let (units, pages, each) = (geometry.logical_units, geometry.mapping_units, geometry.mappings_per_unit);
    let pages = u64::from(pages);
    match &config.mapping().mapping {
        MappingTable::InDram(_) => None,
        MappingTable::CachedPages(table) => {
            let capacity = (table.size.0 / config.unit.0).min(pages);
            Some(Box::new(CachedPages::new(pages, each, capacity)))
        }
        MappingTable::CachedEntries(table) => {
            let capacity = (table.size.0 / table.entries.entry.0).clamp(1, units);
            Some(Box::new(CachedEntries::new(units, each, capacity)))
        }
    }
}

/// Result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The mapping is cached.
    Hit,
    /// A page of the table must be read.
    Miss {
        /// Number of the page that must be read.
        page: u32,
        /// Number of a page that must be programmed, because changed mappings of the page were evicted.
        /// `None` if there is no such page.
        programmed: Option<u32>,
    },
}

/// Cache of mappings.
pub(crate) trait MappingCache: State + Send {
    /// Looks up the mapping of `unit`. `changes` means that the request will modify the mapping.
    fn look_up(&mut self, unit: u64, changes: bool) -> Lookup;

    /// Records that garbage collection moved the data of `unit`.
    fn moved(&mut self, unit: u64);

    /// Removes and returns a table page that must be programmed because garbage collection moved data, if
    /// any. The page then counts as programmed.
    fn take_moved(&mut self) -> Option<u32>;

    /// Puts back a page that [`MappingCache::take_moved`] returned but that could not be programmed yet.
    fn put_back(&mut self, page: u32);

    /// Returns whether a page must be read before it is programmed, since only part of it may be cached.
    fn merges(&self) -> bool;

    /// Clears the cache after a power loss. Recovery rebuilds the changed mappings. Returns the number of
    /// pages or mappings that were cached.
    fn forget(&mut self) -> u64;
}

/// Bits of an item's state: the item is cached, it was changed in the cache, or its data moved while it was
/// not cached.
const CACHED: u8 = 1;
const DIRTY: u8 = 2;
const MOVED: u8 = 4;

/// The set of cached items. An item is a page of the table or a single mapping.
#[derive(State)]
struct Cached {
    #[state(same)]
    capacity: u64,
    /// State of each item.
    #[state(sparse)]
    state: Vec<u8>,
    recency: Recency,
}

impl Cached {
    /// Creates an empty cache of at most `capacity` items. Items are numbered below `count`.
    fn new(count: u64, capacity: u64) -> Cached {
        Cached { capacity, state: vec![0; count as usize], recency: Recency::new(count) }
    }

    fn has(&self, item: u64, flag: u8) -> bool {
        self.state[item as usize] & flag != 0
    }

    /// Marks `item` as the most recently used one, and as changed if `changes`. Returns whether the item is
    /// cached.
    fn touch(&mut self, item: u64, changes: bool) -> bool {
        let is_cached = self.has(item, CACHED);
        if is_cached {
            self.recency.touch(item);
            self.state[item as usize] |= if changes { DIRTY } else { 0 };
        }
        is_cached
    }

    /// Evicts the least recently used item if the cache is full. Returns the item if it was evicted and had
    /// been changed.
    fn make_room(&mut self) -> Option<u64> {
        if self.recency.len() < self.capacity {
            return None;
        }
        self.evict().and_then(|(item, was_dirty)| was_dirty.then_some(item))
    }

    /// Evicts the least recently used item, if any. Returns the item, and whether it was changed.
    fn evict(&mut self) -> Option<(u64, bool)> {
        let item = self.recency.take_oldest()?;
        let state = std::mem::take(&mut self.state[item as usize]);
        Some((item, state & DIRTY != 0))
    }

    fn add(&mut self, item: u64, is_dirty: bool) {
        self.recency.add(item);
        self.state[item as usize] = CACHED | if is_dirty { DIRTY } else { 0 };
    }

    /// Evicts all items. Returns the number of evicted items, and the items that had been changed.
    fn clear(&mut self) -> (u64, Vec<u64>) {
        let count = self.recency.len();
        let evicted = std::iter::from_fn(|| self.evict());
        (count, evicted.filter_map(|(item, was_dirty)| was_dirty.then_some(item)).collect())
    }
}

/// Marks a missing number or the end of the list. The tables contain each number plus one, so that all
/// entries are zero until they are used.
const NONE: u64 = 0;

/// A list of numbers in order of use, most recently used first.
#[derive(State)]
struct Recency {
    newer: Numbers,
    older: Numbers,
    newest: u64,
    oldest: u64,
    held: u64,
}

impl Recency {
    /// Creates an empty list for numbers below `count`.
    fn new(count: u64) -> Recency {
        let links = || Numbers::new(count as usize, count + 1);
        Recency { newer: links(), older: links(), newest: NONE, oldest: NONE, held: 0 }
    }

    /// Returns the length of the list.
    fn len(&self) -> u64 {
        self.held
    }

    /// Adds `number`, which is not in the list, as the most recently used.
    fn add(&mut self, number: u64) {
        self.newer.set(number as usize, NONE);
        self.older.set(number as usize, self.newest);
        match self.newest {
            NONE => self.oldest = number + 1,
            newest => self.newer.set(newest as usize - 1, number + 1),
        }
        self.newest = number + 1;
        self.held += 1;
    }

    /// Moves `number`, which is in the list, to the front.
    #[inline]
    fn touch(&mut self, number: u64) {
        if self.newest != number + 1 {
            self.remove(number);
            self.add(number);
        }
    }

    /// Removes and returns the least recently used number, if any.
    fn take_oldest(&mut self) -> Option<u64> {
        let oldest = self.oldest.checked_sub(1)?;
        self.remove(oldest);
        Some(oldest)
    }

    fn remove(&mut self, number: u64) {
        let (newer, older) = (self.newer.get(number as usize), self.older.get(number as usize));
        match newer {
            NONE => self.newest = older,
            newer => self.older.set(newer as usize - 1, older),
        }
        match older {
            NONE => self.oldest = newer,
            older => self.newer.set(older as usize - 1, newer),
        }
        self.held -= 1;
    }
}
