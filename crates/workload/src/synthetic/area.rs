//! The addresses a pattern uses: a run of equal blocks.

use nacre_kernel::{Bytes, Op, Request, Time};

/// The last byte a pattern may use: addresses stay positive as signed numbers, as files demand.
pub(crate) const END_MAX: u64 = 1 << 63;

/// `blocks` blocks of `bytes` bytes from address `start`. A request is one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    start: u64,
    bytes: u32,
    blocks: u64,
}

impl Area {
    /// The area of checked settings.
    pub(crate) fn new(start: Bytes, footprint: Bytes, request: Bytes) -> Area {
        let bytes = u32::try_from(request.0).expect("a request is at most 1 GiB");
        Area { start: start.0, bytes, blocks: footprint.0 / request.0 }
    }

    /// Number of blocks, at least one.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// End of the last block.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.blocks * u64::from(self.bytes)
    }

    /// Address range in bytes.
    pub(crate) fn range(&self) -> std::ops::Range<u64> {
        self.start..self.end()
    }

    /// The request for `block`.
    #[inline]
    pub(crate) fn request(&self, block: u64, op: Op) -> Request {
        debug_assert!(block < self.blocks);
        let address = self.start + block * u64::from(self.bytes);
        Request { arrival: Time::ZERO, address, bytes: self.bytes, volume: 0, op }
    }
}
