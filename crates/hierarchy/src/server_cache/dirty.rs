//! Which blocks the backing does not have yet. Knows neither bytes nor devices, and no time.

use super::ops::NONE;
use nacre_kernel::state::{State, Value};
use std::collections::BTreeMap;

/// A dirty block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Entry {
    /// Tells it from the same block when it was dirty earlier.
    pub(super) stamp: u64,
    /// The order in which blocks became dirty; of a block that waits to be written back.
    age: u64,
    /// Whether it waits to be written back.
    pub(super) waits: bool,
    /// Whether it will wait when the first of the writes to its copies is done.
    pub(super) is_new: bool,
    /// Writes to its copies in progress.
    coming: u32,
    /// The operation that ends its write-back, if one is under way; otherwise [`NONE`].
    pub(super) last: u32,
}

/// Dirty blocks: those that wait to be written back, by age, and those that are being written or written back.
#[derive(Debug, State)]
#[state(after = "Dirty::check_restored")]
pub(super) struct Dirty {
    #[state(varies)]
    blocks: BTreeMap<u64, Entry>,
    /// Blocks that wait, by age.
    #[state(varies)]
    waiting: BTreeMap<u64, u64>,
    /// Blocks that will wait when they are written.
    new: u64,
    stamps: u64,
}

/// What a write did to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) stamp: u64,
    /// Whether it has to be written back once more for the write.
    pub(super) is_new: bool,
}

impl Dirty {
    /// No block is. Stamps continue from `stamps`.
    pub(super) fn new(stamps: u64) -> Dirty {
        Dirty { blocks: BTreeMap::new(), waiting: BTreeMap::new(), new: 0, stamps }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let fits = |(age, block): (&u64, &u64)| {
            self.blocks.get(block).is_some_and(|entry| entry.waits && entry.age == *age)
        };
        let waits = self.blocks.values().filter(|entry| entry.waits).count();
        let new = self.blocks.values().filter(|entry| entry.is_new).count() as u64;
        match waits == self.waiting.len() && new == self.new && self.waiting.iter().all(fits) {
            true => Ok(()),
            false => Err(format!("{} dirty blocks in a wrong order", self.blocks.len())),
        }
    }

    /// A number that no write or write-back has had.
    pub(super) fn next_stamp(&mut self) -> u64 {
        self.stamps += 1;
        self.stamps
    }

    /// The last stamp.
    pub(super) fn stamps(&self) -> u64 {
        self.stamps
    }

    /// Dirty blocks, those being written back included.
    pub(super) fn len(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Blocks that wait to be written back.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Blocks that wait, or will when they are written.
    pub(super) fn outstanding(&self) -> u64 {
        self.waiting() + self.new
    }

    /// Whether the backing does not have `block` as it is.
    pub(super) fn contains(&self, block: u64) -> bool {
        self.blocks.contains_key(&block)
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.blocks.iter().map(|(&block, entry)| (block, entry))
    }

    /// `block` is being written to `copies` copies.
    pub(super) fn mark(&mut self, block: u64, copies: u32) -> Marked {
        let stamp = self.next_stamp();
        let entry = self.blocks.entry(block).or_insert(Entry {
            stamp,
            age: 0,
            waits: false,
            is_new: false,
            coming: 0,
            last: NONE,
        });
        entry.coming += copies;
        let is_new = !entry.waits && !entry.is_new;
        entry.is_new |= is_new;
        self.new += u64::from(is_new);
        Marked { stamp: entry.stamp, is_new }
    }

    /// A copy of `block` was written: it waits from now on, since a flush covers this write whatever is written behind it.
    pub(super) fn settle(&mut self, block: u64, stamp: u64) {
        let Some(entry) = self.blocks.get_mut(&block).filter(|entry| entry.stamp == stamp) else { return };
        entry.coming -= 1;
        if entry.is_new {
            entry.is_new = false;
            self.new -= 1;
            self.wait(block);
        } else if entry.coming == 0 && !entry.waits && entry.last == NONE {
            // It was written back while its last copy was written.
            self.blocks.remove(&block);
        }
    }

    /// `block` waits to be written back, as the youngest.
    fn wait(&mut self, block: u64) {
        let age = self.next_stamp();
        if let Some(entry) = self.blocks.get_mut(&block) {
            (entry.age, entry.waits) = (age, true);
            self.waiting.insert(age, block);
        }
    }

    /// `block` is dirty behind a power loss. Its stamp.
    pub(super) fn remember(&mut self, block: u64) -> u64 {
        let Marked { stamp, .. } = self.mark(block, 1);
        self.settle(block, stamp);
        stamp
    }

    /// The `count` blocks that wait longest.
    pub(super) fn oldest(&self, count: u64) -> Vec<u64> {
        self.waiting.values().copied().take(count as usize).collect()
    }

    /// `block`, which waits, is being written back until operation `last` ends. Its stamp.
    pub(super) fn begin(&mut self, block: u64, last: u32) -> u64 {
        let entry = self.blocks.get_mut(&block).expect("a block that is written back is dirty");
        assert!(entry.waits && self.waiting.remove(&entry.age) == Some(block), "block {block} does not wait");
        (entry.waits, entry.last) = (false, last);
        entry.stamp
    }

    /// The operation that ends the write-back of `block` is another one.
    pub(super) fn ends_with(&mut self, block: u64, stamp: u64, last: u32) {
        if let Some(entry) = self.blocks.get_mut(&block).filter(|entry| entry.stamp == stamp) {
            entry.last = last;
        }
    }

    /// `block` was written back, or could not be. What it was before; none if it is not the one of `stamp`.
    pub(super) fn end(&mut self, block: u64, stamp: u64, is_there: bool) -> Option<Entry> {
        let entry = self.blocks.get_mut(&block).filter(|entry| entry.stamp == stamp)?;
        entry.last = NONE;
        let before = *entry;
        if !before.waits && !before.is_new {
            if is_there && before.coming == 0 {
                self.blocks.remove(&block);
            } else if !is_there {
                self.wait(block);
            }
        }
        Some(before)
    }

    /// `block` leaves the cache; what it was if it was dirty.
    pub(super) fn take(&mut self, block: u64) -> Option<Entry> {
        let entry = self.blocks.remove(&block)?;
        if entry.waits {
            self.waiting.remove(&entry.age);
        }
        self.new -= u64::from(entry.is_new);
        Some(entry)
    }
}
