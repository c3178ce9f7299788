//! Requests in parts: what they ask of each block, and their bytes.

use nacre_kernel::Request;
use std::ops::Range;

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

/// The same part of a block, on the device where the block lies at `place`.
#[inline]
pub(super) fn at(place: u64, part: &Request, shift: u32) -> Request {
    let offset = part.address & ((1 << shift) - 1);
    Request { address: place << shift | offset, ..*part }
}

/// Which of the bytes of `request` those of its `part` are.
#[inline]
pub(super) fn within(part: &Request, request: &Request) -> Range<usize> {
    let start = (part.address - request.address) as usize;
    start..start + part.bytes as usize
}
