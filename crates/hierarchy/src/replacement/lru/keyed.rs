//! Index of the blocks in the log, in buckets of one cache line.
//!
//! A bucket contains five block keys, each with the slot of the block's latest access in the log, and the
//! number of blocks that overflowed the bucket. A block is in its home bucket or, if that was full, in the
//! nearest later bucket with space. A lookup ends at the first bucket without overflow, which is the home
//! bucket in 13 of 14 cases. A hit, an insertion, and an eviction therefore access one line each. With linear
//! probing, half of these operations would access two lines. A lookup compares all keys of a bucket, so its
//! time does not depend on the position in the bucket. Removing a block moves only entries of its bucket and
//! decrements overflow counts, so there are no tombstones. The log stores the tag of each key, which
//! determines the home bucket of the entry.
//!
//! The overflow counts follow N. Bronson, X. Shi, "Open-sourcing F14 for faster, more memory-efficient hash
//! tables", Meta Engineering, 2019.

use super::super::arena::Slot;
use super::super::index::{Vacancy, places, tag};
use nacre_kernel::state::{State, Value};
use prefetch_index::prefetch_index;

/// Number of entries per bucket: as many as fit in a cache line.
const ENTRIES: usize = 5;

/// Number of positions per bucket, rounded up to a power of two. Only [`ENTRIES`] positions are used.
const PLACES: usize = 8;

/// Number of entries in the smallest index.
const SMALLEST: usize = 16;

/// Number of buckets of an index that fits in the second-level cache of any server: 256 KiB.
const CACHED: usize = (1 << 18) / size_of::<Bucket>();

/// One cache line: block keys, each with the slot of the block's latest access.
#[derive(Clone, Copy, Debug, Default, Value)]
#[repr(C, align(64))]
struct Bucket {
    blocks: [u64; ENTRIES],
    slots: [Slot; ENTRIES],
    /// The low bits, below [`PAST`], contain the number of entries. The other bits contain the number of
    /// blocks that overflowed the bucket.
    counts: u32,
}

/// Increment of `counts` for a block that overflowed the bucket.
const PAST: u32 = 1 << 3;

impl Bucket {
    #[inline]
    fn used(&self) -> usize {
        (self.counts % PAST) as usize
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.used() == ENTRIES
    }

    /// Whether a block overflowed the bucket.
    #[inline]
    fn is_passed(&self) -> bool {
        self.counts >= PAST
    }

    #[inline]
    fn push(&mut self, block: u64, slot: Slot) {
        let at = self.used();
        (self.blocks[at], self.slots[at]) = (block, slot);
        self.counts += 1;
    }

    /// Removes the entry at `at` and returns its block. The last entry moves to this position.
    #[inline]
    fn take(&mut self, at: usize) -> u64 {
        let (block, last) = (self.blocks[at], self.used() - 1);
        (self.blocks[at], self.slots[at]) = (self.blocks[last], self.slots[last]);
        self.counts -= 1;
        block
    }

    /// Position of the first entry for which `is_it` is true; `None` if there is none. All entries are
    /// compared, because branches would be mispredicted.
    #[inline(always)]
    fn position(&self, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let found = (0..ENTRIES).fold(0, |found, at| found | u32::from(is_it(at)) << at);
        let found = found & ((1 << self.used()) - 1);
        (found != 0).then(|| found.trailing_zeros() as usize)
    }
}

/// Index of blocks, each with the slot of its latest access.
#[derive(Debug, State)]
#[state(after = "Keyed::check_restored")]
pub(super) struct Keyed {
    #[state(varies)]
    buckets: Vec<Bucket>,
    used: usize,
    /// Number of blocks at which the index grows.
    limit: usize,
    /// Maximum number of blocks.
    #[state(same)]
    bound: usize,
}

/// Number of buckets for `blocks` blocks. The number of positions is the same as in the
/// [index](super::super::index) of other policies.
fn buckets(blocks: usize) -> usize {
    places(blocks).div_ceil(ENTRIES)
}

#[inline]
fn place(bucket: usize, at: usize) -> usize {
    bucket * PLACES + at
}

impl Keyed {
    /// Creates an empty index for at most `bound` blocks.
    pub(super) fn new(bound: usize) -> Keyed {
        let limit = bound.min(SMALLEST);
        Keyed { buckets: vec![Bucket::default(); buckets(limit)], used: 0, limit, bound }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let fits = self.limit <= self.bound && self.buckets.len() == buckets(self.limit);
        let has_room = self.buckets.iter().all(|bucket| bucket.used() <= ENTRIES);
        let used = self.buckets.iter().map(Bucket::used).sum::<usize>();
        match fits && has_room && used == self.used && used <= self.limit {
            true => Ok(()),
            false => Err(format!("{used} of {} blocks in {} buckets", self.used, self.buckets.len())),
        }
    }

    /// Whether the index is so small that prefetching has no benefit.
    #[inline]
    pub(super) fn is_cached(&self) -> bool {
        self.buckets.len() <= CACHED
    }

    /// Number of blocks.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.used
    }

    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.buckets.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }

    /// Position of `block`, or the bucket in which its insertion starts.
    #[inline]
    pub(super) fn find(&self, block: u64) -> Result<u32, Vacancy> {
        let tag = tag(block);
        let home = self.home(tag);
        let bucket = &self.buckets[home];
        match bucket.position(|at| bucket.blocks[at] == block) {
            Some(at) => Ok(place(home, at) as u32),
            None if bucket.is_passed() => self.find_past(home, block, tag),
            None => Err(Vacancy { place: home, tag }),
        }
    }

    /// Position of a block that is not in its home bucket, which has overflowed. If the index does not
    /// contain the block, returns its home bucket.
    #[inline(never)]
    fn find_past(&self, home: usize, block: u64, tag: u32) -> Result<u32, Vacancy> {
        let mut number = home;
        while self.buckets[number].is_passed() {
            number = self.after(number);
            let bucket = &self.buckets[number];
            if let Some(at) = bucket.position(|at| bucket.blocks[at] == block) {
                return Ok(place(number, at) as u32);
            }
        }
        Err(Vacancy { place: home, tag })
    }

    /// The block at position `place`.
    #[inline]
    pub(super) fn block(&self, place: u32) -> u64 {
        self.buckets[place as usize / PLACES].blocks[place as usize % PLACES]
    }

    /// Mutable slot of the latest access to the block at position `place`.
    #[inline]
    pub(super) fn slot_mut(&mut self, place: u32) -> &mut Slot {
        &mut self.buckets[place as usize / PLACES].slots[place as usize % PLACES]
    }

    /// Prefetches the home bucket of a block with this tag.
    #[inline]
    pub(super) fn prefetch(&self, tag: u32) {
        prefetch_index(&self.buckets, self.home(tag));
    }

    /// Inserts `block`, whose access is logged at `slot`. `vacancy` is the home bucket of the block.
    #[inline]
    pub(super) fn occupy(&mut self, vacancy: Vacancy, block: u64, slot: Slot) {
        let mut home = vacancy.place;
        if self.used == self.limit {
            self.grow();
            home = self.home(vacancy.tag);
        }
        self.enter(home, block, slot);
        self.used += 1;
    }

    /// Inserts `block` into its home bucket or the next bucket with space.
    #[inline]
    fn enter(&mut self, home: usize, block: u64, slot: Slot) {
        let mut number = home;
        while self.buckets[number].is_full() {
            self.buckets[number].counts += PAST;
            number = self.after(number);
        }
        self.buckets[number].push(block, slot);
    }

    /// Position of the block that has this tag and whose latest access is at `slot`.
    #[inline]
    pub(super) fn place_of(&self, tag: u32, slot: Slot) -> u32 {
        let mut number = self.home(tag);
        loop {
            let bucket = &self.buckets[number];
            if let Some(at) = bucket.position(|at| bucket.slots[at] == slot) {
                return place(number, at) as u32;
            }
            assert!(bucket.is_passed(), "what was used at slot {slot} is not in the index");
            number = self.after(number);
        }
    }

    /// Removes and returns the block that has this tag and whose latest access is at `slot`.
    #[inline]
    pub(super) fn vacate(&mut self, tag: u32, slot: Slot) -> u64 {
        let place = self.place_of(tag, slot) as usize;
        let mut number = self.home(tag);
        while number != place / PLACES {
            self.buckets[number].counts -= PAST;
            number = self.after(number);
        }
        self.used -= 1;
        self.buckets[number].take(place % PLACES)
    }

    #[cold]
    fn grow(&mut self) {
        assert!(self.limit < self.bound, "an index bounded to {} blocks is full", self.bound);
        self.limit = self.limit.saturating_mul(2).min(self.bound);
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::default(); buckets(self.limit)]);
        for bucket in old {
            for at in 0..bucket.used() {
                let home = self.home(tag(bucket.blocks[at]));
                self.enter(home, bucket.blocks[at], bucket.slots[at]);
            }
        }
    }

    /// Whether the latest access to a block with this tag is at `slot`.
    pub(super) fn holds(&self, tag: u32, slot: Slot) -> bool {
        let mut number = self.home(tag);
        loop {
            let bucket = &self.buckets[number];
            let is_here = bucket.position(|at| bucket.slots[at] == slot).is_some();
            if is_here || !bucket.is_passed() {
                return is_here;
            }
            number = self.after(number);
        }
    }

    /// Panics unless every block can be found, and the overflow counts are correct.
    pub(super) fn check_invariants(&self) {
        assert!(self.used <= self.limit && self.limit <= self.bound);
        let (mut used, mut past) = (0, 0);
        for (number, bucket) in self.buckets.iter().enumerate() {
            for (at, &block) in bucket.blocks[..bucket.used()].iter().enumerate() {
                let found = self.find(block);
                assert_eq!(found.ok(), Some(place(number, at) as u32), "block {block} is found where it is");
                let home = self.home(tag(block));
                past += if number >= home { number - home } else { number + self.buckets.len() - home };
                used += 1;
            }
        }
        assert_eq!(used, self.used, "blocks are counted right");
        let counted = self.buckets.iter().map(|bucket| (bucket.counts / PAST) as usize);
        assert_eq!(past, counted.sum::<usize>(), "blocks that went past a bucket are counted right");
    }
}
