//! Dirty blocks, i.e. blocks that are not in the backing yet. This module is independent of data, devices,
//! and time.

use super::ops::NONE;
use nacre_kernel::state::{State, Value};
use std::collections::BTreeMap;

/// A dirty block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Entry {
    /// Number that distinguishes this dirty state of the block from its earlier dirty states.
    pub(super) stamp: u64,
    /// Position of the block in the order of the blocks that wait for their write-back. Valid only while
    /// the block waits.
    age: u64,
    /// Whether the block waits for its write-back.
    pub(super) waits: bool,
    /// Whether the block does not wait for its write-back yet, but will as soon as the first write to one of
    /// its copies has ended.
    pub(super) is_new: bool,
    /// Number of writes in progress to copies of the block.
    coming: u32,
    /// Operation that ends the write-back in progress, or [`NONE`].
    pub(super) last: u32,
}

/// Dirty blocks: those that wait for their write-back, and those that are being written or written back.
#[derive(Debug, State)]
#[state(after = "Dirty::check_restored")]
pub(super) struct Dirty {
    #[state(varies)]
    blocks: BTreeMap<u64, Entry>,
    /// Blocks that wait for their write-back, by age.
    #[state(varies)]
    waiting: BTreeMap<u64, u64>,
    /// Number of blocks that will wait for their write-back as soon as the current write to a level has
    /// ended.
    new: u64,
    stamps: u64,
}

/// Effect of a write on the dirty state of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) stamp: u64,
    /// Whether the write requires another write-back.
    pub(super) is_new: bool,
}

impl Dirty {
    /// Creates an empty set of dirty blocks. Stamps continue from `stamps`.
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

    /// Returns a new stamp.
    pub(super) fn next_stamp(&mut self) -> u64 {
        self.stamps += 1;
        self.stamps
    }

    /// The last stamp that was returned.
    pub(super) fn stamps(&self) -> u64 {
        self.stamps
    }

    /// Number of dirty blocks, including those being written back.
    pub(super) fn len(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Number of blocks that wait for their write-back.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Number of blocks that wait for their write-back, or will wait as soon as the current write to a level
    /// has ended.
    pub(super) fn outstanding(&self) -> u64 {
        self.waiting() + self.new
    }

    /// Whether `block` is dirty, i.e. its current version is not in the backing.
    pub(super) fn contains(&self, block: u64) -> bool {
        self.blocks.contains_key(&block)
    }

    /// All dirty blocks.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.blocks.iter().map(|(&block, entry)| (block, entry))
    }

    /// Marks `block` as dirty while it is being written to `copies` copies.
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

    /// Records that a write to a copy of `block` has ended. The block now waits for its write-back. A flush
    /// covers this write, but not later ones.
    pub(super) fn settle(&mut self, block: u64, stamp: u64) {
        let Some(entry) = self.blocks.get_mut(&block).filter(|entry| entry.stamp == stamp) else { return };
        entry.coming -= 1;
        if entry.is_new {
            entry.is_new = false;
            self.new -= 1;
            self.wait(block);
        } else if entry.coming == 0 && !entry.waits && entry.last == NONE {
            // The block was written back before the write of its last copy ended.
            self.blocks.remove(&block);
        }
    }

    /// Appends `block` to the waiting blocks.
    fn wait(&mut self, block: u64) {
        let age = self.next_stamp();
        if let Some(entry) = self.blocks.get_mut(&block) {
            (entry.age, entry.waits) = (age, true);
            self.waiting.insert(age, block);
        }
    }

    /// Marks `block` as dirty after a power loss. Returns its stamp.
    pub(super) fn remember(&mut self, block: u64) -> u64 {
        let Marked { stamp, .. } = self.mark(block, 1);
        self.settle(block, stamp);
        stamp
    }

    /// Returns the `count` blocks that have waited longest for their write-back.
    pub(super) fn oldest(&self, count: u64) -> Vec<u64> {
        self.waiting.values().copied().take(count as usize).collect()
    }

    /// Marks the waiting `block` as being written back until operation `last` ends. Returns its stamp.
    pub(super) fn begin(&mut self, block: u64, last: u32) -> u64 {
        let entry = self.blocks.get_mut(&block).expect("a block that is written back is dirty");
        assert!(entry.waits && self.waiting.remove(&entry.age) == Some(block), "block {block} does not wait");
        (entry.waits, entry.last) = (false, last);
        entry.stamp
    }

    /// Sets the operation that ends the write-back of `block`.
    pub(super) fn ends_with(&mut self, block: u64, stamp: u64, last: u32) {
        if let Some(entry) = self.blocks.get_mut(&block).filter(|entry| entry.stamp == stamp) {
            entry.last = last;
        }
    }

    /// Ends the write-back of `block`. `is_there` states whether the backing now has the block. Returns the
    /// previous dirty state of the block, or `None` if its stamp differs from `stamp`.
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

    /// Removes `block`. Returns its dirty state, or `None` if the block was not dirty.
    pub(super) fn take(&mut self, block: u64) -> Option<Entry> {
        let entry = self.blocks.remove(&block)?;
        if entry.waits {
            self.waiting.remove(&entry.age);
        }
        self.new -= u64::from(entry.is_new);
        Some(entry)
    }
}
