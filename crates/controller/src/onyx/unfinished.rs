//! Writes that may not be on the medium yet: what a power failure may take.

use nacre_kernel::Time;
use nacre_kernel::state::{StateError, StateReader, StateWriter};
use std::collections::VecDeque;

/// One program of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// When the rank is taken for it.
    pub(super) begin: Time,
    pub(super) end: Time,
}

/// A part of a write, with the bytes before and after it.
#[derive(Clone, Debug)]
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
#[derive(Clone, Copy, Debug)]
pub(super) struct RowMove {
    pub(super) controller: usize,
    /// Physical rows.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) end: Time,
}

/// Writes and copies in the order in which they were asked for. Those that have ended leave from the front: one
/// before them may still be taken away, and bytes follow from all in turn.
#[derive(Clone, Debug, Default)]
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

    pub(super) fn save(&self, state: &mut StateWriter) {
        state.section("unfinished");
        state.put_u64(self.writes.len() as u64);
        for write in &self.writes {
            let PartWrite { controller, row, offset, old, new, programs, acknowledged } = write;
            state.put_u64s(&[*controller as u64, *row, *offset as u64, acknowledged.as_ps()]);
            state.put_bytes(old);
            state.put_bytes(new);
            let ends = programs.iter().flat_map(|program| [program.begin.as_ps(), program.end.as_ps()]);
            state.put_u64s(&ends.collect::<Vec<_>>());
        }
        let moves = self.moves.iter();
        let moves = moves
            .flat_map(|&RowMove { controller, from, to, end }| [controller as u64, from, to, end.as_ps()]);
        state.put_u64s(&moves.collect::<Vec<_>>());
    }

    pub(super) fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.section("unfinished")?;
        *self = Unfinished::default();
        for _ in 0..state.u64("writes that are not on the medium")? {
            let mut place = [0; 4];
            state.u64s_into("place of a write", &mut place)?;
            let [controller, row, offset, acknowledged] = place;
            let (old, new) = (state.bytes("bytes before")?.to_vec(), state.bytes("bytes after")?.to_vec());
            let ends = state.u64s("its programs")?;
            let ends = ends.as_chunks::<2>().0.iter();
            let programs =
                ends.map(|&[begin, end]| Program { begin: Time::from_ps(begin), end: Time::from_ps(end) });
            self.writes.push_back(PartWrite {
                controller: controller as usize,
                row,
                offset: offset as usize,
                old,
                new,
                programs: programs.collect(),
                acknowledged: Time::from_ps(acknowledged),
            });
        }
        let moves = state.u64s("rows that are being copied")?;
        let moves = moves.as_chunks::<4>().0.iter();
        self.moves = moves
            .map(|&[controller, from, to, end]| RowMove {
                controller: controller as usize,
                from,
                to,
                end: Time::from_ps(end),
            })
            .collect();
        Ok(())
    }
}
