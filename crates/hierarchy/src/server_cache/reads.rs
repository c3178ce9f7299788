//! Reads: from the levels, from the backing, or from a block that is on its way.

use super::FillMode;
use super::cache::ServerCache;
use super::in_flight::Way;
use super::levels::Spot;
use super::parts::{AtHand, at, hand_out, part_of, whole, within};
use super::visit::Visit;
use nacre_kernel::{Activity, Breakdown, Completion, Data, Op, Request, Status, Time};
use std::ops::Range;

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
    pub(super) fn read(
        &mut self,
        start: Time,
        request: &Request,
        mut data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let (first, count) = request.blocks(1 << self.shift);
        if count > 1 || !(self.in_flight.is_idle(start) || self.in_flight.has_room(start, 0)) {
            return self.read_parts(start, request, data, None, breakdown);
        }
        // The hot path: one block, in the first level and not on its way, so that nothing moves.
        let found = self.levels.access(first, &mut self.moves);
        let place = match found {
            Some(Spot { level: 0, place }) if self.in_flight.way(first, start) == Way::Idle => place,
            None if self.moves.left.is_empty() && self.in_flight.way(first, start) == Way::Idle => {
                return self.read_missed(first, start, request, data, breakdown);
            }
            _ => return self.read_parts(start, request, data, Some(found), breakdown),
        };
        let level = &mut self.levels.all[0];
        level.counts.read_hits += 1;
        let part = at(place, request, self.shift);
        let read = level.device.submit(start, &part, data.lend(), breakdown);
        if read.status != Status::Done {
            return self.recover(first, read.done, request, &mut data, breakdown);
        }
        if let (Data::Read(into), false) = (data, self.transit.is_empty()) {
            let from = request.address & ((1 << self.shift) - 1);
            self.transit.read(first, from as usize, into);
        }
        read
    }

    /// Serves a request of one block that is in no level, not on its way, and for which nothing left: its moves are
    /// those there are.
    fn read_missed(
        &mut self,
        block: u64,
        start: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let admits = self.in_flight.has_room(start, 0);
        let mut visit = Visit::new(start, request, data, breakdown);
        let run = Run { first: block, blocks: 1, moves: self.moves.list.len() };
        self.fetch(run, admits, &mut visit);
        self.leave(&visit)
    }

    /// Serves all blocks side by side. `found` says where the only block was found, if it was looked up; what
    /// that moves is among the moves.
    pub(super) fn read_parts(
        &mut self,
        start: Time,
        request: &Request,
        data: Data<'_>,
        mut found: Option<Option<Spot>>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let mut visit = Visit::new(start, request, data, breakdown);
        let (first, count) = request.blocks(1 << self.shift);
        let (mut run, mut admits) = (Run::default(), true);
        for block in first..first + count {
            if admits && !self.in_flight.has_room(start, run.blocks) {
                self.fetch(std::mem::take(&mut run), admits, &mut visit);
                admits = self.in_flight.has_room(start, 0);
            }
            let found = match found.take() {
                Some(found) => found,
                None if admits => self.levels.access(block, &mut self.moves),
                None => self.levels.touch(block),
            };
            if !self.moves.left.is_empty() {
                // They may be what the run brings in, and they are read before it takes their places.
                self.fetch(std::mem::take(&mut run), admits, &mut visit);
                self.let_go(start);
            }
            let way = self.in_flight.way(block, start);
            if way == Way::SetsOutLater || way == Way::Idle && found.is_none() {
                let first = if run.blocks == 0 { block } else { run.first };
                run = Run { first, blocks: run.blocks + 1, moves: self.moves.list.len() };
                continue;
            }
            let may_be_gone = run.blocks > 0;
            self.fetch(std::mem::take(&mut run), admits, &mut visit);
            match (way, found) {
                // What the run made leave the upper level could not be read there, and is in no level.
                (Way::Idle, Some(_)) if may_be_gone && self.levels.spot(block).is_none() => {
                    self.miss_late(block, &mut visit);
                }
                (Way::Idle, Some(found)) => self.hit(found, block, &mut visit),
                (Way::Arriving(arrival), _) => self.merge(arrival, block, &mut visit),
                _ => unreachable!("block {block} is fetched"),
            }
        }
        self.fetch(run, admits, &mut visit);
        self.leave(&visit)
    }

    /// A block in a level is read there: as a whole if it is to be written into another level.
    #[inline]
    fn hit(&mut self, found: Spot, block: u64, visit: &mut Visit<'_, '_>) {
        let (request, mark) = (visit.request, visit.breakdown.mark());
        let moves_up = self.moves.list.last().is_some_and(|wanted| wanted.block == block);
        let part = part_of(block, request, self.shift);
        let wanted =
            at(found.place, &if moves_up { whole(block, request, self.shift) } else { part }, self.shift);
        let mut buffer = if moves_up { self.take_buffer(1) } else { Vec::new() };
        let level = &mut self.levels.all[found.level];
        level.counts.read_hits += 1;
        let into = match buffer.is_empty() {
            true => visit.data.part(within(&part, request)),
            false => Data::Read(&mut buffer),
        };
        let mut read = level.device.submit(visit.parts.start, &wanted, into, visit.breakdown);
        if read.status != Status::Done {
            self.moves.forget(block);
            read = self.recover(block, read.done, request, &mut visit.data, visit.breakdown);
        } else if !buffer.is_empty() {
            self.transit.read(block, 0, &mut buffer);
            hand_out(&buffer, block, request, &mut visit.data, self.shift);
        } else if let (Data::Read(into), false) =
            (visit.data.part(within(&part, request)), self.transit.is_empty())
        {
            let from = part.address & ((1 << self.shift) - 1);
            self.transit.read(block, from as usize, into);
        }
        if !self.moves.list.is_empty() {
            let all = self.moves.list.len();
            self.settle(all, read.done, AtHand { first: block, bytes: &buffer });
        }
        if moves_up {
            self.give_back(buffer);
        }
        visit.add(read, mark);
    }

    /// A block was found in a level, and is gone from all since: it comes from the backing.
    #[cold]
    fn miss_late(&mut self, block: u64, visit: &mut Visit<'_, '_>) {
        let (start, mark) = (visit.parts.start, visit.breakdown.mark());
        let read = self.recover(block, start, visit.request, &mut visit.data, visit.breakdown);
        let all = self.moves.list.len();
        self.settle(all, read.done, AtHand::NONE);
        visit.add(read, mark);
    }

    /// A block is on its way: this request waits for it too, and takes it from memory.
    fn merge(&mut self, arrival: Time, block: u64, visit: &mut Visit<'_, '_>) {
        self.counts.read_merged += 1;
        let mark = visit.breakdown.mark();
        visit.breakdown.add(self.id, Activity::Merge, arrival - visit.parts.start);
        let mut buffer = self.take_buffer(1);
        if self.carries_bytes {
            assert!(
                self.transit.read(block, 0, &mut buffer),
                "block {block} is on its way and not in memory"
            );
            hand_out(&buffer, block, visit.request, &mut visit.data, self.shift);
        }
        let all = self.moves.list.len();
        self.settle(all, arrival, AtHand { first: block, bytes: &buffer });
        self.give_back(buffer);
        visit.add(Completion { done: arrival, status: Status::Done }, mark);
    }

    /// Blocks that are in no level come from the backing; nothing for an empty run.
    fn fetch(&mut self, run: Run, admits: bool, visit: &mut Visit<'_, '_>) {
        if run.blocks == 0 {
            return;
        }
        let (start, mark) = (visit.parts.start, visit.breakdown.mark());
        let count = run.blocks as u64;
        self.counts.read_misses += count;
        let mut buffer = self.take_buffer(count);
        let blocks = run.first..run.first + count;
        let is_lost = self.write_back.as_ref().is_some_and(|work| work.has_refused(blocks.clone()));
        let mut fetched = match is_lost {
            true => Completion { done: start, status: Status::MediaError },
            false => self.read_backing(run.first, count, start, visit.request, &mut buffer, visit.breakdown),
        };
        if fetched.status == Status::Done && self.carries_bytes {
            hand_out(&buffer, run.first, visit.request, &mut visit.data, self.shift);
        }
        let at_hand = AtHand { first: run.first, bytes: &buffer };
        if fetched.status != Status::Done {
            let first = &self.moves.list[..run.moves];
            let moves = first.iter().filter(|wanted| !blocks.contains(&wanted.block)).count();
            blocks.clone().for_each(|block| self.drop_block(block));
            self.settle(moves, fetched.done, at_hand);
            if !is_lost {
                fetched = self.read_wanted(blocks, fetched, visit.request, &mut visit.data, visit.breakdown);
            }
        } else if admits {
            self.counts.fills += count;
            let arrived = fetched.done;
            let filled = self.settle(run.moves, arrived, at_hand);
            if self.fill == FillMode::Foreground && filled > fetched.done {
                visit.breakdown.add(self.id, Activity::Fill, filled - fetched.done);
                fetched.done = filled;
            }
            self.set_out(blocks, start, fetched.done, at_hand);
        } else {
            self.counts.bypassed += count;
        }
        self.give_back(buffer);
        visit.add(fetched, mark);
    }

    /// From `since` until `ready` these blocks are on their way.
    fn set_out(&mut self, blocks: Range<u64>, since: Time, ready: Time, at_hand: AtHand<'_>) {
        if self.carries_bytes && self.transit.is_large() {
            let (levels, floor) = (&self.levels, self.in_flight.floor());
            self.transit.settle(floor, |block| levels.hold(block));
        }
        for block in blocks {
            let bytes = at_hand.block(block, self.shift);
            if ready > since {
                self.in_flight.insert(block, since, ready);
                if self.carries_bytes {
                    self.transit.insert(block, bytes, ready);
                }
            } else if self.carries_bytes {
                self.transit.write(block, 0, bytes, true);
            }
        }
    }

    /// A level could not return a block; the backing has a copy of all that the cache holds.
    #[cold]
    fn recover(
        &mut self,
        block: u64,
        now: Time,
        request: &Request,
        data: &mut Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        self.counts.recovered += 1;
        let floor = self.in_flight.floor();
        let is_lost = self
            .write_back
            .as_mut()
            .is_some_and(|work| work.lose(block, floor) || work.has_refused(block..block + 1));
        self.levels.remove(block);
        if is_lost {
            self.work().has_lost = true;
            return Completion { done: now, status: Status::MediaError };
        }
        let mut bytes = vec![0; if self.carries_bytes { 1 << self.shift } else { 0 }];
        let read = self.read_backing(block, 1, now, request, &mut bytes, breakdown);
        if read.status != Status::Done {
            return self.read_wanted(block..block + 1, read, request, data, breakdown);
        }
        if self.carries_bytes {
            hand_out(&bytes, block, request, data, self.shift);
        }
        read
    }

    /// The backing could not return these whole blocks, and said so at `failed`: what the host wants of them it may
    /// have. It is asked for that alone, where that is less.
    #[cold]
    fn read_wanted(
        &mut self,
        blocks: Range<u64>,
        failed: Completion,
        request: &Request,
        data: &mut Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let start = request.address.max(blocks.start << self.shift);
        let end = (request.address + u64::from(request.bytes)).min(blocks.end << self.shift);
        if end - start == (blocks.end - blocks.start) << self.shift {
            return failed;
        }
        self.counts.backing_reads += 1;
        let wanted = Request { address: start, bytes: (end - start) as u32, ..*request };
        self.backing.submit(failed.done, &wanted, data.part(within(&wanted, request)), breakdown)
    }

    /// Reads whole blocks from the backing, as far as it reaches.
    #[inline]
    fn read_backing(
        &mut self,
        first: u64,
        blocks: u64,
        now: Time,
        request: &Request,
        into: &mut [u8],
        breakdown: &mut Breakdown,
    ) -> Completion {
        self.counts.backing_reads += 1;
        let address = first << self.shift;
        let end = self.backing.capacity().map_or(u64::MAX, |capacity| capacity.0);
        let bytes = (blocks << self.shift).min(end - address);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let data = if self.carries_bytes { Data::Read(&mut into[..bytes as usize]) } else { Data::None };
        self.backing.submit(now, &Request { address, bytes, op: Op::Read, ..*request }, data, breakdown)
    }
}
