//! Open-addressing index of the blocks of the log, each with its latest use.
//!
//! A place is 12 bytes: the key and the slot of its latest use. So a hit reads and writes one place, and one line
//! of the processor's caches nearly always, where tagged words beside keys in the log took two that lie apart, the
//! second only known from the first. The log keeps the tags of keys in turn, which say where to look for the slot.
//!
//! Homes, probing and deleting are those of the [index](super::super::index) of the other policies.

use super::super::arena::Slot;
use super::super::index::{Vacancy, places, tag};
use nacre_kernel::state::{State, Value};

/// The slot of a place that is free.
const NONE: Slot = Slot::MAX;

const FREE: Entry = Entry { block: [0; 8], slot: NONE };

/// Entries in the smallest index.
const SMALLEST: usize = 16;

/// Places of an index that stays in the second-level cache of any server: 256 KiB.
const CACHED: usize = (1 << 18) / size_of::<Entry>();

#[derive(Clone, Copy, Debug, Value)]
struct Entry {
    /// The key; as bytes, it does not align the entry to 16.
    block: [u8; 8],
    slot: Slot,
}

impl Entry {
    #[inline]
    fn block(&self) -> u64 {
        u64::from_le_bytes(self.block)
    }

    fn is_free(&self) -> bool {
        self.slot == NONE
    }
}

/// The blocks with the slots of their latest uses.
#[derive(Debug, State)]
#[state(after = "Keyed::check_restored")]
pub(super) struct Keyed {
    #[state(varies)]
    entries: Vec<Entry>,
    used: usize,
    /// Blocks allowed before the index grows.
    limit: usize,
    /// Blocks the index will ever hold.
    #[state(same)]
    bound: usize,
}

#[inline]
fn tag_of(entry: Entry) -> u32 {
    tag(entry.block())
}

impl Keyed {
    /// An empty index that will hold at most `bound` blocks.
    pub(super) fn new(bound: usize) -> Keyed {
        let limit = bound.min(SMALLEST);
        Keyed { entries: vec![FREE; places(limit)], used: 0, limit, bound }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let used = self.entries.iter().filter(|entry| !entry.is_free()).count();
        match self.limit <= self.bound && self.entries.len() == places(self.limit) && used == self.used {
            true if used <= self.limit => Ok(()),
            _ => Err(format!("{used} of {} blocks in {} places", self.used, self.entries.len())),
        }
    }

    /// Whether the index is so small that its accesses need no warming.
    #[inline]
    pub(super) fn is_cached(&self) -> bool {
        self.entries.len() <= CACHED
    }

    /// Number of blocks.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.used
    }

    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.entries.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        if place + 1 == self.entries.len() { 0 } else { place + 1 }
    }

    /// The place of `block`, or where it would go.
    #[inline]
    pub(super) fn find(&self, block: u64) -> Result<u32, Vacancy> {
        let tag = tag(block);
        let mut place = self.home(tag);
        loop {
            let entry = &self.entries[place];
            if entry.is_free() {
                return Err(Vacancy { place, tag });
            }
            if entry.block() == block {
                return Ok(place as u32);
            }
            place = self.after(place);
        }
    }

    /// The block at `place`.
    #[inline]
    pub(super) fn block(&self, place: u32) -> u64 {
        self.entries[place as usize].block()
    }

    /// The slot of the latest use of the block at `place`, to be changed.
    #[inline]
    pub(super) fn slot_mut(&mut self, place: u32) -> &mut Slot {
        &mut self.entries[place as usize].slot
    }

    /// Reads the home of a block with this tag only, for warming.
    #[inline]
    pub(super) fn glance(&self, tag: u32) -> u32 {
        self.entries[self.home(tag)].slot
    }

    /// Enters `block`, used at `slot`, at `vacancy`.
    #[inline]
    pub(super) fn occupy(&mut self, vacancy: Vacancy, block: u64, slot: Slot) {
        let mut place = vacancy.place;
        if self.used == self.limit {
            self.grow();
            place = self.free_place(vacancy.tag);
        }
        self.entries[place] = Entry { block: block.to_le_bytes(), slot };
        self.used += 1;
    }

    /// The place of the block with this tag that was used at `slot`.
    #[inline]
    pub(super) fn place_of(&self, tag: u32, slot: Slot) -> u32 {
        let mut place = self.home(tag);
        while self.entries[place].slot != slot {
            assert!(!self.entries[place].is_free(), "what was used at slot {slot} is not in the index");
            place = self.after(place);
        }
        place as u32
    }

    /// Takes the block with this tag out that was used at `slot`; gives the block.
    #[inline]
    pub(super) fn vacate(&mut self, tag: u32, slot: Slot) -> u64 {
        let mut hole = self.place_of(tag, slot) as usize;
        let block = self.entries[hole].block();
        let mut place = hole;
        loop {
            place = self.after(place);
            let entry = self.entries[place];
            if entry.is_free() {
                break;
            }
            let home = self.home(tag_of(entry));
            if self.distance(home, place) >= self.distance(hole, place) {
                self.entries[hole] = entry;
                hole = place;
            }
        }
        self.entries[hole] = FREE;
        self.used -= 1;
        block
    }

    /// Places from `from` forward to `to`.
    #[inline]
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.entries.len() - from }
    }

    fn free_place(&self, tag: u32) -> usize {
        let mut place = self.home(tag);
        while !self.entries[place].is_free() {
            place = self.after(place);
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        assert!(self.limit < self.bound, "an index bounded to {} blocks is full", self.bound);
        self.limit = self.limit.saturating_mul(2).min(self.bound);
        let old = std::mem::replace(&mut self.entries, vec![FREE; places(self.limit)]);
        for entry in old.into_iter().filter(|entry| !entry.is_free()) {
            let place = self.free_place(tag(entry.block()));
            self.entries[place] = entry;
        }
    }

    /// Whether a block with this tag was used last at `slot`.
    pub(super) fn holds(&self, tag: u32, slot: Slot) -> bool {
        let from = self.home(tag);
        let run = self.entries[from..].iter().chain(&self.entries[..from]);
        run.take_while(|entry| !entry.is_free()).any(|entry| entry.slot == slot)
    }

    /// Panics unless every block can be found.
    pub(super) fn check_invariants(&self) {
        assert!(self.used <= self.limit && self.limit <= self.bound);
        let mut used = 0;
        for (place, entry) in self.entries.iter().enumerate().filter(|(_, entry)| !entry.is_free()) {
            let found = self.find(entry.block());
            assert_eq!(found.ok(), Some(place as u32), "block {} is found where it is", entry.block());
            used += 1;
        }
        assert_eq!(used, self.used, "blocks are counted right");
    }
}
