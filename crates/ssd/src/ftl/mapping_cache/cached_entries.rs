//! Cache of single mappings (DFTL, gupta-2009; MQSim, tavakkol-2018).
//!
//! When a changed mapping is evicted, all changed mappings of its table page are written with it: the page is
//! read, merged, and programmed. Mappings that garbage collection moves are cached as changed.

use super::{CACHED, Cached, DIRTY, Lookup, MappingCache};
use nacre_kernel::state::State;

/// A cache of single mappings.
#[derive(State)]
pub(crate) struct CachedEntries {
    #[state(skip = "from the configuration")]
    mappings_per_page: u64,
    cached: Cached,
    /// Table pages that must be programmed, because inserting a moved mapping evicted one of their changed
    /// mappings.
    #[state(varies)]
    moved: Vec<u32>,
}

impl CachedEntries {
    /// Creates an empty cache of at most `capacity` mappings for `units` units. A table page contains
    /// `mappings_per_page` mappings.
    pub(crate) fn new(units: u64, mappings_per_page: u32, capacity: u64) -> CachedEntries {
        CachedEntries {
            mappings_per_page: mappings_per_page.into(),
            cached: Cached::new(units, capacity),
            moved: Vec::new(),
        }
    }

    fn page_of(&self, unit: u64) -> u32 {
        (unit / self.mappings_per_page) as u32
    }

    /// Caches the mapping of `unit`. Returns the table page that must be programmed because a changed mapping
    /// was evicted, if any.
    fn insert(&mut self, unit: u64, is_dirty: bool) -> Option<u32> {
        let programmed = self.cached.make_room().map(|leaving| self.page_of(leaving));
        if let Some(page) = programmed {
            self.clean_page(page);
        }
        self.cached.add(unit, is_dirty);
        programmed
    }

    /// Marks all cached mappings of `page` as unchanged, because they are programmed with the page.
    fn clean_page(&mut self, page: u32) {
        let state = &mut self.cached.state;
        let first = (u64::from(page) * self.mappings_per_page) as usize;
        let end = (first + self.mappings_per_page as usize).min(state.len());
        state[first..end].iter_mut().for_each(|state| *state &= !DIRTY);
    }
}

impl MappingCache for CachedEntries {
    fn look_up(&mut self, unit: u64, changes: bool) -> Lookup {
        if self.cached.touch(unit, changes) {
            return Lookup::Hit;
        }
        let programmed = self.insert(unit, changes);
        Lookup::Miss { page: self.page_of(unit), programmed }
    }

    fn moved(&mut self, unit: u64) {
        if self.cached.has(unit, CACHED) {
            self.cached.state[unit as usize] |= DIRTY;
        } else if let Some(page) = self.insert(unit, true) {
            self.put_back(page);
        }
    }

    fn take_moved(&mut self) -> Option<u32> {
        self.moved.pop()
    }

    fn put_back(&mut self, page: u32) {
        if !self.moved.contains(&page) {
            self.moved.push(page);
        }
    }

    fn merges(&self) -> bool {
        true
    }

    fn forget(&mut self) -> u64 {
        let (forgotten, changed) = self.cached.clear();
        changed.into_iter().for_each(|unit| self.put_back(self.page_of(unit)));
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_mapping_takes_the_others_of_its_page_along() {
        let mut cache = CachedEntries::new(40, 10, 3);
        let miss = |page, programmed| Lookup::Miss { page, programmed };
        assert_eq!(cache.look_up(1, true), miss(0, None));
        assert_eq!(cache.look_up(3, true), miss(0, None));
        assert_eq!(cache.look_up(25, false), miss(2, None));
        assert_eq!(cache.look_up(1, false), Lookup::Hit);
        // Evicting 3 also writes the changed mapping 1.
        assert_eq!(cache.look_up(12, false), miss(1, Some(0)));
        assert_eq!(cache.look_up(13, false), miss(1, None), "25 was not changed");
        assert_eq!(cache.look_up(14, false), miss(1, None), "1 was programmed with 3");
        // Moved mappings are cached as changed.
        cache.moved(30);
        assert_eq!(cache.take_moved(), None);
        cache.moved(31);
        cache.moved(32);
        cache.moved(39);
        assert_eq!(cache.take_moved(), Some(3), "30 had to leave");
        assert_eq!(cache.forget(), 3);
        assert_eq!(cache.take_moved(), Some(3), "39 was moved since");
        assert_eq!(cache.take_moved(), None);
    }
}
