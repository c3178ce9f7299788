//! State of a write-back cache: dirty blocks, lost blocks, and the block table. This module does not move
//! data.

use super::config::Settings;
use super::dirty::{Dirty, Entry, Marked};
use nacre_kernel::LossReport;
use nacre_kernel::event::Slab;
use nacre_kernel::state::{State, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// Additional state of a write-back cache.
#[derive(State)]
pub(super) struct WriteBack {
    #[state(skip = "from the configuration")]
    pub(super) settings: Settings,
    pub(super) dirty: Dirty,
    /// The block table, if it survives a power loss: the dirty block at each location, with the stamp of its
    /// write.
    #[state(varies)]
    pub(super) table: Option<BTreeMap<u64, (u64, u64)>>,
    /// Whether the backing may lose acknowledged data. If so, the backing is flushed before the table drops
    /// a block.
    #[state(skip = "from the configuration")]
    backing_needs_flush: bool,
    pub(super) batches: Slab<Batch>,
    /// Data of adjacent blocks that are being read for their write-back, by the number of the write
    /// operation.
    #[state(varies)]
    pub(super) buffers: BTreeMap<u32, Vec<u8>>,
    /// Unreadable blocks of write operations that have not started, by the number of the operation.
    #[state(varies)]
    pub(super) unreadable: BTreeMap<u32, Vec<u64>>,
    /// Number of blocks being written back, including evicted ones.
    pub(super) under_way: u64,
    /// Whether background write-back is in progress.
    pub(super) is_cleaning: bool,
    /// Whether the backing rejected all blocks of the last batch. If so, write-back resumes with the next
    /// request.
    pub(super) is_stalled: bool,
    /// Losses of dirty blocks to be reported to the host.
    pub(super) report: LossReport,
    /// Lost blocks with their stamps. Either the backing rejected them on eviction, or their level could not
    /// return them. A block is lost until the backing accepts it again.
    #[state(varies)]
    pub(super) refused: BTreeMap<u64, u64>,
    /// Number of written blocks that the last power loss destroyed.
    pub(super) blocks_lost: u64,
    pub(super) counts: Counts,
}

/// Counters, in blocks unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Counts {
    /// Number of writes that made a block dirty.
    pub(super) dirtied: u64,
    /// Number of writes to blocks that were already dirty.
    pub(super) overwritten: u64,
    /// Number of blocks written back in the background.
    pub(super) cleaned: u64,
    /// Number of blocks written back for a host flush.
    pub(super) flushed: u64,
    /// Number of blocks whose write-back on eviction has ended, successfully or not.
    pub(super) dirty_evictions: u64,
    /// Number of blocks whose data was lost before their write-back.
    pub(super) lost: u64,
    /// Number of lost blocks, plus the number of times that the backing rejected evicted blocks.
    pub(super) refused: u64,
    /// Number of write-back requests.
    pub(super) requests: u64,
    /// Number of dirty blocks at the start of measurement.
    pub(super) at_first: u64,
}

/// Dirty blocks that are written back together.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Batch {
    /// Whether a host flush requested the batch; otherwise, it is a background batch.
    pub(super) is_flush: bool,
    /// Number of writes in progress.
    pub(super) writes: u32,
    /// Flush of the backing after the writes, or `NONE`.
    pub(super) last: u32,
    /// Blocks whose write-back has not ended.
    pub(super) blocks: Vec<Member>,
    /// Whether the backing accepted any of the blocks.
    pub(super) has_written: bool,
}

/// A block of a batch.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Member {
    pub(super) block: u64,
    pub(super) stamp: u64,
    pub(super) location: u64,
    /// Stamp that marks the start of the block's write-back.
    pub(super) begun: u64,
    pub(super) is_written: bool,
}

impl WriteBack {
    pub(super) fn new(settings: Settings, outlives_power: bool, backing_needs_flush: bool) -> WriteBack {
        WriteBack {
            settings,
            dirty: Dirty::new(0),
            table: outlives_power.then(BTreeMap::new),
            backing_needs_flush,
            batches: Slab::new(),
            buffers: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            under_way: 0,
            is_cleaning: false,
            is_stalled: false,
            report: LossReport::default(),
            refused: BTreeMap::new(),
            blocks_lost: 0,
            counts: Counts::default(),
        }
    }

    /// Whether write-backs need a flush of the backing.
    pub(super) fn needs_flush(&self) -> bool {
        self.table.is_some() && self.backing_needs_flush
    }

    /// Returns a new stamp.
    pub(super) fn next_stamp(&mut self) -> u64 {
        self.dirty.next_stamp()
    }

    /// Marks `block` as dirty, because its new data is only in `copies` cached copies. Returns its stamp, or
    /// `None` if the block is not dirty yet and the limit of dirty blocks is reached.
    pub(super) fn mark(&mut self, block: u64, copies: u32) -> Option<u64> {
        if !self.dirty.contains(block) && self.dirty.len() >= self.settings.most {
            return None;
        }
        let Marked { stamp, is_new } = self.dirty.mark(block, copies);
        if is_new {
            self.counts.dirtied += 1;
        } else {
            self.counts.overwritten += 1;
        }
        Some(stamp)
    }

    /// Records that a write to the copy of `block` at `location` has ended. If the block has been evicted in
    /// the meantime, it is being written back.
    pub(super) fn settle(&mut self, block: u64, stamp: u64, location: u64) {
        self.dirty.settle(block, stamp);
        if let Some(table) = &mut self.table {
            table.insert(location, (block, stamp));
        }
    }

    /// Number of blocks to write back in the background now, or `None` if background write-back must not
    /// start.
    pub(super) fn next_batch(&self) -> Option<u64> {
        let above = self.dirty.waiting().saturating_sub(self.settings.clean_above);
        let begins = above > 0 && !self.is_cleaning && !self.is_stalled;
        begins.then(|| above.min(self.settings.batch))
    }

    /// Removes the entry of `block` at `location` from the table.
    pub(super) fn erase(&mut self, block: u64, location: u64) {
        if let Some(table) = &mut self.table
            && table.get(&location).is_some_and(|&(there, _)| there == block)
        {
            table.remove(&location);
        }
    }

    /// Removes `block` from the dirty blocks without writing it back. Returns whether the block was dirty.
    pub(super) fn forget(&mut self, block: u64) -> bool {
        let Some(Entry { waits, is_new, .. }) = self.dirty.take(block) else { return false };
        self.counts.lost += u64::from(waits || is_new);
        if let Some(table) = &mut self.table {
            table.retain(|_, &mut (there, _)| there != block);
        }
        true
    }

    /// Removes a block that its level cannot return. A dirty block is then lost until the backing accepts
    /// the block again. Returns whether the block was dirty.
    #[cold]
    pub(super) fn lose(&mut self, block: u64) -> bool {
        let was_dirty = self.forget(block);
        if was_dirty {
            self.refuse(block);
        }
        was_dirty
    }

    /// Records that `block` is lost, because neither a level nor the backing has its current data. The next
    /// host flush reports the loss.
    #[cold]
    pub(super) fn refuse(&mut self, block: u64) {
        let stamp = self.next_stamp();
        self.refused.insert(block, stamp);
        self.counts.refused += 1;
        self.report.lose();
    }

    /// Whether one of `blocks` is lost.
    #[inline]
    pub(super) fn has_refused(&self, mut blocks: Range<u64>) -> bool {
        !self.refused.is_empty() && blocks.any(|block| self.refused.contains_key(&block))
    }

    /// Records that the backing durably stores `block`, or a portion of it, with the data of the write
    /// `stamp`. If the whole block is newer than its loss, the block no longer counts as lost.
    pub(super) fn took(&mut self, block: u64, is_whole: bool, stamp: u64) {
        match self.refused.get(&block) {
            Some(&refused) if is_whole && refused < stamp => {
                self.refused.remove(&block);
            }
            Some(_) if !is_whole => self.refuse(block),
            _ => {}
        }
    }

    /// Ends the write-back of a block of a batch, successful or not. `is_safe` is whether the written data is
    /// durable.
    pub(super) fn member_ends(&mut self, member: Member, is_flush: bool, is_safe: bool) {
        let Member { block, stamp, location, begun, is_written } = member;
        let is_there = is_written && is_safe;
        self.under_way -= 1;
        let entry = self.dirty.end(block, stamp, is_there);
        if is_there {
            let counts = &mut self.counts;
            *(if is_flush { &mut counts.flushed } else { &mut counts.cleaned }) += 1;
            self.took(block, true, begun);
            if entry.is_none_or(|entry| !entry.waits) {
                self.erase(block, location);
            }
            return;
        }
        match entry {
            // The block was written again during its write-back, and both stamps are equal.
            Some(entry) if entry.waits || entry.is_new => {
                self.counts.overwritten += 1;
                match self.counts.dirtied {
                    0 => self.counts.at_first -= 1,
                    _ => self.counts.dirtied -= 1,
                }
            }
            Some(_) => {}
            None => {
                self.counts.lost += 1;
                if !self.refused.contains_key(&block) {
                    self.refuse(block);
                }
                self.erase(block, location);
            }
        }
    }

    /// Ends the write-back of an evicted dirty block, successful or not.
    pub(super) fn eviction_ends(&mut self, block: u64, location: u64, stamp: u64, is_there: bool) {
        self.under_way -= 1;
        self.counts.dirty_evictions += 1;
        match is_there {
            true => self.took(block, true, stamp),
            false => self.refuse(block),
        }
        self.erase(block, location);
    }

    /// Blocks whose acknowledged writes would be missing in the backing if power failed now.
    pub(super) fn missing(&self) -> impl Iterator<Item = u64> {
        let dirty = self.dirty.iter().filter(|(_, entry)| entry.waits || !entry.is_new);
        dirty.map(|(block, _)| block).chain(self.refused.keys().copied())
    }

    /// Restarts the counters.
    pub(super) fn restart_counts(&mut self) {
        let at_first = self.dirty.outstanding() + self.under_way;
        self.counts = Counts { at_first, ..Counts::default() };
    }

    /// Panics unless every block that became dirty was written back, was lost, or is still dirty.
    pub(super) fn check_invariants(&self) {
        let Counts { dirtied, cleaned, flushed, dirty_evictions, lost, at_first, .. } = self.counts;
        let gone = cleaned + flushed + dirty_evictions + lost;
        let outstanding = self.dirty.outstanding() + self.under_way;
        assert_eq!(at_first + dirtied, gone + outstanding, "a dirty block is unaccounted for");
        // A power loss may leave a block dirty that had already been evicted.
        let is_bounded = self.dirty.len() <= self.settings.most || self.table.is_some();
        assert!(is_bounded, "{} dirty blocks", self.dirty.len());
    }
}
