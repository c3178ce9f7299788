//! The buffer that extents change places through. It has power of its own.

use super::tier::{Place, Tier};
use crate::unfinished::safe_in;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Breakdown, Completion, Data, Op, Request, Status, Time};
use std::collections::VecDeque;

/// Chunks that are being written to their places, and chunks that a tier refused.
#[derive(Default, State)]
pub(super) struct Buffer {
    /// What a loss of power interrupts; only where bytes are carried.
    writing: VecDeque<Chunk>,
    /// What a tier refused, or could not flush: it stays here and is served from here.
    #[state(varies)]
    kept: Vec<Chunk>,
    #[state(skip = "nothing is read from it")]
    breakdown: Breakdown,
}

/// A part of an extent on its way to its place.
#[derive(Clone, Debug, Value)]
pub(super) struct Chunk {
    pub(super) place: Place,
    /// Its first byte in the extent, and how many there are.
    pub(super) from: u64,
    pub(super) length: u64,
    /// Empty where no bytes are carried.
    pub(super) bytes: Vec<u8>,
    /// When its place has it for good.
    pub(super) end: Time,
}

impl Buffer {
    /// Writes `chunk` into its place from `at` on; when it is safe there, and whether its tier took it.
    pub(super) fn put(&mut self, mut chunk: Chunk, at: Time, tiers: &mut [Tier], shift: u32) -> Completion {
        let request = chunk.request(Op::Write, at, shift);
        let device = &mut *tiers[chunk.place.tier()].device;
        self.breakdown.clear();
        let data = if chunk.bytes.is_empty() { Data::None } else { Data::Write(&chunk.bytes) };
        let mut written = device.submit(at, &request, data, &mut self.breakdown);
        if written.status == Status::Done {
            // What the host had flushed where it was is to be as safe where it comes to.
            written = safe_in(device, written.done, &mut self.breakdown);
        }
        chunk.end = written.done;
        // Of two writes of a place the later one counts.
        self.writing.retain(|older| !older.is_for(&chunk));
        if written.status != Status::Done {
            self.kept.push(chunk);
        } else if !chunk.bytes.is_empty() {
            self.writing.push_back(chunk);
        }
        written
    }

    /// The host writes `bytes` from byte `from` of `place` on: a chunk that is on its way there changes with it.
    pub(super) fn overwrite(&mut self, place: Place, from: u64, bytes: &[u8]) {
        for chunk in self.writing.iter_mut().filter(|chunk| chunk.place == place) {
            let (start, end) = (from.max(chunk.from), (from + bytes.len() as u64).min(chunk.end_byte()));
            if start < end {
                chunk.write(start, &bytes[(start - from) as usize..(end - from) as usize]);
            }
        }
    }

    /// Bytes of chunks that stay here.
    #[inline]
    pub(super) fn kept_bytes(&self) -> u64 {
        self.kept.iter().map(|chunk| chunk.length).sum()
    }

    /// Whether any chunk stays here.
    #[inline]
    pub(super) fn keeps_any(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Of the bytes `from..to` of `place`: how far the first of them lie together, and the chunk that keeps them
    /// here, if one does.
    pub(super) fn kept_at(&mut self, place: Place, from: u64, to: u64) -> (u64, Option<&mut Chunk>) {
        let mut upto = to;
        for chunk in self.kept.iter_mut().filter(|chunk| chunk.place == place) {
            if (chunk.from..chunk.end_byte()).contains(&from) {
                return (to.min(chunk.end_byte()), Some(chunk));
            }
            if chunk.from > from {
                upto = upto.min(chunk.from);
            }
        }
        (upto, None)
    }

    /// No loss of power comes before `to`: chunks that are in their places leave the buffer.
    pub(super) fn settle(&mut self, to: Time) {
        while self.writing.front().is_some_and(|chunk| chunk.end <= to) {
            self.writing.pop_front();
        }
    }

    /// The tiers are ready again at `at`: what was being written is written again. When that is done, and how many
    /// chunks it were.
    pub(super) fn recover(&mut self, at: Time, tiers: &mut [Tier], shift: u32) -> (Time, u64) {
        let again = std::mem::take(&mut self.writing);
        let count = again.len() as u64;
        // Until then the power may fail again.
        let done = again.into_iter().map(|chunk| self.put(chunk, at, tiers, shift).done).fold(at, Time::max);
        (done, count)
    }

    pub(super) fn check_invariants(&self) {
        for (number, chunk) in self.kept.iter().enumerate() {
            assert!(chunk.bytes.is_empty() || chunk.bytes.len() as u64 == chunk.length, "part of a chunk");
            let others = self.kept[number + 1..].iter().chain(&self.writing);
            assert!(
                !others.into_iter().any(|other| other.is_for(chunk)),
                "a chunk that is kept is elsewhere, too"
            );
        }
    }
}

impl Chunk {
    /// The request that reads or writes it in its place.
    pub(super) fn request(&self, op: Op, arrival: Time, shift: u32) -> Request {
        let address = (u64::from(self.place.number()) << shift) + self.from;
        Request { arrival, address, bytes: self.length as u32, volume: 0, op }
    }

    /// Serves a request for its bytes from byte `from` of the extent on.
    pub(super) fn serve(&mut self, from: u64, data: Data<'_>) {
        let start = (from - self.from) as usize;
        match data {
            // A trim leaves what was there.
            Data::None => {}
            Data::Write(bytes) => self.write(from, bytes),
            Data::Read(into) => into.copy_from_slice(&self.bytes[start..start + into.len()]),
        }
    }

    fn write(&mut self, from: u64, bytes: &[u8]) {
        let start = (from - self.from) as usize;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
    }

    fn end_byte(&self) -> u64 {
        self.from + self.length
    }

    fn is_for(&self, other: &Chunk) -> bool {
        self.place == other.place && self.from == other.from
    }
}
