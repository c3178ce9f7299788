//! The uses of blocks in the order in which they happened, of which the last use of each is live.
//!
//! A use appends eight bytes and clears one bit where the block was used before; nothing else is
//! written, where a linked list writes three nodes in three places. The oldest live use is the victim,
//! and the coming victims lie side by side. When the ring of uses is full, the live ones close up.

use super::super::arena::Slot;
use super::super::index::Index;
use nacre_kernel::state::State;

/// Places for uses per block of capacity, at least.
const LEAST: usize = 2;

/// Places for uses per block of capacity of a small cache: closing up less often is worth memory
/// while that is little.
const MOST: usize = 8;

/// Places that are little memory.
const LITTLE: usize = 1 << 20;

/// Uses per word of the bitmap.
const WORD: usize = 64;

/// A ring of uses.
#[derive(Debug, State)]
#[state(after = "Log::check_restored")]
pub(super) struct Log {
    #[state(varies)]
    blocks: Vec<u64>,
    /// One bit per place.
    #[state(varies)]
    live: Vec<u64>,
    /// The oldest use, live or not.
    tail: usize,
    /// Places from the oldest to the latest use.
    used: usize,
    /// Places at most.
    #[state(same)]
    bound: usize,
}

impl Log {
    /// An empty log for `capacity` live uses.
    pub(super) fn new(capacity: usize) -> Log {
        let places = capacity.saturating_mul(MOST).min(LITTLE).max(capacity.saturating_mul(LEAST));
        let bound = places.div_ceil(WORD).max(1) * WORD;
        Log { blocks: vec![0; WORD], live: vec![0], tail: 0, used: 0, bound }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let places = self.blocks.len();
        let fits = places >= WORD && places <= self.bound && self.live.len() == places / WORD;
        match fits && self.tail < places && self.used <= places {
            true => Ok(()),
            false => Err(format!("{} uses from {} on in {places} places", self.used, self.tail)),
        }
    }

    /// The block used at `slot`.
    #[inline]
    pub(super) fn block(&self, slot: Slot) -> u64 {
        self.blocks[slot as usize]
    }

    /// The block used at `slot`, zero if there is no such slot.
    #[inline]
    pub(super) fn peek(&self, slot: Slot) -> u64 {
        self.blocks.get(slot as usize).copied().unwrap_or(0)
    }

    /// The use at `slot` is not the block's last any more.
    #[inline]
    pub(super) fn kill(&mut self, slot: Slot) {
        self.live[slot as usize / WORD] &= !(1 << (slot as usize % WORD));
    }

    /// Notes a use of `block`. There is room.
    #[inline]
    pub(super) fn append(&mut self, block: u64) -> Slot {
        let place = self.wrap(self.tail + self.used);
        self.blocks[place] = block;
        self.live[place / WORD] |= 1 << (place % WORD);
        self.used += 1;
        place as Slot
    }

    /// Takes the oldest live use out, if there is one.
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

    /// Drops dead uses at the tail.
    #[inline]
    fn trim(&mut self) {
        let oldest = self.next_live(self.tail).unwrap_or_else(|| self.wrap(self.tail + self.used));
        self.used -= self.distance(self.tail, oldest);
        self.tail = oldest;
    }

    /// The first live place at or after `from`; `None` after a whole round.
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
        if place >= self.blocks.len() { place - self.blocks.len() } else { place }
    }

    #[inline]
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.blocks.len() - from }
    }

    /// The blocks of the oldest live uses, at most `count` and those at hand in one word of the bitmap.
    #[inline]
    pub(super) fn oldest(&self, count: usize) -> impl Iterator<Item = u64> {
        let word = self.tail / WORD;
        let mut bits = self.live[word] & (u64::MAX << (self.tail % WORD));
        let near = std::iter::from_fn(move || {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            (bit < WORD).then_some(bit)
        });
        near.take(count).map(move |bit| self.blocks[word * WORD + bit])
    }

    /// Makes sure that one more use can be appended.
    #[inline]
    pub(super) fn make_room(&mut self, index: &mut Index) {
        if self.used == self.blocks.len() {
            self.close_up(index);
        }
    }

    /// Brings the live uses together, in a longer ring if they fill too much of this one.
    #[cold]
    fn close_up(&mut self, index: &mut Index) {
        let (live, length) = (index.len(), self.blocks.len());
        let longer = (2 * length).min(self.bound);
        let crowded = live > length / LEAST || (live > length / MOST && longer <= LITTLE);
        if crowded && longer > length {
            self.move_to_ring_of(longer, index);
        } else {
            self.move_to_tail(index);
        }
        self.used = live;
        self.live.clear();
        self.live.resize(self.blocks.len() / WORD, 0);
        for offset in 0..live {
            let place = self.wrap(self.tail + offset);
            self.live[place / WORD] |= 1 << (place % WORD);
        }
    }

    fn move_to_ring_of(&mut self, length: usize, index: &mut Index) {
        assert!(length <= Slot::MAX as usize, "one cache tracks at most 2^30 blocks");
        let mut blocks = vec![0; length];
        let mut from = self.tail;
        for (to, block) in blocks.iter_mut().enumerate().take(index.len()) {
            from = self.next_live(from).expect("as many live uses as entries in the index");
            *block = self.blocks[from];
            index.relocate(*block, from as Slot, to as Slot);
            from = self.wrap(from + 1);
        }
        self.blocks = blocks;
        self.tail = 0;
    }

    fn move_to_tail(&mut self, index: &mut Index) {
        let mut from = self.tail;
        for offset in 0..index.len() {
            from = self.next_live(from).expect("as many live uses as entries in the index");
            let (block, to) = (self.blocks[from], self.wrap(self.tail + offset));
            self.blocks[to] = block;
            index.relocate(block, from as Slot, to as Slot);
            from = self.wrap(from + 1);
        }
    }

    /// Panics unless the live uses are those of the index and lie between tail and head.
    pub(super) fn check_invariants(&self, index: &Index) {
        assert!(self.used < self.blocks.len() && self.live.len() * WORD == self.blocks.len());
        let is_live = |place: usize| self.live[place / WORD] & (1 << (place % WORD)) != 0;
        let places = (0..self.used).map(|offset| self.wrap(self.tail + offset));
        let mut count = 0;
        for place in places.filter(|place| is_live(*place)) {
            let found = index.find(self.blocks[place], |slot| slot as usize == place);
            assert!(found.is_ok(), "the use at place {place} is in the index");
            count += 1;
        }
        assert_eq!(count, index.len(), "every entry of the index has a live use");
        assert_eq!(count, self.live.iter().map(|word| word.count_ones() as usize).sum::<usize>());
    }
}
