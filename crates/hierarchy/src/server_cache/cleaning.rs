//! Write-backs of dirty blocks: in the background, for a flush, or on eviction.

use super::cache::ServerCache;
use super::ops::{NONE, Operation, Purpose};
use super::write_back::Member;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Op, Request, Status, Time};

impl ServerCache {
    /// Starts background write-backs if enough blocks are dirty.
    #[inline]
    pub(super) fn consider_cleaning(&mut self, now: Time) {
        let Some(work) = &mut self.write_back else { return };
        if let Some(count) = work.next_batch() {
            work.is_cleaning = true;
            let blocks = work.dirty.oldest(count);
            self.begin_batch(now, blocks, false);
        }
    }

    /// Writes `blocks`, which wait for their write-back, to the backing. Adjacent blocks are written with one
    /// request.
    fn begin_batch(&mut self, now: Time, mut blocks: Vec<u64>, is_flush: bool) {
        blocks.sort_unstable();
        let needs_flush = self.work().needs_flush();
        let last = if needs_flush { self.flush_of_backing(now, Purpose::CleanFlush) } else { NONE };
        let (number, batch) = self.work().batches.take();
        (batch.is_flush, batch.writes, batch.last, batch.has_written) = (is_flush, 0, last, false);
        batch.blocks.clear();
        for run in blocks.chunk_by(|a, b| a + 1 == *b) {
            self.begin_run(now, number, run, last);
        }
        if last != NONE {
            self.operations[last].owner = number;
            self.operations.launch(last);
        }
    }

    /// Creates a flush of the backing. The caller launches it later.
    pub(super) fn flush_of_backing(&mut self, now: Time, purpose: Purpose) -> u32 {
        let flush = Request { arrival: now, address: 0, bytes: 0, volume: 0, op: Op::Flush };
        self.operations.add(purpose, self.backing(), now, flush)
    }

    /// Reads adjacent blocks from their levels and writes them to the backing.
    fn begin_run(&mut self, now: Time, batch: u32, run: &[u64], last: u32) {
        let (first, count) = (run[0], run.len() as u64);
        let request = self.backing_request(first, count, Op::Write, now);
        let write = self.operations.add(Purpose::CleanWrite, self.backing(), now, request);
        self.operations.write_backing(write, first, count);
        self.operations[write].owner = batch;
        let end = if last == NONE { write } else { last };
        for &block in run {
            let spot = self.levels.spot(block).expect("a dirty block is in a level");
            let read = self.read_copy(now, Purpose::CleanRead, block, spot);
            self.operations[read].owner = write;
            self.operations.depend(write, read);
            self.operations.launch(read);
            let work = self.work();
            let begun = work.next_stamp();
            let stamp = work.dirty.begin(block, end);
            let member = Member { block, stamp, location: spot.location, begun, is_written: false };
            work.batches[batch].blocks.push(member);
            work.under_way += 1;
        }
        if self.carries_bytes {
            let bytes = vec![0; (count << self.shift) as usize];
            self.work().buffers.insert(write, bytes);
        }
        self.work().batches[batch].writes += 1;
        if last != NONE {
            self.operations.depend(last, write);
        }
        self.operations.launch(write);
    }

    /// Handles the end of the read of a dirty block for its write-back.
    pub(super) fn clean_read_ends(&mut self, number: u32, status: Status, data: &Payload) {
        let Operation { owner: write, block, .. } = self.operations[number];
        if status != Status::Done {
            self.drop_block(block);
            self.work().unreadable.entry(write).or_default().push(block);
            return;
        }
        let (first, shift) = (self.operations[write].block, self.shift);
        if let (Some(bytes), Some(buffer)) = (data.bytes(), self.work().buffers.get_mut(&write)) {
            let from = ((block - first) << shift) as usize;
            buffer[from..from + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Prepares the write of adjacent blocks. Returns whether the write is canceled because some blocks were
    /// unreadable. In this case, the other blocks are written separately.
    pub(super) fn split_if_unreadable(&mut self, now: Time, write: u32) -> bool {
        let buffer = self.work().buffers.remove(&write);
        let Operation { block: first, blocks, request, owner: batch, .. } = self.operations[write];
        let Some(missing) = self.work().unreadable.remove(&write) else {
            self.counts.backing_writes += 1;
            self.work().counts.requests += 1;
            let data =
                buffer.map_or(Payload::NONE, |bytes| Payload::from(bytes).slice(0, request.bytes as usize));
            self.operations[write].data = data;
            return false;
        };
        let there = (first..first + u64::from(blocks)).filter(|block| !missing.contains(block));
        let there: Vec<u64> = there.collect();
        let last = self.work().batches[batch].last;
        let mut parts = Vec::new();
        for run in there.chunk_by(|a, b| a + 1 == *b) {
            let request = self.backing_request(run[0], run.len() as u64, Op::Write, now);
            let part = self.operations.add(Purpose::CleanWrite, self.backing(), now, request);
            self.operations.write_backing_instead_of(part, write, run[0], run.len() as u64);
            self.operations[part].owner = batch;
            self.work().batches[batch].writes += 1;
            if let Some(bytes) = &buffer {
                let from = ((run[0] - first) << self.shift) as usize;
                let bytes = bytes[from..from + (run.len() << self.shift)].to_vec();
                self.work().buffers.insert(part, bytes);
            }
            let end = if last == NONE { part } else { last };
            for &block in run {
                let stamp =
                    self.work().batches[batch].blocks.iter().find(|of| of.block == block).map(|of| of.stamp);
                self.work().dirty.ends_with(block, stamp.expect("it is of the batch"), end);
            }
            parts.push(part);
        }
        self.operations.hand_over(write, &parts);
        // All operations that the canceled write waited for have ended.
        parts.iter().for_each(|&part| self.operations.launch(part));
        self.operations[write].is_skipped = true;
        true
    }

    /// Handles the completion of a write of adjacent blocks in a batch. If the write is rejected, its blocks
    /// stay dirty. If, in addition, the levels do not survive a power loss, the next host flush fails.
    pub(super) fn clean_write_ends(&mut self, now: Time, number: u32, status: Status) {
        let Operation { owner: batch, block: first, blocks, is_skipped, .. } = self.operations[number];
        self.operations.written_backing(number);
        let work = self.work();
        let of = &mut work.batches[batch];
        let (last, is_flush, written) = (of.last, of.is_flush, first..first + u64::from(blocks));
        if !is_skipped && status == Status::Done {
            of.has_written = true;
            let members = of.blocks.iter_mut().filter(|of| written.contains(&of.block));
            members.for_each(|of| of.is_written = true);
        } else if !is_skipped && work.table.is_none() {
            work.report.lose();
        }
        if !is_skipped && last == NONE {
            self.members_end(batch, is_flush, &written);
        }
        let of = &mut self.work().batches[batch];
        of.writes -= 1;
        let (is_over, has_written) = (of.writes == 0, of.has_written);
        if is_over && last == NONE {
            self.batch_ends(now, batch, true);
        } else if is_over && !has_written {
            self.operations[last].is_skipped = true;
        }
    }

    /// Ends the write-back of the blocks in `written`. The write of a block may have failed. The backing is
    /// not flushed afterwards.
    fn members_end(&mut self, batch: u32, is_flush: bool, written: &std::ops::Range<u64>) {
        let work = self.work();
        let mut members = std::mem::take(&mut work.batches[batch].blocks);
        for &member in members.iter().filter(|of| written.contains(&of.block)) {
            work.member_ends(member, is_flush, true);
        }
        members.retain(|of| !written.contains(&of.block));
        work.batches[batch].blocks = members;
    }

    /// Handles the end of the flush of the backing after a batch. If the flush fails, any data written by
    /// the batch or by write-through may be lost. The next host flush reports the loss.
    pub(super) fn clean_flush_ends(&mut self, now: Time, number: u32, status: Status) {
        let batch = self.operations[number].owner;
        if status != Status::Done {
            self.work().report.lose();
        }
        self.batch_ends(now, batch, status == Status::Done);
    }

    fn batch_ends(&mut self, now: Time, number: u32, is_safe: bool) {
        let work = self.work();
        let batch = &mut work.batches[number];
        let (is_flush, has_written) = (batch.is_flush, batch.has_written);
        let members = std::mem::take(&mut batch.blocks);
        for &member in &members {
            work.member_ends(member, is_flush, is_safe);
        }
        if !is_flush {
            work.is_cleaning = false;
            work.is_stalled = !(is_safe && has_written);
        }
        work.batches[number].blocks = members;
        work.batches.give_back(number);
        self.consider_cleaning(now);
    }

    /// Starts the write-backs of evicted dirty blocks, which are read from their former locations.
    pub(super) fn let_go(&mut self, now: Time) {
        let mut left = std::mem::take(&mut self.moves.left);
        for (block, spot) in left.drain(..) {
            let Some(entry) = self.work().dirty.take(block) else { continue };
            if !entry.waits && !entry.is_new {
                // The block is already being written back.
                if entry.last != NONE {
                    let number = self.operations.add(Purpose::Wait, spot.level, now, self.no_request(now));
                    self.operations.depend(number, entry.last);
                    self.operations.touches(number, spot.level, block);
                    self.operations.launch(number);
                }
                continue;
            }
            let stamp = self.work().next_stamp();
            self.work().under_way += 1;
            let read = self.read_copy(now, Purpose::EvictRead, block, spot);
            let request = self.backing_request(block, 1, Op::Write, now);
            let write = self.operations.add(Purpose::EvictWrite, self.backing(), now, request);
            self.operations.write_backing(write, block, 1);
            self.operations.depend(write, read);
            self.operations[write].source = read;
            let needs_flush = self.work().needs_flush();
            let flush = needs_flush.then(|| self.flush_of_backing(now, Purpose::EvictFlush));
            for number in [Some(write), flush].into_iter().flatten() {
                self.operations.touches(number, spot.level, block);
                let of = &mut self.operations[number];
                (of.stamp, of.location, of.owner) = (stamp, spot.location, flush.unwrap_or(NONE));
            }
            if let Some(flush) = flush {
                self.operations.depend(flush, write);
                self.operations.launch(flush);
            }
            self.operations.launch(read);
            self.operations.launch(write);
        }
        self.moves.left = left;
    }

    fn no_request(&self, now: Time) -> Request {
        Request { arrival: now, address: 0, bytes: 0, volume: 0, op: Op::Flush }
    }

    /// Handles the end of the write-back of an evicted block, or of the flush after it.
    pub(super) fn evict_step_ends(&mut self, number: u32, status: Status) {
        let Operation { purpose, block, location, owner: flush, stamp, is_skipped, .. } =
            self.operations[number];
        let is_there = status == Status::Done && !is_skipped;
        if purpose == Purpose::EvictWrite {
            self.operations.written_backing(number);
            let work = self.work();
            if !is_there && work.table.is_none() {
                work.report.lose();
            }
            if flush != NONE {
                self.operations[flush].is_skipped = !is_there;
                return;
            }
        } else if !is_there {
            self.work().report.lose();
        }
        self.work().eviction_ends(block, location, stamp, is_there);
    }

    /// Handles a host flush: writes all dirty blocks back and flushes the backing. If the levels and the
    /// block table survive a power loss, flushes all devices instead.
    pub(super) fn flush(&mut self, now: Time, id: RequestId, request: &Request, queued: Time) {
        let visit = self.enter(now, id, request, queued);
        let submitted = Request { arrival: now - self.lookup - queued, ..*request };
        let backing = self.backing();
        let outlives = self.write_back.as_ref().is_some_and(|work| work.table.is_some());
        let first = if outlives { 0 } else { backing };
        if let (Some(work), false) = (&self.write_back, outlives) {
            let blocks = work.dirty.oldest(u64::MAX);
            if !blocks.is_empty() {
                self.begin_batch(now, blocks, true);
            }
        }
        for device in first..=backing {
            let number = self.operations.add(Purpose::Through, device, now, submitted);
            self.operations[number].owner = visit;
            if !outlives {
                self.wait_for_write_backs(number);
            }
            self.add_part(visit);
            self.operations.launch(number);
        }
        self.leave(now, visit);
    }

    /// Makes operation `number` wait for all write-backs in progress.
    fn wait_for_write_backs(&mut self, number: u32) {
        if self.write_back.is_none() {
            return;
        }
        let writes = self.operations.iter().filter(|(_, of)| {
            matches!(
                of.purpose,
                Purpose::CleanWrite | Purpose::CleanFlush | Purpose::EvictWrite | Purpose::EvictFlush
            )
        });
        let writes: Vec<u32> = writes.map(|(number, _)| number).collect();
        self.operations.depend_all(number, &writes);
    }
}
