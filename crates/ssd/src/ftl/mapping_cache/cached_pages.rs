//! Cache of whole pages of the mapping table.
//!
//! Moved mappings whose pages are not cached are noted. Their pages are read and programmed once per victim.

use super::cache::{Lookup, MappingCache};
use super::recency::Recency;
use nacre_kernel::state::State;

const CACHED: u8 = 1;
const DIRTY: u8 = 2;
const MOVED: u8 = 4;

/// Cache of table pages.
#[derive(State)]
pub(crate) struct CachedPages {
    #[state(same)]
    capacity: u32,
    #[state(skip = "from the configuration")]
    mappings_per_page: u32,
    #[state(sparse)]
    state: Vec<u8>,
    recency: Recency,
    /// Pages with moved mappings that are not cached.
    #[state(varies)]
    moved: Vec<u32>,
}

impl CachedPages {
    /// An empty cache of `capacity` out of `pages` table pages with `mappings_per_page` mappings each.
    pub(crate) fn new(pages: u32, mappings_per_page: u32, capacity: u32) -> CachedPages {
        CachedPages {
            capacity,
            mappings_per_page,
            state: vec![0; pages as usize],
            recency: Recency::new(pages as usize),
            moved: Vec::new(),
        }
    }

    fn note(&mut self, page: u32) {
        let state = &mut self.state[page as usize];
        if *state & CACHED != 0 {
            *state |= DIRTY;
        } else if *state & MOVED == 0 {
            *state |= MOVED;
            self.moved.push(page);
        }
    }

    fn evict(&mut self) -> Option<u32> {
        let page = self.recency.take_oldest()?;
        let was_dirty = self.state[page as usize] & DIRTY != 0;
        self.state[page as usize] = 0;
        was_dirty.then_some(page)
    }
}

impl MappingCache for CachedPages {
    fn look_up(&mut self, unit: u32, changes: bool) -> Lookup {
        let page = unit / self.mappings_per_page;
        if self.state[page as usize] & CACHED != 0 {
            self.recency.touch(page);
            self.state[page as usize] |= if changes { DIRTY } else { 0 };
            return Lookup::Hit;
        }
        let programmed = if self.recency.len() == self.capacity { self.evict() } else { None };
        self.recency.add(page);
        // Moved mappings of this page are now merged into it.
        let is_dirty = changes || self.state[page as usize] & MOVED != 0;
        self.state[page as usize] = CACHED | if is_dirty { DIRTY } else { 0 };
        Lookup::Miss { page, programmed }
    }

    fn moved(&mut self, unit: u32) {
        self.note(unit / self.mappings_per_page);
    }

    fn take_moved(&mut self) -> Option<u32> {
        loop {
            let page = self.moved.pop()?;
            let state = &mut self.state[page as usize];
            if *state & MOVED != 0 {
                *state &= !MOVED;
                return Some(page);
            }
        }
    }

    fn put_back(&mut self, page: u32) {
        self.note(page);
    }

    fn merges(&self) -> bool {
        false
    }

    fn forget(&mut self) -> u64 {
        let forgotten = self.recency.len();
        while let Some(page) = self.recency.take_oldest() {
            let was_dirty = self.state[page as usize] & DIRTY != 0;
            self.state[page as usize] = 0;
            if was_dirty {
                self.note(page);
            }
        }
        u64::from(forgotten)
    }
}
