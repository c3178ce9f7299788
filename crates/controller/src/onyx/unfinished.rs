//! Writes that may not be on the medium yet: what a power failure may take.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// One program of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Program {
    /// When the rank is taken for it.
    pub(super) begin: Time,
    pub(super) end: Time,
}

/// A part of a write, with the bytes before and after it.
#[derive(Clone, Debug, Value)]
pub(super) struct PartWrite {
    pub(super) controller: usize,
    /// The logical row.
    pub(super) row: u64,
    pub(super) offset: usize,
    pub(super) old: Vec<u8>,
    pub(super) new: Vec<u8>,
    /// Of its chunks, in their order.
    pub(super) programs: Vec<Program>,
    /// When the host was told that it is done.
    pub(super) acknowledged: Time,
}

/// Where rows are being copied.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct RowMove {
    pub(super) controller: usize,
    /// Physical rows.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) end: Time,
}

/// Writes and copies in the order in which they were asked for. Those that have ended leave from the front: one
/// before them may still be taken away, and bytes follow from all in turn.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Unfinished {
    pub(super) writes: VecDeque<PartWrite>,
    pub(super) moves: VecDeque<RowMove>,
}

impl PartWrite {
    fn end(&self) -> Time {
        self.programs.iter().fold(Time::ZERO, |end, program| end.max(program.end))
    }

    /// The bytes of chunk `index`, within the part.
    pub(super) fn chunk(&self, index: usize, chunk_bytes: usize) -> std::ops::Range<usize> {
        let first_end = chunk_bytes - self.offset % chunk_bytes;
        let begin = if index == 0 { 0 } else { first_end + (index - 1) * chunk_bytes };
        begin..(first_end + index * chunk_bytes).min(self.new.len())
    }
}

impl Unfinished {
    /// What has ended by `time` is on the medium.
    pub(super) fn settle(&mut self, time: Time) {
        while self.writes.front().is_some_and(|write| write.end() <= time && write.acknowledged <= time) {
            self.writes.pop_front();
        }
        while self.moves.front().is_some_and(|moved| moved.end <= time) {
            self.moves.pop_front();
        }
    }
}
