//! Cache of whole pages of the mapping table.
//!
//! If a moved mapping is in a page that is not cached, the page is recorded. It is read and programmed once
//! per victim.

use super::{CACHED, Cached, DIRTY, Lookup, MOVED, MappingCache};
use nacre_kernel::state::State;

/// A cache of table pages.
#[derive(State)]
pub(crate) struct CachedPages {
    #[state(skip = "from the configuration")]
    mappings_per_page: u64,
    cached: Cached,
    /// Pages that contain moved mappings and are not cached.
    #[state(varies)]
    moved: Vec<u32>,
}

impl CachedPages {
    /// Creates an empty cache of at most `capacity` of the `pages` table pages, with `mappings_per_page`
    /// mappings each.
    pub(crate) fn new(pages: u64, mappings_per_page: u32, capacity: u64) -> CachedPages {
        CachedPages {
            mappings_per_page: mappings_per_page.into(),
            cached: Cached::new(pages, capacity),
            moved: Vec::new(),
        }
    }

    /// Records that mappings of `page` moved.
    fn note(&mut self, page: u64) {
        if self.cached.has(page, CACHED) {
            self.cached.state[page as usize] |= DIRTY;
        } else if !self.cached.has(page, MOVED) {
            self.cached.state[page as usize] |= MOVED;
            self.moved.push(page as u32);
        }
    }
}

impl MappingCache for CachedPages {
    fn look_up(&mut self, unit: u64, changes: bool) -> Lookup {
        let page = unit / self.mappings_per_page;
        if self.cached.touch(page, changes) {
            return Lookup::Hit;
        }
        let programmed = self.cached.make_room().map(|page| page as u32);
        // Moved mappings of this page are now merged into it.
        let is_dirty = changes || self.cached.has(page, MOVED);
        self.cached.add(page, is_dirty);
        Lookup::Miss { page: page as u32, programmed }
    }

    fn moved(&mut self, unit: u64) {
        self.note(unit / self.mappings_per_page);
    }

    fn take_moved(&mut self) -> Option<u32> {
        loop {
            let page = self.moved.pop()?;
            if self.cached.has(page.into(), MOVED) {
                self.cached.state[page as usize] &= !MOVED;
                return Some(page);
            }
        }
    }

    fn put_back(&mut self, page: u32) {
        self.note(page.into());
    }

    fn merges(&self) -> bool {
        false
    }

    fn forget(&mut self) -> u64 {
        let (forgotten, changed) = self.cached.clear();
        changed.into_iter().for_each(|page| self.note(page));
        forgotten
    }
}
