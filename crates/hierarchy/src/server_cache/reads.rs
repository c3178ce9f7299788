//! Reads: from the levels, from the backing, or from a block that is on its way.

use super::FillMode;
use super::cache::ServerCache;
use super::in_flight::Way;
use super::levels::NOWHERE;
use super::parts::{part_of, whole};
use crate::parts::Parts;
use nacre_kernel::{Activity, Breakdown, Completion, Data, Op, Request, Status, Time};

/// Adjacent blocks of one request that are in no level: they are fetched by one request.
#[derive(Clone, Copy, Default)]
struct Run {
    first: u64,
    blocks: usize,
    /// The first of these moves wait for the data of the run.
    moves: usize,
}

impl ServerCache {
    #[inline]
    pub(super) fn read(&mut self, start: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let (first, count) = request.blocks(1 << self.shift);
        if count > 1 || !self.in_flight.is_idle(start) {
            return self.read_blocks(start, request, None, breakdown);
        }
        // The hot path: one block, nothing on its way, in the first level.
        let found = self.levels.access(first);
        if found != 0 {
            return self.read_blocks(start, request, Some(found), breakdown);
        }
        let level = &mut self.levels.all[0];
        level.counts.read_hits += 1;
        let part = level.at(request, self.shift);
        let read = level.device.submit(start, &part, Data::None, breakdown);
        if read.status == Status::Done { read } else { self.recover(first, read.done, request, breakdown) }
    }

    /// Serves all blocks side by side. `found` says where the only block was found, if it was looked up.
    fn read_blocks(
        &mut self,
        start: Time,
        request: &Request,
        found: Option<usize>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let (first, count) = request.blocks(1 << self.shift);
        let mut parts = Parts::new(start, breakdown);
        let (mut run, mut admits) = (Run::default(), true);
        for block in first..first + count {
            if admits && !self.in_flight.has_room(start, run.blocks) {
                if run.blocks > 0 {
                    self.fetch(std::mem::take(&mut run), request, admits, &mut parts, breakdown);
                }
                admits = self.in_flight.has_room(start, 0);
            }
            let found = match found {
                Some(found) => found,
                None if admits => self.levels.access(block),
                None => self.levels.touch(block),
            };
            let way = self.in_flight.way(block, start);
            if way == Way::SetsOutLater || way == Way::Idle && found == NOWHERE {
                let first = if run.blocks == 0 { block } else { run.first };
                run = Run { first, blocks: run.blocks + 1, moves: self.levels.moves.len() };
                continue;
            }
            if run.blocks > 0 {
                self.fetch(std::mem::take(&mut run), request, admits, &mut parts, breakdown);
            }
            match way {
                Way::Arriving(arrival) => self.merge(arrival, &mut parts, breakdown),
                _ => self.hit(found, block, request, &mut parts, breakdown),
            }
        }
        if run.blocks > 0 {
            self.fetch(run, request, admits, &mut parts, breakdown);
        }
        parts.completion()
    }

    /// A block in level `found` is read there: as a whole if it is to be written into another level.
    #[inline]
    fn hit(
        &mut self,
        found: usize,
        block: u64,
        request: &Request,
        parts: &mut Parts,
        breakdown: &mut Breakdown,
    ) {
        let mark = breakdown.mark();
        let moves_up = self.levels.moves.last().is_some_and(|wanted| wanted.block == block);
        let part = if moves_up { whole } else { part_of }(block, request, self.shift);
        let level = &mut self.levels.all[found];
        level.counts.read_hits += 1;
        let part = level.at(&part, self.shift);
        let mut read = level.device.submit(parts.start, &part, Data::None, breakdown);
        if read.status != Status::Done {
            read = self.recover(block, read.done, request, breakdown);
        }
        if !self.levels.moves.is_empty() {
            self.settle(self.levels.moves.len(), read.done);
        }
        parts.add(read, mark, breakdown);
    }

    /// A block is on its way: this request waits for it too, and takes it from memory.
    fn merge(&mut self, arrival: Time, parts: &mut Parts, breakdown: &mut Breakdown) {
        self.counts.read_merged += 1;
        let mark = breakdown.mark();
        breakdown.add(self.id, Activity::Merge, arrival - parts.start);
        self.settle(self.levels.moves.len(), arrival);
        parts.add(Completion { done: arrival, status: Status::Done }, mark, breakdown);
    }

    /// Blocks that are in no level come from the backing.
    fn fetch(
        &mut self,
        run: Run,
        request: &Request,
        admits: bool,
        parts: &mut Parts,
        breakdown: &mut Breakdown,
    ) {
        let mark = breakdown.mark();
        let count = run.blocks as u64;
        self.counts.read_misses += count;
        let mut fetched = self.read_backing(run.first, count, parts.start, request, breakdown);
        let blocks = run.first..run.first + count;
        if fetched.status != Status::Done {
            let moves_after = self.levels.moves.len() - run.moves;
            blocks.for_each(|block| self.drop_block(block));
            self.settle(self.levels.moves.len() - moves_after, fetched.done);
        } else if admits {
            self.counts.fills += count;
            let filled = self.settle(run.moves, fetched.done);
            if self.fill == FillMode::Foreground && filled > fetched.done {
                breakdown.add(self.id, Activity::Fill, filled - fetched.done);
                fetched.done = filled;
            }
            if fetched.done > parts.start {
                blocks.for_each(|block| {
                    self.in_flight.insert(block, parts.start, fetched.done);
                });
            }
        } else {
            self.counts.bypassed += count;
        }
        parts.add(fetched, mark, breakdown);
    }

    /// A level could not return a block; the backing has a copy of all that the cache holds.
    #[cold]
    fn recover(&mut self, block: u64, now: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        self.counts.recovered += 1;
        self.drop_block(block);
        self.read_backing(block, 1, now, request, breakdown)
    }

    /// Reads whole blocks from the backing, as far as it reaches.
    fn read_backing(
        &mut self,
        first: u64,
        blocks: u64,
        now: Time,
        request: &Request,
        breakdown: &mut Breakdown,
    ) -> Completion {
        self.counts.backing_reads += 1;
        let address = first << self.shift;
        let end = self.backing.capacity().map_or(u64::MAX, |capacity| capacity.0);
        let bytes = (blocks << self.shift).min(end - address);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.backing.submit(now, &Request { address, bytes, op: Op::Read, ..*request }, Data::None, breakdown)
    }
}
