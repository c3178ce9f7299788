//! Writes go through to the backing, and to every copy on the way, or end in the cache; trims take copies out.

use super::cache::ServerCache;
use super::in_flight::Way;
use super::levels::Spot;
use super::parts::{AtHand, at, part_of, within};
use super::visit::Visit;
use nacre_kernel::{Activity, Breakdown, Completion, Data, Request, Status, Time};

impl ServerCache {
    pub(super) fn write(
        &mut self,
        start: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let mut visit = Visit::new(start, request, data, breakdown);
        if self.write_back.is_some() {
            self.absorb(&mut visit);
            return self.leave(&visit);
        }
        self.counts.backing_writes += 1;
        let written = self.backing.submit(start, request, visit.data.lend(), visit.breakdown);
        visit.add(written, visit.parts.from);
        let (first, count) = request.blocks(1 << self.shift);
        for block in first..first + count {
            self.write_block(block, &part_of(block, request, self.shift), &mut visit);
        }
        if written.status != Status::Done {
            for block in first..first + count {
                self.drop_block(block);
                self.in_flight.forget(block, start);
            }
        }
        self.leave(&visit)
    }

    /// The copies of one block follow the write; a whole block may come in.
    fn write_block(&mut self, block: u64, part: &Request, visit: &mut Visit<'_, '_>) {
        let (found, enters) = self.use_for_write(block, part);
        let is_whole = self.is_whole(part);
        let merges =
            !is_whole && found.is_some() && self.in_flight.way(block, visit.parts.start) != Way::Idle;
        self.write_in_transit(block, part, visit, !merges);
        if merges {
            self.counts.write_merged += 1;
            return;
        }
        self.in_flight.forget(block, visit.parts.start);
        self.count_write(found, is_whole);
        if found.is_some() || enters {
            self.write_copies(block, part, visit);
        }
    }

    /// Serves a write block by block: what the cache may keep ends there, and the rest goes through.
    fn absorb(&mut self, visit: &mut Visit<'_, '_>) {
        let (first, count) = visit.request.blocks(1 << self.shift);
        let mut through: Option<Request> = None;
        for block in first..first + count {
            let part = part_of(block, visit.request, self.shift);
            if self.absorb_block(block, &part, visit) {
                self.write_through(through.take(), visit);
            } else {
                let before = through.map_or(0, |of| of.bytes);
                through = Some(Request { bytes: before + part.bytes, ..through.unwrap_or(part) });
            }
        }
        self.write_through(through, visit);
    }

    /// Writes one block into the levels that hold it, which a whole one may enter. Whether it ends there.
    fn absorb_block(&mut self, block: u64, part: &Request, visit: &mut Visit<'_, '_>) -> bool {
        let start = visit.parts.start;
        let is_whole = self.is_whole(part);
        let is_lost = !is_whole && self.work().has_refused(block..block + 1);
        if is_lost && self.levels.spot(block).is_none() {
            // The rest of it is lost.
            let mark = visit.breakdown.mark();
            visit.add(Completion { done: start, status: Status::MediaError }, mark);
            return true;
        }
        let (found, enters) = self.use_for_write(block, part);
        self.let_go(start);
        let way = self.in_flight.way(block, start);
        self.write_in_transit(block, part, visit, true);
        if !is_whole && found.is_some() && way != Way::Idle {
            self.counts.write_merged += 1;
            self.write_arriving(block, part, way, visit);
            return false;
        }
        self.in_flight.forget(block, start);
        self.count_write(found, is_whole);
        if found.is_none() && !enters {
            return false;
        }
        let done = self.write_copies(block, part, visit);
        let (floor, spot) = (self.in_flight.floor(), self.levels.spot(block));
        let work = self.work();
        let has_room = work.dirty.contains(block) || work.dirty.len() < work.settings.most;
        let (Some(spot), Some(done), true) = (spot, done, has_room) else { return false };
        let safe = work.mark(block, spot.place, is_whole, done, floor);
        if safe > done {
            let mark = visit.breakdown.mark();
            visit.breakdown.add(self.id, Activity::Merge, safe - start);
            visit.add(Completion { done: safe, status: Status::Done }, mark);
        }
        true
    }

    /// A part of a block that is on its way is written into its level when it has arrived, beside the request.
    fn write_arriving(&mut self, block: u64, part: &Request, way: Way, visit: &mut Visit<'_, '_>) {
        let (Way::Arriving(arrival), Some(spot)) = (way, self.levels.spot(block)) else {
            self.in_flight.forget(block, visit.parts.start);
            return self.drop_block(block);
        };
        let mut failed = false;
        for (number, level) in self.levels.all.iter_mut().enumerate().skip(spot.level) {
            if let Some(place) = level.place(block) {
                let (part, data) =
                    (at(place, part, self.shift), visit.data.part(within(part, visit.request)));
                // Who was there before may still be on its way back.
                let spot = Spot { level: number, place };
                let begin = self.write_back.as_ref().map_or(arrival, |work| work.free_from(spot, arrival));
                self.scratch.clear();
                failed |= level.device.submit(begin, &part, data, &mut self.scratch).status != Status::Done;
            }
        }
        if failed {
            self.counts.recovered += 1;
            self.in_flight.forget(block, visit.parts.start);
            self.drop_block(block);
        }
    }

    /// Writes a part of the request to the backing.
    fn write_through(&mut self, through: Option<Request>, visit: &mut Visit<'_, '_>) {
        let Some(through) = through else { return };
        let (start, mark) = (visit.parts.start, visit.breakdown.mark());
        self.counts.backing_writes += 1;
        let data = visit.data.part(within(&through, visit.request));
        let mut written = self.backing.submit(start, &through, data, visit.breakdown);
        let (first, count) = through.blocks(1 << self.shift);
        if written.status == Status::Done && self.work().has_refused(first..first + count) {
            // What was lost stays so until the backing has it for good.
            let safe = self.persist(written.done);
            visit.breakdown.add(self.id, Activity::Drain, safe.done - written.done);
            written = safe;
        }
        visit.add(written, mark);
        for block in first..first + count {
            if written.status == Status::Done {
                let is_whole = self.is_whole(&part_of(block, &through, self.shift));
                self.work().took(block, is_whole, written.done);
            } else {
                self.drop_block(block);
                self.in_flight.forget(block, start);
            }
        }
    }

    /// Where `block` was found, and whether it may enter for a write of `part`.
    #[inline]
    fn use_for_write(&mut self, block: u64, part: &Request) -> (Option<Spot>, bool) {
        let enters = self.write_allocate && self.is_whole(part);
        match enters {
            true => (self.levels.access(block, &mut self.moves), true),
            false => (self.levels.touch(block), false),
        }
    }

    #[inline]
    fn is_whole(&self, part: &Request) -> bool {
        u64::from(part.bytes) == 1 << self.shift
    }

    /// What is in memory of `block` follows the write; so do the levels, if `with_levels`.
    #[inline]
    fn write_in_transit(&mut self, block: u64, part: &Request, visit: &mut Visit<'_, '_>, with_levels: bool) {
        if self.transit.is_empty() {
            return;
        }
        if let Data::Write(bytes) = visit.data.part(within(part, visit.request)) {
            let from = part.address & ((1 << self.shift) - 1);
            self.transit.write(block, from as usize, bytes, with_levels);
        }
    }

    #[inline]
    fn count_write(&mut self, found: Option<Spot>, is_whole: bool) {
        if let Some(found) = found {
            self.levels.all[found.level].counts.write_hits += 1;
        } else {
            self.counts.write_misses += 1;
            self.counts.write_parts += u64::from(!is_whole && self.write_allocate);
        }
    }

    /// Writes `part` into every level that holds its block; victims go down beside it. When the last is done, if
    /// there is one and all could.
    fn write_copies(&mut self, block: u64, part: &Request, visit: &mut Visit<'_, '_>) -> Option<Time> {
        let start = visit.parts.start;
        self.moves.forget(block);
        let all = self.moves.list.len();
        if all > 0 {
            self.settle(all, start, AtHand::NONE);
        }
        let mut data = visit.data.part(within(part, visit.request));
        let (mut failed, mut done) = (false, None);
        for (number, level) in self.levels.all.iter_mut().enumerate() {
            let Some(place) = level.place(block) else { continue };
            let mark = visit.breakdown.mark();
            let spot = Spot { level: number, place };
            let begin = self.write_back.as_ref().map_or(start, |work| work.free_from(spot, start));
            visit.breakdown.add(self.id, Activity::Drain, begin - start);
            let part = at(place, part, self.shift);
            let written = level.device.submit(begin, &part, data.lend(), visit.breakdown);
            failed |= written.status != Status::Done;
            done = done.max(Some(written.done));
            visit.parts.add(Completion { status: Status::Done, ..written }, mark, visit.breakdown);
        }
        if failed {
            self.counts.recovered += 1;
            self.drop_block(block);
            return None;
        }
        done
    }

    pub(super) fn trim(&mut self, start: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let (first, count) = request.blocks(1 << self.shift);
        for block in first..first + count {
            // A trimmed byte may read as it was, but not as it was before that.
            if self.write_back.as_ref().is_some_and(|work| work.dirty.contains(block)) {
                continue;
            }
            self.in_flight.forget(block, start);
            self.counts.trimmed += u64::from(self.levels.remove(block));
        }
        self.backing.submit(start, request, Data::None, breakdown)
    }
}
