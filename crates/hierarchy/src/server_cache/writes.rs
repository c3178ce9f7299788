//! Writes and trims. A write is sent to the backing and to cached copies, or completes in the cache. A trim
//! removes cached copies.

use super::cache::ServerCache;
use super::config::LEVELS_MAX;
use super::levels::{Move, Spot};
use super::moving::Origin;
use super::ops::{Operation, Purpose};
use super::parts::{at, part_of, within};
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};

/// The portion of a write in one block.
struct Piece {
    visit: u32,
    block: u64,
    part: Request,
    data: Payload,
}

impl ServerCache {
    pub(super) fn write(
        &mut self,
        now: Time,
        id: RequestId,
        request: &Request,
        data: &Payload,
        queued: Time,
    ) {
        let visit = self.enter(now, id, request, queued);
        let (first, count) = request.blocks(1 << self.shift);
        let shift = self.shift;
        let piece = |block| {
            let part = part_of(block, request, shift);
            let range = within(&part, request);
            Piece { visit, block, part, data: data.slice(range.start, range.end) }
        };
        if self.write_back.is_none() {
            self.write_through(now, visit, *request, data.clone());
            for block in first..first + count {
                self.write_block(now, &piece(block));
            }
        } else {
            let mut through: Option<Request> = None;
            for block in first..first + count {
                let piece = piece(block);
                if self.absorb_block(now, &piece) {
                    self.go_through(now, visit, through.take(), request, data);
                } else {
                    let before = through.map_or(0, |of| of.bytes);
                    through =
                        Some(Request { bytes: before + piece.part.bytes, ..through.unwrap_or(piece.part) });
                }
            }
            self.go_through(now, visit, through, request, data);
        }
        self.leave(now, visit);
    }

    fn go_through(
        &mut self,
        now: Time,
        visit: u32,
        through: Option<Request>,
        request: &Request,
        data: &Payload,
    ) {
        if let Some(through) = through {
            let range = within(&through, request);
            self.write_through(now, visit, through, data.slice(range.start, range.end));
        }
    }

    /// Writes a portion of a request to the backing, after earlier writes of the same blocks. Returns the
    /// number of the operation.
    fn write_through(&mut self, now: Time, visit: u32, request: Request, data: Payload) -> u32 {
        self.counts.backing_writes += 1;
        self.change_backing(now, visit, request, data)
    }

    fn change_backing(&mut self, now: Time, visit: u32, request: Request, data: Payload) -> u32 {
        let number = self.operations.add(Purpose::Through, self.backing(), now, request);
        let (first, count) = request.blocks(1 << self.shift);
        self.operations.write_backing(number, first, count);
        let stamp = self.write_back.as_mut().map_or(0, |work| work.next_stamp());
        let of = &mut self.operations[number];
        (of.owner, of.data, of.stamp) = (visit, data, stamp);
        self.add_part(visit);
        self.operations.launch(number);
        number
    }

    /// Updates the copies of one block for a write. If the write covers the whole block, the block may also
    /// be inserted into a level.
    fn write_block(&mut self, now: Time, piece: &Piece) {
        let (found, enters) = self.use_for_write(piece);
        let is_whole = self.is_whole(&piece.part);
        if !is_whole
            && found.is_some()
            && let Some(fetch) = self.fetch_of(piece.block)
        {
            self.patch(fetch, piece.part.address, piece.data.clone());
            self.counts.write_merged += 1;
            return;
        }
        self.replace_in_flight(piece);
        self.count_write(found, is_whole);
        if found.is_some() || enters {
            let own = self.make_way(now, piece.block);
            self.write_copies(now, piece, &own, None);
        }
    }

    /// Writes one block to the levels that contain it. If the write covers the whole block, the block may
    /// also be inserted into a level. Returns whether the write completes in the cache.
    fn absorb_block(&mut self, now: Time, piece: &Piece) -> bool {
        let (block, is_whole) = (piece.block, self.is_whole(&piece.part));
        let is_lost = !is_whole && self.work().has_refused(block..block + 1);
        if is_lost && self.levels.spot(block).is_none() {
            // The rest of the block is lost.
            self.add_part(piece.visit);
            self.part_ends(now, piece.visit, &Part::at_once(Status::MediaError));
            return true;
        }
        let (found, enters) = self.use_for_write(piece);
        let own = self.make_way(now, block);
        if !is_whole
            && found.is_some()
            && let Some(fetch) = self.fetch_of(block)
        {
            self.patch(fetch, piece.part.address, piece.data.clone());
            self.counts.write_merged += 1;
            return false;
        }
        self.replace_in_flight(piece);
        self.count_write(found, is_whole);
        if found.is_none() && !enters {
            return false;
        }
        let copies = self.levels.all.iter().filter(|level| level.location(block).is_some()).count() as u32;
        let stamp = (copies > 0).then(|| self.work().mark(block, copies)).flatten();
        self.write_copies(now, piece, &own, stamp);
        stamp.is_some()
    }

    /// Handles a write to a block that is being fetched or moved. A whole-block write supersedes pending
    /// writes of the block.
    fn replace_in_flight(&mut self, piece: &Piece) {
        self.in_flight.remove(piece.block);
        if self.is_whole(&piece.part) {
            self.supersede(piece.block, &piece.data);
        }
    }

    /// Records an access to the block that `piece` writes. Returns the level and location of the block, if
    /// any, and whether the write may insert the block.
    #[inline]
    fn use_for_write(&mut self, piece: &Piece) -> (Option<Spot>, bool) {
        let enters = self.write_allocate && self.is_whole(&piece.part);
        match enters {
            true => (self.levels.access(piece.block, &mut self.moves), true),
            false => (self.levels.touch(piece.block), false),
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

    /// Performs the moves of victims that make space for `block`. Returns the moves that insert `block`, by
    /// level.
    fn make_way(&mut self, now: Time, block: u64) -> [Option<Move>; LEVELS_MAX] {
        let mut own = [None; LEVELS_MAX];
        if self.moves.is_empty() {
            return own;
        }
        for wanted in self.moves.list.iter().filter(|wanted| wanted.block == block) {
            own[wanted.to.level] = Some(*wanted);
        }
        self.moves.list.retain(|wanted| wanted.block != block);
        self.carry_out(now, block, &Origin::Data(Payload::NONE), None);
        own
    }

    /// Writes a block to every level that contains it. If the block is inserted into a level, also writes
    /// the block there as soon as its location is free. Each write waits for earlier writes of the block,
    /// and for reads that copy the block to another level. With a `stamp`, the write completes in the
    /// cache.
    fn write_copies(&mut self, now: Time, piece: &Piece, own: &[Option<Move>], stamp: Option<u64>) {
        for (level, entered) in own.iter().enumerate().take(self.levels.all.len()) {
            let Some(location) = self.levels.all[level].location(piece.block) else { continue };
            let part = at(location, &piece.part, self.shift);
            let number = self.operations.add(Purpose::Copy, level, now, part);
            let before: Vec<u32> = self.operations.before_copy(level, piece.block).collect();
            self.operations.depend_all(number, &before);
            if let Some(entered) = entered {
                self.operations.depend_on_location(number, level, entered.instead_of);
            }
            self.operations.touches(number, level, piece.block);
            let of = &mut self.operations[number];
            (of.owner, of.data, of.stamp) = (piece.visit, piece.data.clone(), stamp.unwrap_or(0));
            self.add_part(piece.visit);
            self.operations.launch(number);
        }
    }

    /// Handles the end of a write to a copy.
    pub(super) fn copy_ends(&mut self, now: Time, number: u32, status: Status, spans: &[Span]) {
        let Operation { block, stamp, is_broken, request, .. } = self.operations[number];
        let has_failed = status != Status::Done;
        let location = request.address >> self.shift;
        if has_failed {
            self.counts.recovered += 1;
        }
        if stamp == 0 {
            if has_failed {
                self.drop_block(block);
            }
        } else if has_failed || is_broken {
            self.write_after_all(now, number, spans);
        } else {
            self.work().settle(block, stamp, location);
        }
        self.end_part(now, number, Status::Done, Activity::Drain, spans);
        self.consider_cleaning(now);
    }

    /// Writes data to the backing after the write of its copy in the cache failed, or after the copy was
    /// dropped. The write to the backing follows the write of the copy.
    #[cold]
    fn write_after_all(&mut self, now: Time, number: u32, spans: &[Span]) {
        let Operation { block, request, owner: visit, since, .. } = self.operations[number];
        let data = self.operations[number].data.clone();
        let is_whole = self.is_whole(&request);
        if !self.operations[number].is_broken {
            self.break_copies(block);
            self.take_out(block);
            let work = self.work();
            let _ = if is_whole { work.forget(block) } else { work.lose(block) };
        }
        let offset = request.address & ((1 << self.shift) - 1);
        let through = Request { address: block << self.shift | offset, ..request };
        let through = self.write_through(now, visit, through, data);
        let of = &mut self.operations[through];
        (of.since, of.spans) = (since, spans.to_vec());
    }

    /// Handles the end of a write, trim, or flush of the backing.
    pub(super) fn through_ends(&mut self, now: Time, number: u32, status: Status, spans: &[Span]) {
        let Operation { request, block: first, blocks, stamp, .. } = self.operations[number];
        let waited = if request.op == Op::Flush { Activity::Drain } else { Activity::Queue };
        let before = std::mem::take(&mut self.operations[number].spans);
        let all_spans;
        let spans = match before.is_empty() {
            true => spans,
            false => {
                all_spans = [&before[..], spans].concat();
                &all_spans
            }
        };
        let mut status = status;
        match request.op {
            Op::Write | Op::Trim => self.operations.written_backing(number),
            _ => {
                let work = self.write_back.as_mut();
                if work.is_some_and(|work| work.report.fails_flush(request.arrival, now)) {
                    status = Status::MediaError;
                }
            }
        }
        if request.op == Op::Write {
            let all = first..first + u64::from(blocks);
            if status != Status::Done {
                all.for_each(|block| {
                    self.in_flight.remove(block);
                    self.drop_block(block);
                });
            } else if self.write_back.as_ref().is_some_and(|work| work.has_refused(all)) {
                if self.work().needs_flush() {
                    return self.make_safe(now, number, spans);
                }
                self.take_anew(&request, stamp);
            }
        }
        self.end_part(now, number, status, waited, spans);
    }

    /// Flushes the backing after a write to lost blocks. The blocks remain marked as lost until the backing
    /// durably stores the new data.
    #[cold]
    fn make_safe(&mut self, now: Time, number: u32, spans: &[Span]) {
        let Operation { owner, stamp, request, since, .. } = self.operations[number];
        let flush = Request { arrival: now, address: 0, bytes: 0, volume: 0, op: Op::Flush };
        let safe = self.operations.add(Purpose::Safe, self.backing(), since, flush);
        let of = &mut self.operations[safe];
        (of.owner, of.stamp) = (owner, stamp);
        // These fields contain address and length of the bytes that the operation changes, because a flush
        // has none.
        (of.block, of.blocks) = (request.address, request.bytes);
        of.spans = spans.to_vec();
        self.operations.launch(safe);
    }

    /// Handles the end of a flush that follows a write to lost blocks.
    pub(super) fn safe_ends(&mut self, now: Time, number: u32, status: Status, spans: &[Span]) {
        let Operation { block: address, blocks: bytes, stamp, .. } = self.operations[number];
        let request = Request { address, bytes, ..self.operations[number].request };
        if status == Status::Done {
            self.take_anew(&request, stamp);
        } else {
            self.work().report.lose();
            let (first, count) = request.blocks(1 << self.shift);
            (first..first + count).for_each(|block| self.drop_block(block));
        }
        let before = std::mem::take(&mut self.operations[number].spans);
        let spans = [&before[..], spans].concat();
        self.end_part(now, number, status, Activity::Drain, &spans);
    }

    /// Records that the backing durably stores the bytes of `request`. These bytes cover lost blocks
    /// completely or partly.
    fn take_anew(&mut self, request: &Request, stamp: u64) {
        let (first, count) = request.blocks(1 << self.shift);
        for block in first..first + count {
            let is_whole = self.is_whole(&part_of(block, request, self.shift));
            self.work().took(block, is_whole, stamp);
        }
    }

    pub(super) fn trim(&mut self, now: Time, id: RequestId, request: &Request, queued: Time) {
        let visit = self.enter(now, id, request, queued);
        let (first, count) = request.blocks(1 << self.shift);
        for block in first..first + count {
            // A trimmed byte may keep its content, but must not return older content.
            if self.write_back.as_ref().is_some_and(|work| work.dirty.contains(block)) {
                continue;
            }
            self.in_flight.remove(block);
            self.counts.trimmed += u64::from(self.take_out(block));
        }
        self.change_backing(now, visit, *request, Payload::NONE);
        self.leave(now, visit);
    }
}
