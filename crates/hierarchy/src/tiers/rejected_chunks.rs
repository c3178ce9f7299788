//! Chunks that a tier rejected. They stay in battery-backed memory, which serves requests for them.

use super::tier::Location;
use nacre_kernel::Op;
use nacre_kernel::event::Payload;
use nacre_kernel::state::{State, Value};

/// All chunks that are kept in memory.
#[derive(Default, State)]
pub(super) struct RejectedChunks {
    #[state(varies)]
    chunks: Vec<Chunk>,
}

/// A byte range of a location.
#[derive(Clone, Debug, Value)]
struct Chunk {
    location: Location,
    from: u64,
    length: u64,
    /// Data of the chunk. The vector is empty if the device stores no data.
    bytes: Vec<u8>,
}

impl RejectedChunks {
    /// Stores the bytes `from` to `from + length` of `location` in memory.
    pub(super) fn keep(&mut self, location: Location, from: u64, length: u64, bytes: &Payload) {
        let bytes = bytes.bytes().map_or_else(Vec::new, <[u8]>::to_vec);
        self.chunks.push(Chunk { location, from, length, bytes });
    }

    /// Whether no chunk is in memory.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Number of bytes in memory.
    pub(super) fn bytes(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.length).sum()
    }

    /// Returns the end of the first part of the bytes `from` to `to` of `location`, and whether this part is
    /// in memory.
    pub(super) fn first_part(&self, location: Location, from: u64, to: u64) -> (u64, bool) {
        let mut end = to;
        for chunk in self.chunks.iter().filter(|chunk| chunk.location == location) {
            if (chunk.from..chunk.from + chunk.length).contains(&from) {
                return (to.min(chunk.from + chunk.length), true);
            }
            if chunk.from > from {
                end = end.min(chunk.from);
            }
        }
        (end, false)
    }

    /// Serves a request for the bytes `from` to `to` of `location`. These bytes must be in memory. Returns
    /// the data of a read. A trim does not change the data.
    pub(super) fn serve(
        &mut self,
        op: Op,
        location: Location,
        from: u64,
        to: u64,
        data: &Payload,
    ) -> Payload {
        let is_it = |chunk: &&mut Chunk| {
            chunk.location == location && (chunk.from..chunk.from + chunk.length).contains(&from)
        };
        let chunk = self.chunks.iter_mut().find(is_it).expect("the bytes are here");
        if chunk.bytes.is_empty() {
            return Payload::NONE;
        }
        let held = &mut chunk.bytes[(from - chunk.from) as usize..(to - chunk.from) as usize];
        match (op, data.bytes()) {
            (Op::Read, _) => return held.to_vec().into(),
            (Op::Write, Some(bytes)) => held.copy_from_slice(bytes),
            _ => {}
        }
        Payload::NONE
    }

    pub(super) fn check_invariants(&self) {
        for (number, chunk) in self.chunks.iter().enumerate() {
            assert!(chunk.bytes.is_empty() || chunk.bytes.len() as u64 == chunk.length, "part of a chunk");
            let is_twice = |other: &Chunk| other.location == chunk.location && other.from == chunk.from;
            assert!(!self.chunks[number + 1..].iter().any(is_twice), "a chunk is kept twice");
        }
    }
}
