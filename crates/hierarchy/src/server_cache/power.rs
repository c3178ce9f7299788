//! What a loss of power takes of a cache that writes back.

use super::cache::ServerCache;
use super::dirty::Dirty;
use nacre_kernel::{Data, Op, Recovery, Request, Time};
use std::collections::BTreeMap;

/// An entry of the table that outlives a loss of power: the number of a block, and whether it is dirty.
const ENTRY_BYTES: u64 = 8;

/// What is read of the table at once.
const TABLE_READ_BYTES: u64 = 1 << 20;

impl ServerCache {
    /// The power failed at `at`, and the levels know nothing: all dirty blocks are lost, or those are known again
    /// that the table has.
    pub(super) fn lose_dirty(&mut self, at: Time) {
        let Some(work) = &mut self.write_back else { return };
        let (waited, kept) = (work.dirty.waiting(), work.table.as_mut().map(|table| table.fail(at)));
        work.refuse_again(at);
        if kept.is_none() {
            work.blocks_lost += work.forget_all(at);
        }
        (work.dirty, work.leaving, work.arriving) = (Dirty::new(), BTreeMap::new(), BTreeMap::new());
        (work.cleaner_free, work.above_since) = (at, at);
        let kept = kept.unwrap_or_default();
        for &(block, _) in &kept {
            work.dirty.mark(block, at);
        }
        // A write that was interrupted dirtied nothing, and one that wrote back did not.
        let waits = kept.len() as u64;
        work.counts.lost += waited.saturating_sub(waits);
        work.counts.dirtied += waits.saturating_sub(waited);
        kept.iter().for_each(|&(block, place)| self.levels.all[0].remember(block, place));
        self.forgotten = self.forgotten.saturating_sub(waits);
    }

    /// The devices are ready, and the cache is when it has read its table.
    pub(super) fn recover_dirty(&mut self, devices: Recovery) -> Recovery {
        let Some(work) = &mut self.write_back else { return devices };
        let bytes_lost = devices.bytes_lost + (std::mem::take(&mut work.blocks_lost) << self.shift);
        work.ready = devices.done;
        if work.table.is_none() {
            return Recovery { bytes_lost, ..devices };
        }
        let level = &mut self.levels.all[0];
        let (mut left, mut done) = (level.blocks * ENTRY_BYTES, devices.done);
        let most = level.blocks << self.shift;
        while left > 0 {
            let bytes = left.min(TABLE_READ_BYTES).min(most);
            let mut buffer = vec![0; if self.carries_bytes { bytes as usize } else { 0 }];
            let data = if self.carries_bytes { Data::Read(&mut buffer) } else { Data::None };
            let request = Request { arrival: done, address: 0, bytes: bytes as u32, volume: 0, op: Op::Read };
            self.scratch.clear();
            done = level.device.submit(done, &request, data, &mut self.scratch).done;
            left -= bytes;
        }
        work.ready = done;
        Recovery { done, bytes_lost, ..devices }
    }
}
