//! Writes go through to the backing, and to every copy on the way; trims take copies out.

use super::cache::ServerCache;
use super::in_flight::Way;
use super::parts::{AtHand, at, part_of, within};
use super::visit::Visit;
use nacre_kernel::{Breakdown, Completion, Data, Request, Status, Time};

impl ServerCache {
    pub(super) fn write(
        &mut self,
        start: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let mut visit = self.enter(start, request, data, breakdown);
        self.counts.backing_writes += 1;
        let written = self.backing.submit(start, request, visit.data.lend(), visit.breakdown);
        visit.add(written, visit.parts.from);
        let (first, count) = request.blocks(1 << self.shift);
        for block in first..first + count {
            self.write_block(block, &part_of(block, request, self.shift), &mut visit);
        }
        if written.status != Status::Done {
            for block in first..first + count {
                self.drop_block(block, &mut visit.moves);
                self.in_flight.forget(block, start);
            }
        }
        self.leave(visit)
    }

    /// The copies of one block follow the write; a whole block may come in.
    fn write_block(&mut self, block: u64, part: &Request, visit: &mut Visit<'_, '_>) {
        let start = visit.parts.start;
        let is_whole = u64::from(part.bytes) == 1 << self.shift;
        let enters = is_whole && self.write_allocate;
        let found =
            if enters { self.levels.access(block, &mut visit.moves) } else { self.levels.touch(block) };
        let merges = !is_whole && found.is_some() && self.in_flight.way(block, start) != Way::Idle;
        let data = visit.data.part(within(part, visit.request));
        if let (Data::Write(bytes), false) = (&data, self.transit.is_empty()) {
            let from = part.address & ((1 << self.shift) - 1);
            self.transit.write(block, from as usize, bytes, !merges);
        }
        if merges {
            self.counts.write_merged += 1;
            return;
        }
        self.in_flight.forget(block, start);
        if let Some(found) = found {
            self.levels.all[found.level].counts.write_hits += 1;
        } else {
            self.counts.write_misses += 1;
            self.counts.write_parts += u64::from(!is_whole && self.write_allocate);
        }
        if found.is_some() || enters {
            self.write_copies(block, part, visit);
        }
    }

    /// Writes `part` into every level that holds its block; victims go down beside it.
    fn write_copies(&mut self, block: u64, part: &Request, visit: &mut Visit<'_, '_>) {
        let start = visit.parts.start;
        visit.moves.forget(block);
        let all = visit.moves.list.len();
        self.settle(&mut visit.moves, all, start, AtHand::NONE);
        let mut data = visit.data.part(within(part, visit.request));
        let mut failed = false;
        for level in &mut self.levels.all {
            if let Some(place) = level.places.get(block) {
                let mark = visit.breakdown.mark();
                let part = at(place, part, self.shift);
                let written = level.device.submit(start, &part, data.lend(), visit.breakdown);
                failed |= written.status != Status::Done;
                visit.parts.add(Completion { status: Status::Done, ..written }, mark, visit.breakdown);
            }
        }
        if failed {
            self.counts.recovered += 1;
            self.drop_block(block, &mut visit.moves);
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
