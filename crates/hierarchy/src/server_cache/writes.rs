//! Writes go through to the backing, and to every copy on the way; trims take copies out.

use super::cache::ServerCache;
use super::in_flight::Way;
use super::levels::NOWHERE;
use super::parts::part_of;
use crate::parts::Parts;
use nacre_kernel::{Breakdown, Completion, Data, Request, Status, Time};

impl ServerCache {
    pub(super) fn write(&mut self, start: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let mut parts = Parts::new(start, breakdown);
        self.counts.backing_writes += 1;
        let written = self.backing.submit(start, request, Data::None, breakdown);
        parts.add(written, parts.from, breakdown);
        let (first, count) = request.blocks(1 << self.shift);
        for block in first..first + count {
            self.write_block(block, request, &mut parts, breakdown);
        }
        if written.status != Status::Done {
            (first..first + count).for_each(|block| self.drop_block(block));
        }
        parts.completion()
    }

    /// The copies of one block follow the write; a whole block may come in.
    fn write_block(&mut self, block: u64, request: &Request, parts: &mut Parts, breakdown: &mut Breakdown) {
        let part = part_of(block, request, self.shift);
        let is_whole = u64::from(part.bytes) == 1 << self.shift;
        let enters = is_whole && self.write_allocate;
        let found = if enters { self.levels.access(block) } else { self.levels.touch(block) };
        if !is_whole && found != NOWHERE && self.in_flight.way(block, parts.start) != Way::Idle {
            self.counts.write_merged += 1;
            return;
        }
        self.in_flight.forget(block, parts.start);
        if found == NOWHERE {
            self.counts.write_misses += 1;
            self.counts.write_parts += u64::from(!is_whole && self.write_allocate);
        } else {
            self.levels.all[found].counts.write_hits += 1;
        }
        if found != NOWHERE || enters {
            self.write_copies(block, &part, parts, breakdown);
        }
    }

    /// Writes `part` into every level that holds its block; victims go down beside it.
    fn write_copies(&mut self, block: u64, part: &Request, parts: &mut Parts, breakdown: &mut Breakdown) {
        self.levels.moves.retain(|wanted| wanted.block != block);
        self.settle(self.levels.moves.len(), parts.start);
        let mut failed = false;
        for level in &mut self.levels.all {
            if level.policy.contains(block) {
                let mark = breakdown.mark();
                let part = level.at(part, self.shift);
                let written = level.device.submit(parts.start, &part, Data::None, breakdown);
                failed |= written.status != Status::Done;
                parts.add(Completion { status: Status::Done, ..written }, mark, breakdown);
            }
        }
        if failed {
            self.counts.recovered += 1;
            self.drop_block(block);
        }
    }

    pub(super) fn trim(&mut self, start: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let (first, count) = request.blocks(1 << self.shift);
        for block in first..first + count {
            self.in_flight.forget(block, start);
            self.counts.trimmed += u64::from(self.levels.remove(block));
        }
        self.backing.submit(start, request, Data::None, breakdown)
    }
}
