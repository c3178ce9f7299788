//! The part of the mapping that is in DRAM, where all of it does not fit (DFTL).
//!
//! The mapping table lies in flash, in pages of many mappings each. Some of them are cached, those used last;
//! one that was changed is programmed when it leaves. Data that cleaning moves changes mappings too: those
//! that are not cached are noted, and their pages are read and programmed once for all the data of a victim.

use nacre_kernel::state::State;

/// No page, or the end of the list: in links, pages count from 1, so that tables are zero until they are touched.
const NONE: u32 = 0;
const CACHED: u8 = 1;
const DIRTY: u8 = 2;
const MOVED: u8 = 4;

/// What looking a mapping up takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// Nothing: its page is cached.
    Hit,
    /// Its page is read; the page that left for it has to be programmed where one was changed.
    Miss { programmed: Option<u32> },
}

/// Which pages of the mapping table are cached, the one used last first.
#[derive(State)]
pub(crate) struct MappingCache {
    #[state(same)]
    capacity: u32,
    held: u32,
    #[state(sparse)]
    state: Vec<u8>,
    #[state(sparse)]
    newer: Vec<u32>,
    #[state(sparse)]
    older: Vec<u32>,
    newest: u32,
    oldest: u32,
    /// Pages whose mappings were moved by cleaning and are not cached.
    #[state(varies)]
    moved: Vec<u32>,
}

impl MappingCache {
    /// A cache of `capacity` of `pages`, empty.
    pub(crate) fn new(pages: u32, capacity: u32) -> MappingCache {
        let pages = pages as usize;
        MappingCache {
            capacity,
            held: 0,
            state: vec![0; pages],
            newer: vec![NONE; pages],
            older: vec![NONE; pages],
            newest: NONE,
            oldest: NONE,
            moved: Vec::new(),
        }
    }

    /// Looks a mapping in `page` up, to change it where `changes`.
    #[inline]
    pub(crate) fn look_up(&mut self, page: u32, changes: bool) -> Lookup {
        let is_cached = self.state[page as usize] & CACHED != 0;
        if is_cached {
            if self.newest != page + 1 {
                self.unlink(page);
                self.link(page);
            }
            self.state[page as usize] |= if changes { DIRTY } else { 0 };
            return Lookup::Hit;
        }
        let programmed = if self.held == self.capacity { self.evict() } else { None };
        self.held += 1;
        self.link(page);
        // What was noted for it is merged into it now.
        let is_dirty = changes || self.state[page as usize] & MOVED != 0;
        self.state[page as usize] = CACHED | if is_dirty { DIRTY } else { 0 };
        Lookup::Miss { programmed }
    }

    /// Cleaning moved data whose mapping is in `page`.
    #[inline]
    pub(crate) fn moved(&mut self, page: u32) {
        let state = &mut self.state[page as usize];
        if *state & CACHED != 0 {
            *state |= DIRTY;
        } else if *state & MOVED == 0 {
            *state |= MOVED;
            self.moved.push(page);
        }
    }

    /// A page that is not cached and has mappings that were moved; it counts as programmed.
    pub(crate) fn take_moved(&mut self) -> Option<u32> {
        loop {
            let page = self.moved.pop()?;
            let state = &mut self.state[page as usize];
            if *state & MOVED != 0 {
                *state &= !MOVED;
                return Some(page);
            }
        }
    }

    /// The power is gone: nothing is cached any more; what was changed is noted when the mapping is known again.
    /// Gives how many pages were cached.
    pub(crate) fn forget(&mut self) -> u64 {
        let forgotten = std::mem::take(&mut self.held);
        while self.oldest != NONE {
            let page = self.oldest - 1;
            self.unlink(page);
            let was_dirty = self.state[page as usize] & DIRTY != 0;
            self.state[page as usize] = 0;
            if was_dirty {
                self.moved(page);
            }
        }
        u64::from(forgotten)
    }

    fn evict(&mut self) -> Option<u32> {
        let page = self.oldest - 1;
        self.unlink(page);
        self.held -= 1;
        let was_dirty = self.state[page as usize] & DIRTY != 0;
        self.state[page as usize] = 0;
        was_dirty.then_some(page)
    }

    fn link(&mut self, page: u32) {
        (self.newer[page as usize], self.older[page as usize]) = (NONE, self.newest);
        match self.newest {
            NONE => self.oldest = page + 1,
            newest => self.newer[newest as usize - 1] = page + 1,
        }
        self.newest = page + 1;
    }

    fn unlink(&mut self, page: u32) {
        let (newer, older) = (self.newer[page as usize], self.older[page as usize]);
        match newer {
            NONE => self.newest = older,
            newer => self.older[newer as usize - 1] = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.newer[older as usize - 1] = newer,
        }
    }
}
