//! The memory management unit: a cache of recently used mappings.

use nacre_kernel::state::State;
use std::hint::select_unpredictable;

/// A fully associative cache of page numbers with LRU replacement.
#[derive(State)]
pub(super) struct Translation {
    pages: Vec<u32>,
    used: Vec<u64>,
    /// Index of the entry of the latest access. Consecutive accesses are often in the same page.
    latest: usize,
    clock: u64,
    lookups: u64,
    misses: u64,
}

/// Marks an empty entry.
const NONE: u32 = u32::MAX;

impl Translation {
    /// A cache of `entries` mappings. If `entries` is 0, every look-up is a hit.
    pub(super) fn new(entries: u32) -> Translation {
        let entries = entries as usize;
        Translation {
            pages: vec![NONE; entries],
            used: vec![0; entries],
            latest: 0,
            clock: 0,
            lookups: 0,
            misses: 0,
        }
    }

    /// Looks up the mapping of `page` and caches it. Returns whether the look-up was a hit.
    #[inline]
    pub(super) fn look_up(&mut self, page: u32) -> bool {
        self.lookups += 1;
        if self.pages.get(self.latest).is_none_or(|&latest| latest == page) {
            return true;
        }
        self.search(page)
    }

    fn search(&mut self, page: u32) -> bool {
        self.clock += 1;
        let found = self.pages.iter().position(|&known| known == page);
        self.latest = found.unwrap_or_else(|| {
            self.misses += 1;
            let oldest = self.oldest();
            self.pages[oldest] = page;
            oldest
        });
        self.used[self.latest] = self.clock;
        found.is_some()
    }

    /// Index of the least recently used entry. The search has no branches, because the processor would
    /// mispredict them.
    fn oldest(&self) -> usize {
        let entries = self.used.iter().copied().enumerate();
        let older = |one: (usize, u64), other: (usize, u64)| {
            let is_older = other.1 < one.1;
            (select_unpredictable(is_older, other.0, one.0), select_unpredictable(is_older, other.1, one.1))
        };
        entries.reduce(older).expect("there are entries, or the page was at hand").0
    }

    /// Empties the cache after a power loss.
    pub(super) fn clear(&mut self) {
        self.pages.fill(NONE);
        self.used.fill(0);
    }

    /// Numbers of look-ups and misses since counting started.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.lookups, self.misses)
    }

    /// Restarts counting.
    pub(super) fn restart_counts(&mut self) {
        (self.lookups, self.misses) = (0, 0);
    }
}
