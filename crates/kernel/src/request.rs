//! Block requests of a host.

use crate::state::Value;
use crate::time::Time;

/// Operation of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Value)]
#[repr(u8)]
pub enum Op {
    /// Return the bytes last written.
    #[default]
    Read,
    /// Replace the bytes.
    Write,
    /// The host no longer needs the bytes (TRIM, discard, unmap).
    Trim,
    /// Everything acknowledged so far must survive a power failure.
    Flush,
}

impl Op {
    /// The name used in traces, records and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
        }
    }
}

/// One block request. 32 bytes, so two share a cache line.
///
/// Addresses are bytes within a volume, and volumes never overlap. A stack has one address space: a workload
/// maps several volumes to different addresses (the `placement` of a trace, the parts of `tenants`). For the
/// stack, the volume only identifies the owner of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Request {
    /// Time at which the host issues it, since the start of the workload.
    pub arrival: Time,
    /// First byte.
    pub address: u64,
    /// Size in bytes; zero only for [`Op::Flush`].
    pub bytes: u32,
    /// The volume (disk, LUN, ASU, file) the address belongs to, numbered from zero.
    pub volume: u32,
    /// The operation.
    pub op: Op,
}

const _: () = assert!(size_of::<Request>() == 32);

impl Request {
    /// The blocks of `block_bytes` that this request touches: number of the first one, and count.
    ///
    /// A request that covers a block only in part touches that block. `block_bytes` is a power of two.
    #[inline]
    pub fn blocks(&self, block_bytes: u64) -> (u64, u64) {
        debug_assert!(block_bytes.is_power_of_two());
        let shift = block_bytes.trailing_zeros();
        let first = self.address >> shift;
        let end = self.address + u64::from(self.bytes.max(1)) - 1;
        (first, (end >> shift) - first + 1)
    }
}
