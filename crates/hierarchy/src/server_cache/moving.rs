//! Blocks move between levels, beside the request that made them.

use super::cache::ServerCache;
use super::levels::{Moves, Spot};
use super::parts::AtHand;
use nacre_kernel::{Completion, Data, Op, Request, Status, Time};

impl ServerCache {
    /// Forgets a block whose data could not be had, and what was to be done with it.
    #[cold]
    pub(super) fn drop_block(&mut self, block: u64, moves: &mut Moves) {
        self.levels.remove(block);
        moves.forget(block);
        let floor = self.in_flight.floor();
        if let Some(work) = &mut self.write_back {
            work.has_lost |= work.forget(block, floor);
        }
    }

    /// Carries out the first `count` of `moves`, whose data is at hand at `ready`, beside the request. When
    /// the last is done.
    pub(super) fn settle(
        &mut self,
        moves: &mut Moves,
        count: usize,
        ready: Time,
        at_hand: AtHand<'_>,
    ) -> Time {
        let (mut last, mut failed) = (ready, Vec::new());
        let mut moved = std::mem::take(&mut self.moved);
        for wanted in moves.list.drain(..count) {
            let (read, bytes) = match wanted.from {
                None => (
                    Completion { done: ready, status: Status::Done },
                    at_hand.block(wanted.block, self.shift),
                ),
                Some(from) => {
                    moved.resize(if self.carries_bytes { 1 << self.shift } else { 0 }, 0);
                    let data = if self.carries_bytes { Data::Read(&mut moved) } else { Data::None };
                    let read = self.move_block(from, Op::Read, ready, data);
                    self.transit.read(wanted.block, 0, &mut moved);
                    (read, &moved[..])
                }
            };
            let data = if self.carries_bytes { Data::Write(bytes) } else { Data::None };
            let begin =
                self.write_back.as_ref().map_or(read.done, |work| work.free_from(wanted.to, read.done));
            let written = self.move_block(wanted.to, Op::Write, begin, data);
            last = last.max(written.done);
            if [read.status, written.status] != [Status::Done; 2] {
                failed.push(wanted.block);
            }
        }
        self.moved = moved;
        for block in failed {
            self.counts.recovered += 1;
            self.drop_block(block, moves);
        }
        last
    }

    /// Reads or writes a whole block where it lies, beside the request.
    pub(super) fn move_block(&mut self, spot: Spot, op: Op, now: Time, data: Data<'_>) -> Completion {
        self.scratch.clear();
        let address = spot.place << self.shift;
        let request = Request { arrival: now, address, bytes: 1 << self.shift, volume: 0, op };
        self.levels.all[spot.level].device.submit(now, &request, data, &mut self.scratch)
    }

    /// The buffer for `blocks` whole blocks, all zero; empty where no bytes are carried. To be given back.
    pub(super) fn take_buffer(&mut self, blocks: u64) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.buffer);
        if self.carries_bytes {
            buffer.clear();
            buffer.resize((blocks as usize) << self.shift, 0);
        }
        buffer
    }

    pub(super) fn give_back(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
    }
}
