//! B+tree. Pairs are in leaves, and separator keys are in inner pages. A full page is split.

use super::method::{Method, SearchStep};
use super::pages::{Entry, NONE, Pages};
use nacre_kernel::state::State;

/// Page number of the root, which never changes. Page 0 describes the tree. It is read once, when the tree is
/// opened.
pub(super) const ROOT: u32 = 1;

/// A B+tree.
///
/// Entries of an inner page point to pages in key order. The key of an entry is the smallest key in its
/// subtree. The key of the first entry is not used.
#[derive(Clone, Debug, State)]
pub(super) struct Btree {
    pages: Pages,
    /// Maximum number of entries of a leaf.
    #[state(same)]
    leaf: u32,
    /// Maximum number of entries of an inner page.
    #[state(same)]
    inner: u32,
    /// Page numbers and positions on the path from the root to the latest leaf.
    #[state(varies)]
    way: Vec<(u32, usize)>,
}

impl Btree {
    /// Creates an empty tree whose pages hold up to `leaf` pairs or `inner` pointers, at least two each.
    pub(super) fn new(leaf: u32, inner: u32) -> Btree {
        assert!(leaf >= 2 && inner >= 2, "a page that splits has two entries");
        let mut pages = Pages::default();
        pages.extend(2);
        pages.furnish(ROOT, leaf, 0);
        Btree { pages, leaf, inner, way: Vec::new() }
    }

    /// Number of pages on a path from the root to a leaf.
    pub(super) fn levels(&self) -> u32 {
        self.pages.level(ROOT) + 1
    }

    /// Position, among the entries of an inner page, of the pointer to follow for `key`.
    #[inline]
    fn child(entries: &[Entry], key: u32) -> usize {
        entries[1..].partition_point(|entry| entry.key <= key)
    }

    fn capacity(&self, level: u32) -> u32 {
        if level == 0 { self.leaf } else { self.inner }
    }

    /// Splits the full `page` and inserts `entry` at position `at`. Returns the pointer to the new page.
    ///
    /// If a page is split at the right end of its level, it stays full, as in Berkeley DB for keys that
    /// arrive in order. Any other page is split in the middle.
    fn split(&mut self, page: u32, at: usize, entry: Entry) -> Entry {
        let level = self.pages.level(page);
        let right = self.pages.extend(1);
        self.pages.furnish(right, self.capacity(level), level);
        let (len, next) = (self.pages.entries(page).len(), self.pages.next(page));
        let cut = if at == len && next == NONE { len } else { len / 2 };
        for (place, entry) in self.pages.take(page, cut).into_iter().enumerate() {
            self.pages.insert(right, place, entry);
        }
        let (target, place) = if at < cut { (page, at) } else { (right, at - cut) };
        self.pages.insert(target, place, entry);
        self.pages.link(right, next);
        self.pages.link(page, right);
        Entry { key: self.pages.entries(right)[0].key, value: right }
    }

    /// Moves the content of the full root to a new page, which becomes the only page below the root.
    fn raise(&mut self) {
        let (below, level) = (self.pages.extend(1), self.pages.level(ROOT) + 1);
        self.pages.furnish(below, self.inner, level);
        self.pages.exchange(ROOT, below);
        self.pages.insert(ROOT, 0, Entry { key: 0, value: below });
        self.way[0].0 = below;
        self.way.insert(0, (ROOT, 0));
    }
}

impl Method for Btree {
    #[inline]
    fn first(&self) -> u32 {
        ROOT
    }

    #[inline]
    fn step(&self, page: u32, key: u32) -> SearchStep {
        let entries = self.pages.entries(page);
        if self.pages.level(page) > 0 {
            return SearchStep::Go(entries[Btree::child(entries, key)].value);
        }
        match entries.binary_search_by_key(&key, |entry| entry.key) {
            Ok(at) => SearchStep::Found(at),
            Err(_) => SearchStep::Missing,
        }
    }

    /// Returns the index of the leaf in the path.
    #[inline]
    fn lock_step(&self, way: &[u32]) -> usize {
        way.len() - 1
    }

    fn insert(&mut self, key: u32, value: u32) {
        self.way.clear();
        let mut page = ROOT;
        while self.pages.level(page) > 0 {
            let entries = self.pages.entries(page);
            let at = Btree::child(entries, key);
            self.way.push((page, at));
            page = entries[at].value;
        }
        let at = match self.pages.entries(page).binary_search_by_key(&key, |entry| entry.key) {
            Ok(at) => return self.pages.set(page, at, value),
            Err(at) => at,
        };
        self.way.push((page, at));
        let mut entry = Entry { key, value };
        while let Some((page, at)) = self.way.pop() {
            if !self.pages.is_full(page) {
                return self.pages.insert(page, at, entry);
            }
            self.way.push((page, at));
            if page == ROOT {
                self.raise();
            }
            let (page, at) = self.way.pop().expect("it was pushed");
            entry = self.split(page, at, entry);
            // Insert the pointer to the new page after the pointer that leads to this page.
            if let Some(above) = self.way.last_mut() {
                above.1 += 1;
            }
        }
    }

    fn pages(&self) -> &Pages {
        &self.pages
    }

    fn pages_mut(&mut self) -> &mut Pages {
        &mut self.pages
    }

    fn describe(&self) -> String {
        format!("a B+tree of {} levels", self.levels())
    }
}
