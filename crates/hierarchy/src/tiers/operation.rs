//! Requests of the tiers to their devices.

use super::tier::Location;
use nacre_kernel::state::Value;
use nacre_kernel::{Op, Time};

/// Purpose of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Purpose {
    /// An operation that serves a whole host request.
    #[default]
    Alone,
    /// An operation that serves a part of a host request.
    Part,
    /// A read of a chunk.
    ChunkRead,
    /// A write of a chunk to its new location.
    ChunkWrite,
    /// A flush after a chunk write.
    ChunkFlush,
}

/// An operation in progress on the device of a tier.
#[derive(Clone, Debug, Value)]
pub(super) struct Operation {
    pub(super) purpose: Purpose,
    pub(super) op: Op,
    /// Whether the exchange of a chunk waits for this operation.
    pub(super) holds_up: bool,
    pub(super) location: Location,
    /// Offset of the first byte within the location.
    pub(super) from: u64,
    /// Number of bytes.
    pub(super) length: u64,
    /// Address of the first byte of a host operation.
    pub(super) address: u64,
    /// Number of the host request, number of its `Visit`, or index of the chunk, depending on the purpose.
    pub(super) owner: u32,
    /// Time that the operation waited before submission.
    pub(super) waited: Time,
}

impl Default for Operation {
    fn default() -> Operation {
        Operation {
            purpose: Purpose::Alone,
            op: Op::Flush,
            holds_up: false,
            location: Location::new(0, 0),
            from: 0,
            length: 0,
            address: 0,
            owner: 0,
            waited: Time::ZERO,
        }
    }
}

impl Operation {
    /// Whether this is a host operation, other than a flush, that overlaps the bytes `from` to `to` of
    /// `location`.
    pub(super) fn is_at(&self, location: Location, from: u64, to: u64) -> bool {
        matches!(self.purpose, Purpose::Alone | Purpose::Part)
            && self.op != Op::Flush
            && self.location == location
            && self.from < to
            && from < self.from + self.length
    }

    /// Whether the operation changes data.
    pub(super) fn is_change(&self) -> bool {
        matches!(self.op, Op::Write | Op::Trim)
    }
}
