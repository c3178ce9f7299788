//! Division of requests into parts, each of which is within one block.

use nacre_kernel::Request;
use std::ops::Range;

/// Part of `request` in `block`. A block has `1 << shift` bytes.
#[inline]
pub(super) fn part_of(block: u64, request: &Request, shift: u32) -> Request {
    let start = block << shift;
    let from = request.address.max(start);
    // The end of the last possible block would be 2^64.
    let end = (request.address + u64::from(request.bytes)).min(start.saturating_add(1 << shift));
    Request { address: from, bytes: (end - from) as u32, ..*request }
}

/// Returns a request that reads the whole `block`. Its other fields are those of `request`.
#[inline]
pub(super) fn whole(block: u64, request: &Request, shift: u32) -> Request {
    Request { address: block << shift, bytes: 1 << shift, ..*request }
}

/// Converts the read or write `part` of a block to a request for `location` on a device.
#[inline]
pub(super) fn at(location: u64, part: &Request, shift: u32) -> Request {
    let offset = part.address & ((1 << shift) - 1);
    Request { address: location << shift | offset, ..*part }
}

/// Byte range of `part` within `request`.
#[inline]
pub(super) fn within(part: &Request, request: &Request) -> Range<usize> {
    let start = (part.address - request.address) as usize;
    start..start + part.bytes as usize
}
