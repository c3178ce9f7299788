//! Hash table with linear hashing. Buckets split in order as the table grows.
//!
//! The algorithm is that of Litwin (1980) as implemented by Seltzer and Yigit (1991). A key is in bucket `h &
//! high` if that bucket exists, and otherwise in `h & low`. The buckets of one doubling are contiguous, and
//! overflow pages are between doublings.

use super::method::{Method, SearchStep};
use super::pages::{Entry, NONE, Pages};
use nacre_kernel::state::State;

/// Page that contains the number of buckets. Every search reads this page first.
pub(super) const META: u32 = 0;

/// A linear hash table.
#[derive(Clone, Debug, State)]
pub(super) struct Hash {
    pages: Pages,
    /// Maximum number of pairs per page.
    #[state(same)]
    capacity: u32,
    /// Mean number of pairs per bucket above which the table grows.
    #[state(same)]
    fill: u64,
    pairs: u64,
    /// Number of the highest bucket.
    highest: u32,
    low: u32,
    high: u32,
    /// For each doubling of the table: difference between the page number and the number of a bucket.
    spares: [u32; 33],
    /// Overflow pages that are not in use.
    #[state(varies)]
    free: Vec<u32>,
}

impl Hash {
    /// Creates an empty table of two buckets, with up to `capacity` pairs per page. A bucket is added when
    /// the table has more than `fill` pairs per bucket.
    pub(super) fn new(capacity: u32, fill: u32) -> Hash {
        assert!(capacity > 0 && fill > 0, "a bucket holds a pair");
        let mut pages = Pages::default();
        pages.extend(3);
        pages.furnish(1, capacity, 0);
        pages.furnish(2, capacity, 0);
        let (spares, free) = ([1; 33], Vec::new());
        Hash { pages, capacity, fill: u64::from(fill), pairs: 0, highest: 1, low: 0, high: 1, spares, free }
    }

    pub(super) fn buckets(&self) -> u32 {
        self.highest + 1
    }

    /// Bucket of `key`.
    #[inline]
    pub(super) fn bucket(&self, key: u32) -> u32 {
        let spread = spread(key);
        let bucket = spread & self.high;
        if bucket > self.highest { spread & self.low } else { bucket }
    }

    /// First page of `bucket`.
    #[inline]
    pub(super) fn page(&self, bucket: u32) -> u32 {
        let doubling = u32::BITS - bucket.leading_zeros();
        bucket + self.spares[doubling as usize]
    }

    /// Adds a bucket, and moves pairs into it from the bucket that is split.
    fn grow(&mut self) {
        self.highest += 1;
        let added = self.highest;
        if added > self.high {
            // This is the first bucket of a doubling, so allocate contiguous space for all of its buckets.
            let doubling = u32::BITS - added.leading_zeros();
            self.spares[doubling as usize] = self.pages.extend(added) - added;
            (self.low, self.high) = (self.high, self.high << 1 | 1);
        }
        let page = self.page(added);
        self.pages.furnish(page, self.capacity, 0);
        let mut pairs = Vec::new();
        let mut page = self.page(added & self.low);
        while page != NONE {
            pairs.extend(self.pages.take(page, 0));
            let next = self.pages.next(page);
            self.pages.link(page, NONE);
            if next != NONE {
                self.free.push(next);
            }
            page = next;
        }
        for pair in pairs {
            self.place(pair);
        }
    }

    /// Inserts a pair into the first page of its bucket that has space.
    fn place(&mut self, pair: Entry) {
        let mut page = self.page(self.bucket(pair.key));
        while self.pages.is_full(page) {
            let next = self.pages.next(page);
            page = if next == NONE { self.overflow(page) } else { next };
        }
        let at = self.pages.entries(page).len();
        self.pages.insert(page, at, pair);
    }

    /// Appends an overflow page to `page`. Returns the number of the new page.
    fn overflow(&mut self, page: u32) -> u32 {
        let added = self.free.pop().unwrap_or_else(|| {
            let added = self.pages.extend(1);
            self.pages.furnish(added, self.capacity, 0);
            added
        });
        self.pages.link(page, added);
        added
    }
}

impl Method for Hash {
    #[inline]
    fn first(&self) -> u32 {
        META
    }

    #[inline]
    fn step(&self, page: u32, key: u32) -> SearchStep {
        if page == META {
            return SearchStep::Go(self.page(self.bucket(key)));
        }
        match self.pages.entries(page).iter().position(|pair| pair.key == key) {
            Some(at) => SearchStep::Found(at),
            None if self.pages.next(page) == NONE => SearchStep::Missing,
            None => SearchStep::Go(self.pages.next(page)),
        }
    }

    /// Returns the index, in the path, of the first page of the bucket.
    #[inline]
    fn lock_step(&self, _way: &[u32]) -> usize {
        1
    }

    fn insert(&mut self, key: u32, value: u32) {
        if let Some((page, at)) = self.find(key) {
            return self.pages.set(page, at, value);
        }
        self.place(Entry { key, value });
        self.pairs += 1;
        if self.pairs > self.fill * u64::from(self.buckets()) {
            self.grow();
        }
    }

    fn pages(&self) -> &Pages {
        &self.pages
    }

    fn pages_mut(&mut self) -> &mut Pages {
        &mut self.pages
    }

    fn describe(&self) -> String {
        format!("a hash table of {} buckets", self.buckets())
    }
}

/// Hash of a key, computed with the finalizer of MurmurHash3. The hash is a bijection, so different keys have
/// different hashes and only share buckets.
#[inline]
pub(super) fn spread(key: u32) -> u32 {
    let key = (key ^ key >> 16).wrapping_mul(0x85eb_ca6b);
    let key = (key ^ key >> 13).wrapping_mul(0xc2b2_ae35);
    key ^ key >> 16
}
