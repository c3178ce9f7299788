//! Log of accesses to blocks, in which only the last entry of each block is valid.
//!
//! An access appends an entry of four bytes, the [tag](super::super::index::tag) of the block, and clears the
//! valid bit of the block's previous entry. A linked list would write three nodes in different locations
//! instead. The block of the oldest valid entry is the victim, and the next victims are in adjacent entries.
//! When the ring of entries is full, the valid entries are compacted.

use super::super::arena::Slot;
use super::keyed::Keyed;
use nacre_kernel::state::State;

/// Minimum number of log entries per block of capacity.
const LEAST: usize = 2;

/// Number of log entries per block of capacity in a small cache. Such a log needs little memory and is
/// compacted less often.
const MOST: usize = 8;

/// Maximum number of entries in the log of a small cache.
const LITTLE: usize = 1 << 20;

/// Number of entries whose index positions are prefetched together.
const WARMED: usize = 16;

/// Number of entries per word of the bitmap.
const WORD: usize = 64;

/// A ring of log entries.
#[derive(Debug, State)]
#[state(after = "Log::check_restored")]
pub(super) struct Log {
    #[state(varies)]
    tags: Vec<u32>,
    /// Bitmap with one bit per position, which is set if the entry is valid.
    #[state(varies)]
    live: Vec<u64>,
    /// Position of the oldest entry, which may be invalid.
    tail: usize,
    /// Number of positions from the oldest to the latest entry, inclusive.
    used: usize,
    /// Maximum number of positions.
    #[state(same)]
    bound: usize,
}

impl Log {
    /// Creates an empty log for `capacity` valid entries.
    pub(super) fn new(capacity: usize) -> Log {
        let places = capacity.saturating_mul(MOST).min(LITTLE).max(capacity.saturating_mul(LEAST));
        let bound = places.div_ceil(WORD).max(1) * WORD;
        Log { tags: vec![0; WORD], live: vec![0], tail: 0, used: 0, bound }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let places = self.tags.len();
        let fits = places >= WORD && places <= self.bound && self.live.len() == places / WORD;
        match fits && self.tail < places && self.used <= places {
            true => Ok(()),
            false => Err(format!("{} uses from {} on in {places} places", self.used, self.tail)),
        }
    }

    /// Tag of the block of the entry at `slot`.
    #[inline]
    pub(super) fn tag(&self, slot: Slot) -> u32 {
        self.tags[slot as usize]
    }

    /// Marks the entry at `slot` as invalid, because its block has a newer entry.
    #[inline]
    pub(super) fn kill(&mut self, slot: Slot) {
        self.live[slot as usize / WORD] &= !(1 << (slot as usize % WORD));
    }

    /// Appends an entry for a block with this tag. Returns the slot of the entry. The log must have space for
    /// it.
    #[inline]
    pub(super) fn append(&mut self, tag: u32) -> Slot {
        let place = self.wrap(self.tail + self.used);
        self.tags[place] = tag;
        self.live[place / WORD] |= 1 << (place % WORD);
        self.used += 1;
        place as Slot
    }

    /// Removes the oldest valid entry, if any, and returns its slot.
    #[inline]
    pub(super) fn pop_oldest(&mut self) -> Option<Slot> {
        self.trim();
        if self.used == 0 {
            return None;
        }
        let oldest = self.tail;
        self.kill(oldest as Slot);
        Some(oldest as Slot)
    }

    /// Drops the invalid entries that are older than the oldest valid entry.
    #[inline]
    fn trim(&mut self) {
        let oldest = self.next_live(self.tail).unwrap_or_else(|| self.wrap(self.tail + self.used));
        self.used -= self.distance(self.tail, oldest);
        self.tail = oldest;
    }

    /// Position of the first valid entry at or after `from`; `None` if no entry is valid.
    #[inline]
    fn next_live(&self, from: usize) -> Option<usize> {
        let mut word = from / WORD;
        let mut bits = self.live[word] & (u64::MAX << (from % WORD));
        for _ in 0..=self.live.len() {
            if bits != 0 {
                return Some(word * WORD + bits.trailing_zeros() as usize);
            }
            word = if word + 1 == self.live.len() { 0 } else { word + 1 };
            bits = self.live[word];
        }
        None
    }

    #[inline]
    fn wrap(&self, place: usize) -> usize {
        if place >= self.tags.len() { place - self.tags.len() } else { place }
    }

    #[inline]
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.tags.len() - from }
    }

    /// Passes the tags of the oldest valid entries to `each`. Stops after `count` tags or two words of the
    /// bitmap.
    #[inline]
    pub(super) fn oldest(&self, mut count: usize, mut each: impl FnMut(u32)) {
        let mut word = self.tail / WORD;
        let mut bits = self.live[word] & (u64::MAX << (self.tail % WORD));
        for _ in 0..2 {
            while bits != 0 && count > 0 {
                each(self.tags[word * WORD + bits.trailing_zeros() as usize]);
                bits &= bits - 1;
                count -= 1;
            }
            word = if word + 1 == self.live.len() { 0 } else { word + 1 };
            bits = self.live[word];
        }
    }

    /// Ensures that one more entry can be appended.
    #[inline]
    pub(super) fn make_room(&mut self, index: &mut Keyed) {
        if self.used == self.tags.len() {
            self.close_up(index);
        }
    }

    /// Compacts the valid entries. If they fill too much of the ring, they are moved into a longer ring.
    #[cold]
    fn close_up(&mut self, index: &mut Keyed) {
        let (live, length) = (index.len(), self.tags.len());
        let longer = (2 * length).min(self.bound);
        let crowded = live > length / LEAST || (live > length / MOST && longer <= LITTLE);
        if crowded && longer > length {
            self.move_to_ring_of(longer, index);
        } else {
            self.move_to_tail(index);
        }
        self.used = live;
        self.live.clear();
        self.live.resize(self.tags.len() / WORD, 0);
        for offset in 0..live {
            let place = self.wrap(self.tail + offset);
            self.live[place / WORD] |= 1 << (place % WORD);
        }
    }

    fn move_to_ring_of(&mut self, length: usize, index: &mut Keyed) {
        assert!(length <= Slot::MAX as usize, "one cache tracks at most 2^30 blocks");
        let (mut tags, mut places) = (vec![0; length], Vec::with_capacity(index.len()));
        self.each_live(index, |_, index, from, tag| {
            tags[places.len()] = tag;
            places.push(index.place_of(tag, from));
        });
        // All positions must be found before slots change, because a new slot may be the old slot of another
        // block.
        for (to, place) in places.into_iter().enumerate() {
            *index.slot_mut(place) = to as Slot;
        }
        self.tags = tags;
        self.tail = 0;
    }

    fn move_to_tail(&mut self, index: &mut Keyed) {
        let mut to = self.tail;
        self.each_live(index, |log, index, from, tag| {
            log.tags[to] = tag;
            // Any valid use that was at the new slot has already been moved.
            let place = index.place_of(tag, from);
            *index.slot_mut(place) = to as Slot;
            to = log.wrap(to + 1);
        });
    }

    /// Passes every valid entry with its tag to `each`, oldest first. Several index positions are prefetched
    /// at a time, because each is at a different memory location.
    fn each_live(&mut self, index: &mut Keyed, mut each: impl FnMut(&mut Log, &mut Keyed, Slot, u32)) {
        let (mut from, mut left) = (self.tail, index.len());
        while left > 0 {
            let mut group = [(0, 0); WARMED];
            let group = &mut group[..left.min(WARMED)];
            for (slot, tag) in &mut *group {
                let live = self.next_live(from).expect("as many live uses as entries in the index");
                (*slot, *tag) = (live as Slot, self.tags[live]);
                from = self.wrap(live + 1);
            }
            group.iter().for_each(|&(_, tag)| index.prefetch(tag));
            for &mut (slot, tag) in &mut *group {
                each(self, index, slot, tag);
            }
            left -= group.len();
        }
    }

    /// Panics unless the index contains exactly the valid log entries, and all of them are between tail and
    /// head.
    pub(super) fn check_invariants(&self, index: &Keyed) {
        assert!(self.used < self.tags.len() && self.live.len() * WORD == self.tags.len());
        let is_live = |place: usize| self.live[place / WORD] & (1 << (place % WORD)) != 0;
        let places = (0..self.used).map(|offset| self.wrap(self.tail + offset));
        let mut count = 0;
        for place in places.filter(|place| is_live(*place)) {
            assert!(index.holds(self.tags[place], place as Slot), "the use at place {place} is in the index");
            count += 1;
        }
        assert_eq!(count, index.len(), "every entry of the index has a live use");
        assert_eq!(count, self.live.iter().map(|word| word.count_ones() as usize).sum::<usize>());
    }
}
