//! Pages in the host's memory: their entries, without data bytes.

use nacre_kernel::state::{State, Value};

/// Marks an absent page.
pub(super) const NONE: u32 = u32::MAX;

/// A key with its value, or with the number of the page to which it points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Entry {
    pub(super) key: u32,
    pub(super) value: u32,
}

/// State of one page.
#[derive(Clone, Debug, Value)]
struct Page {
    /// Index of the first entry of the page among all entries.
    start: usize,
    len: u32,
    capacity: u32,
    /// Next page: the right neighbor in a tree, or the next overflow page of a bucket. `NONE` if there is
    /// none.
    next: u32,
    /// Number of levels below the page.
    level: u32,
}

/// All pages, indexed by page number.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Pages {
    #[state(varies)]
    pages: Vec<Page>,
    #[state(varies)]
    entries: Vec<Entry>,
}

impl Pages {
    /// Number of pages.
    pub(super) fn count(&self) -> u32 {
        self.pages.len() as u32
    }

    /// Adds `count` contiguous pages without space for entries. Returns the number of the first page.
    pub(super) fn extend(&mut self, count: u32) -> u32 {
        let first = self.count();
        let page = Page { start: 0, len: 0, capacity: 0, next: NONE, level: 0 };
        self.pages.resize(self.pages.len() + count as usize, page);
        assert!(self.pages.len() < NONE as usize, "more pages than numbers for them");
        first
    }

    /// Makes `page` an empty page with space for `capacity` entries, `level` levels above the leaves.
    pub(super) fn furnish(&mut self, page: u32, capacity: u32, level: u32) {
        let start = self.entries.len();
        self.entries.resize(start + capacity as usize, Entry { key: 0, value: 0 });
        self.pages[page as usize] = Page { start, len: 0, capacity, next: NONE, level };
    }

    /// Swaps the contents of two pages.
    pub(super) fn exchange(&mut self, one: u32, other: u32) {
        self.pages.swap(one as usize, other as usize);
    }

    #[inline]
    pub(super) fn entries(&self, page: u32) -> &[Entry] {
        let Page { start, len, .. } = self.pages[page as usize];
        &self.entries[start..start + len as usize]
    }

    #[inline]
    pub(super) fn next(&self, page: u32) -> u32 {
        self.pages[page as usize].next
    }

    pub(super) fn link(&mut self, page: u32, next: u32) {
        self.pages[page as usize].next = next;
    }

    #[inline]
    pub(super) fn level(&self, page: u32) -> u32 {
        self.pages[page as usize].level
    }

    pub(super) fn is_full(&self, page: u32) -> bool {
        let page = &self.pages[page as usize];
        page.len == page.capacity
    }

    /// Inserts `entry` at position `at`. The page must not be full.
    pub(super) fn insert(&mut self, page: u32, at: usize, entry: Entry) {
        assert!(!self.is_full(page), "no room on page {page}");
        let page = &mut self.pages[page as usize];
        page.len += 1;
        let entries = &mut self.entries[page.start..page.start + page.len as usize];
        entries.copy_within(at..entries.len() - 1, at + 1);
        entries[at] = entry;
    }

    /// Replaces the value at position `at`.
    #[inline]
    pub(super) fn set(&mut self, page: u32, at: usize, value: u32) {
        let Page { start, len, .. } = self.pages[page as usize];
        self.entries[start..start + len as usize][at].value = value;
    }

    /// Removes and returns all entries of `page` at or after position `from`.
    pub(super) fn take(&mut self, page: u32, from: usize) -> Vec<Entry> {
        let taken = self.entries(page)[from..].to_vec();
        self.pages[page as usize].len = from as u32;
        taken
    }
}
