//! Requests in parts: what they ask of each block, and where a block lies.

use super::levels::Level;
use nacre_kernel::Request;

/// What `request` asks of `block`, of blocks of `1 << shift` bytes.
#[inline]
pub(super) fn part_of(block: u64, request: &Request, shift: u32) -> Request {
    let start = block << shift;
    let from = request.address.max(start);
    // The end of the last block there is would be 2^64.
    let end = (request.address + u64::from(request.bytes)).min(start.saturating_add(1 << shift));
    Request { address: from, bytes: (end - from) as u32, ..*request }
}

/// A read of `block` as a whole, for `request`.
#[inline]
pub(super) fn whole(block: u64, request: &Request, shift: u32) -> Request {
    Request { address: block << shift, bytes: 1 << shift, ..*request }
}

impl Level {
    /// The place of a block on the device of this level. See "Leaves out".
    #[inline]
    pub(super) fn place(&self, block: u64) -> u64 {
        block % self.blocks
    }

    /// The same part of a block, where this level keeps it.
    #[inline]
    pub(super) fn at(&self, part: &Request, shift: u32) -> Request {
        let offset = part.address & ((1 << shift) - 1);
        Request { address: self.place(part.address >> shift) << shift | offset, ..*part }
    }
}
