//! Block requests of a host.

use crate::state::Value;
use crate::time::Time;

/// Operation of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Value)]
#[repr(u8)]
pub enum Op {
    /// Returns the bytes last written.
    #[default]
    Read,
    /// Replaces the bytes.
    Write,
    /// Discards bytes that the host no longer needs (TRIM, discard, unmap).
    Trim,
    /// Makes all acknowledged writes durable.
    Flush,
}

impl Op {
    /// Name in traces, records, and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
        }
    }
}

/// A block request. It has 32 bytes, so two requests share a cache line.
///
/// Addresses are byte offsets in a volume, and volumes never overlap. A stack has one address space: a
/// workload maps several volumes to different addresses (the `placement` of a trace, or the address ranges of
/// `tenants`). In the stack, the volume only identifies the owner of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Request {
    /// Time at which the host issues the request, since the start of the workload.
    pub arrival: Time,
    /// Address of the first byte.
    pub address: u64,
    /// Size in bytes; zero only for [`Op::Flush`].
    pub bytes: u32,
    /// Volume (disk, LUN, ASU, file) to which the address belongs, counted from zero.
    pub volume: u32,
    /// The operation.
    pub op: Op,
}

const _: () = assert!(size_of::<Request>() == 32);

impl Request {
    /// Number of the first block of `block_bytes` that this request accesses, and number of blocks.
    ///
    /// A partially covered block counts as accessed. `block_bytes` must be a power of two.
    #[inline]
    pub fn blocks(&self, block_bytes: u64) -> (u64, u64) {
        debug_assert!(block_bytes.is_power_of_two());
        let shift = block_bytes.trailing_zeros();
        let first = self.address >> shift;
        let end = self.address + u64::from(self.bytes.max(1)) - 1;
        (first, (end >> shift) - first + 1)
    }
}
