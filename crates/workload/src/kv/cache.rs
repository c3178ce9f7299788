//! Page cache: cached pages, their LRU order, and dirty pages, which must be written before eviction.

use super::pages::NONE;
use nacre_kernel::state::{State, Value};

/// Marks a page that is not cached. [`NONE`] marks the ends of the LRU list.
const ABSENT: u32 = NONE - 1;

/// A page cache with LRU replacement.
#[derive(Clone, Debug, State)]
pub(super) struct Cache {
    slots: Vec<Slot>,
    #[state(same)]
    capacity: u32,
    held: u32,
    newest: u32,
    oldest: u32,
}

/// State of a page. The page number is the index of the slot.
#[derive(Clone, Copy, Debug, Value)]
struct Slot {
    newer: u32,
    older: u32,
    /// End of the latest log record of the page, or zero if the page is clean.
    lsn: u64,
    /// Whether the page is being read or written, so that other clients cannot use it.
    busy: bool,
    /// Whether the client that read the page has not used it yet.
    pinned: bool,
}

impl Cache {
    /// Creates an empty cache with space for `capacity` of `pages` pages.
    pub(super) fn new(pages: u32, capacity: u64) -> Cache {
        assert!(pages < ABSENT && capacity > 0, "no room for a page, or more pages than numbers");
        let capacity = u32::try_from(capacity).unwrap_or(u32::MAX);
        let slot = Slot { newer: ABSENT, older: ABSENT, lsn: 0, busy: false, pinned: false };
        Cache { slots: vec![slot; pages as usize], capacity, held: 0, newest: NONE, oldest: NONE }
    }

    /// Whether `page`, cached or not, is being read or written.
    #[inline]
    pub(super) fn is_busy(&self, page: u32) -> bool {
        self.slots[page as usize].busy
    }

    /// Marks the start or end of a read or write of `page`.
    #[inline]
    pub(super) fn set_busy(&mut self, page: u32, busy: bool) {
        self.slots[page as usize].busy = busy;
    }

    /// Returns whether `page` is cached. If so, the page becomes the most recently used.
    #[inline]
    pub(super) fn touch(&mut self, page: u32) -> bool {
        if self.slots[page as usize].newer == ABSENT {
            return false;
        }
        // Without evictions, the order does not matter.
        if page != self.newest && (self.capacity as usize) < self.slots.len() {
            self.unlink(page);
            self.push(page);
        }
        true
    }

    /// The page to evict before another page can be inserted. `None` if the cache is not full.
    #[inline]
    pub(super) fn victim(&self) -> Option<u32> {
        (self.held == self.capacity).then_some(self.oldest)
    }

    /// Whether the cached `page` cannot be evicted at this time.
    #[inline]
    pub(super) fn stays(&self, page: u32) -> bool {
        let slot = &self.slots[page as usize];
        slot.pinned || slot.busy
    }

    /// Inserts a page that is not cached. The cache must have space. The page is pinned until
    /// [`Cache::unpin`].
    #[inline]
    pub(super) fn admit(&mut self, page: u32) {
        assert!(self.held < self.capacity, "the cache is full");
        self.held += 1;
        self.slots[page as usize].pinned = true;
        self.push(page);
    }

    /// Unpins `page` when the client that read the page uses it.
    #[inline]
    pub(super) fn unpin(&mut self, page: u32) {
        self.slots[page as usize].pinned = false;
    }

    /// Removes a cached page that is clean.
    #[inline]
    pub(super) fn drop(&mut self, page: u32) {
        assert!(self.dirty(page).is_none(), "page {page} was never written");
        self.unlink(page);
        self.slots[page as usize].newer = ABSENT;
        self.held -= 1;
    }

    /// End of the log record that must be durable before `page` is written. `None` if the page is clean.
    #[inline]
    pub(super) fn dirty(&self, page: u32) -> Option<u64> {
        let lsn = self.slots[page as usize].lsn;
        (lsn > 0).then_some(lsn)
    }

    /// Marks `page` as changed by the log record that ends at `lsn`.
    #[inline]
    pub(super) fn changed(&mut self, page: u32, lsn: u64) {
        debug_assert!(self.slots[page as usize].newer != ABSENT && lsn > 0);
        self.slots[page as usize].lsn = lsn;
    }

    /// Marks `page` as clean after a write.
    #[inline]
    pub(super) fn written(&mut self, page: u32) {
        self.slots[page as usize].lsn = 0;
    }

    /// Lists the dirty pages in descending order of page numbers.
    pub(super) fn all_dirty(&self) -> Vec<u32> {
        let mut dirty = Vec::new();
        let mut page = self.newest;
        while page != NONE {
            dirty.extend(self.dirty(page).map(|_| page));
            page = self.slots[page as usize].older;
        }
        dirty.sort_unstable_by(|a, b| b.cmp(a));
        dirty
    }

    #[inline]
    fn push(&mut self, page: u32) {
        let second = std::mem::replace(&mut self.newest, page);
        let slot = &mut self.slots[page as usize];
        (slot.newer, slot.older) = (NONE, second);
        match second {
            NONE => self.oldest = page,
            second => self.slots[second as usize].newer = page,
        }
    }

    #[inline]
    fn unlink(&mut self, page: u32) {
        let Slot { newer, older, .. } = self.slots[page as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }
}
