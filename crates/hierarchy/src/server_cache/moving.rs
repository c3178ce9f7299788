//! Blocks move between levels, beside the request that made them.

use super::cache::ServerCache;
use super::levels::{Move, Spot};
use super::parts::AtHand;
use nacre_kernel::{Completion, Data, Op, Request, Status, Time};

impl ServerCache {
    /// Forgets a block whose data could not be had, and what was to be done with it.
    #[cold]
    pub(super) fn drop_block(&mut self, block: u64) {
        self.levels.remove(block);
        self.moves.forget(block);
        let floor = self.in_flight.floor();
        if let Some(work) = &mut self.write_back {
            work.lose(block, floor);
        }
    }

    /// Carries out the first `count` of the moves, whose data is at hand at `ready`, beside the request. When
    /// the last is done.
    pub(super) fn settle(&mut self, count: usize, ready: Time, at_hand: AtHand<'_>) -> Time {
        let (mut last, mut failed) = (ready, Vec::new());
        for index in 0..count {
            let Move { block, from, to } = self.moves.list[index];
            let (done, is_there) = match from {
                None => self.write_spot(to, ready, at_hand.block(block, self.shift)),
                Some(from) => self.move_between(block, from, to, ready),
            };
            last = last.max(done);
            if let Some(work) = &mut self.write_back {
                work.arrives(block, done, self.in_flight.floor());
            }
            if !is_there {
                failed.push(block);
            }
        }
        // Nearly always all of them.
        if count == self.moves.list.len() {
            self.moves.list.clear();
        } else {
            self.moves.list.drain(..count);
        }
        if !failed.is_empty() {
            self.drop_failed(&failed);
        }
        last
    }

    #[cold]
    fn drop_failed(&mut self, failed: &[u64]) {
        for &block in failed {
            self.counts.recovered += 1;
            self.drop_block(block);
        }
    }

    /// `block` goes from level to level. When that is done, and whether it is there.
    fn move_between(&mut self, block: u64, from: Spot, to: Spot, now: Time) -> (Time, bool) {
        let mut moved = std::mem::take(&mut self.moved);
        moved.resize(if self.carries_bytes { 1 << self.shift } else { 0 }, 0);
        let data = if self.carries_bytes { Data::Read(&mut moved) } else { Data::None };
        let read = self.move_block(from, Op::Read, now, data);
        self.transit.read(block, 0, &mut moved);
        let (done, is_there) = self.write_spot(to, read.done, &moved);
        self.moved = moved;
        (done, is_there && read.status == Status::Done)
    }

    /// Writes a whole block to where it is to lie, once that place is free.
    #[inline]
    fn write_spot(&mut self, to: Spot, now: Time, bytes: &[u8]) -> (Time, bool) {
        let data = if self.carries_bytes { Data::Write(bytes) } else { Data::None };
        let begin = self.write_back.as_ref().map_or(now, |work| work.free_from(to, now));
        let written = self.move_block(to, Op::Write, begin, data);
        (written.done, written.status == Status::Done)
    }

    /// Reads or writes a whole block where it lies, beside the request.
    #[inline]
    pub(super) fn move_block(&mut self, spot: Spot, op: Op, now: Time, data: Data<'_>) -> Completion {
        self.scratch.clear();
        let address = spot.place << self.shift;
        let request = Request { arrival: now, address, bytes: 1 << self.shift, volume: 0, op };
        self.levels.all[spot.level].device.submit(now, &request, data, &mut self.scratch)
    }

    /// The buffer for `blocks` whole blocks, all zero; empty where no bytes are carried. To be given back.
    #[inline]
    pub(super) fn take_buffer(&mut self, blocks: u64) -> Vec<u8> {
        if !self.carries_bytes {
            return Vec::new();
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.resize((blocks as usize) << self.shift, 0);
        buffer
    }

    #[inline]
    pub(super) fn give_back(&mut self, buffer: Vec<u8>) {
        if self.carries_bytes {
            self.buffer = buffer;
        }
    }
}
