//! Power loss and recovery.

use super::cache::ServerCache;
use super::dirty::Dirty;
use crate::visit::FailingFlushes;
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Op, Random, Recovery, Request, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Size in bytes of an entry (block number and dirty flag) of the persistent block table.
const ENTRY_BYTES: u64 = 8;

/// Number of bytes of the block table per read.
const TABLE_READ_BYTES: u64 = 1 << 20;

impl ServerCache {
    pub(super) fn lose_power(&mut self, at: Time, chance: &mut Random) {
        // A level may have run past the next power loss while the table was read.
        let at = at.max(self.table_read_until);
        self.devices.iter_mut().for_each(|device| device.power_fail(at, chance));
        // Without a persistent table, the block table is only in DRAM.
        self.forgotten += self.levels.forget();
        let leaving = self.leaving_blocks();
        self.operations.clear();
        self.hedging.iter_mut().for_each(|hedging| hedging.clear());
        self.arrivals.clear();
        self.due.clear();
        self.visits.clear();
        self.failing_flushes = FailingFlushes::default();
        self.fetches.clear();
        self.in_flight = crate::map::Map::new();
        self.lose_dirty(leaving);
        self.next = self.devices.iter().map(|device| device.next_event()).collect();
    }

    /// Evicted dirty blocks that are not in the backing yet.
    fn leaving_blocks(&self) -> Vec<u64> {
        let writes = self.operations.iter().filter(|(_, of)| of.is_write_back());
        writes.flat_map(|(_, of)| of.block..of.block + u64::from(of.blocks)).collect()
    }

    /// Drops all dirty blocks. If the block table is persistent, marks the blocks in the table as dirty
    /// again.
    fn lose_dirty(&mut self, leaving: Vec<u64>) {
        let Some(work) = &mut self.write_back else { return };
        let before = work.dirty.outstanding() + work.under_way;
        let kept = work.table.clone();
        if kept.is_none() {
            let missing: BTreeSet<u64> = work.missing().chain(leaving).collect();
            work.blocks_lost += missing.len() as u64;
            work.refused.clear();
        }
        work.dirty = Dirty::new(work.dirty.stamps());
        work.batches.clear();
        (work.buffers, work.unreadable) = (BTreeMap::new(), BTreeMap::new());
        (work.under_way, work.is_cleaning, work.is_stalled) = (0, false, false);
        // If a block is at two locations, the version that was written last is current.
        let mut newest: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for (&location, &(block, stamp)) in kept.iter().flatten() {
            let of = newest.entry(block).or_insert((stamp, location));
            *of = (*of).max((stamp, location));
        }
        let after = newest.len() as u64;
        if let Some(table) = &mut work.table {
            table.clear();
        }
        for (&block, &(_, location)) in &newest {
            let stamp = work.dirty.remember(block);
            if let Some(table) = &mut work.table {
                table.insert(location, (block, stamp));
            }
        }
        // An interrupted write made no block dirty, and an interrupted write-back made no block clean.
        work.counts.lost += before.saturating_sub(after);
        work.counts.dirtied += after.saturating_sub(before);
        newest.iter().for_each(|(&block, &(_, location))| self.levels.all[0].remember(block, location));
        self.forgotten = self.forgotten.saturating_sub(after);
    }

    /// Recovers the devices in parallel. The cache is ready when it has read its block table.
    pub(super) fn recover_all(&mut self, at: Time) -> Recovery {
        let blocks_forgotten = std::mem::take(&mut self.forgotten);
        let begun = at.max(self.table_read_until);
        let own = Recovery { done: begun, blocks_forgotten, ..Recovery::default() };
        let mut recovery =
            self.devices.iter_mut().map(|device| device.recover(begun)).fold(own, Recovery::in_parallel_with);
        if let Some(work) = &mut self.write_back {
            recovery.bytes_lost += std::mem::take(&mut work.blocks_lost) << self.shift;
            if work.table.is_some() {
                recovery.done = self.read_table(recovery.done);
            }
            self.ready = recovery.done;
        }
        self.next = self.devices.iter().map(|device| device.next_event()).collect();
        recovery
    }

    /// Reads the block table, starting at `at`. Returns the end time.
    fn read_table(&mut self, at: Time) -> Time {
        let (blocks, mut now) = (self.levels.all[0].blocks, at);
        let (mut left, most) = (blocks * ENTRY_BYTES, blocks << self.shift);
        while left > 0 {
            let bytes = left.min(TABLE_READ_BYTES).min(most);
            let request = Request { arrival: now, address: 0, bytes: bytes as u32, volume: 0, op: Op::Read };
            let device = &mut self.devices[0];
            let mut completions = Completions::new();
            // Until then, the level performs background work.
            device.run(now, &mut completions);
            device.submit(now, RequestId(0), &request, Payload::NONE);
            while completions.is_empty() {
                device.run(Time::MAX, &mut completions);
            }
            now = completions.get(0).0.at;
            left -= bytes;
        }
        self.table_read_until = now;
        now
    }
}
