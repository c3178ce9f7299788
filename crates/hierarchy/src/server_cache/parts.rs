//! Requests in parts: what they ask of each block, and their bytes.

use nacre_kernel::{Data, Request};
use std::ops::Range;

/// What `request` asks of `block`, of blocks of `1 << shift` bytes.
#[inline]
pub(crate) fn part_of(block: u64, request: &Request, shift: u32) -> Request {
    let start = block << shift;
    let from = request.address.max(start);
    // The end of the last block there is would be 2^64.
    let end = (request.address + u64::from(request.bytes)).min(start.saturating_add(1 << shift));
    Request { address: from, bytes: (end - from) as u32, ..*request }
}

/// A read of `block` as a whole, for `request`.
#[inline]
pub(crate) fn whole(block: u64, request: &Request, shift: u32) -> Request {
    Request { address: block << shift, bytes: 1 << shift, ..*request }
}

/// The same part of a block, on the device where the block lies at `place`.
#[inline]
pub(crate) fn at(place: u64, part: &Request, shift: u32) -> Request {
    let offset = part.address & ((1 << shift) - 1);
    Request { address: place << shift | offset, ..*part }
}

/// Which of the bytes of `request` those of its `part` are.
#[inline]
pub(crate) fn within(part: &Request, request: &Request) -> Range<usize> {
    let start = (part.address - request.address) as usize;
    start..start + part.bytes as usize
}

/// Gives a read the part of its bytes that is among `bytes`, which are those of whole blocks from `first` on.
pub(crate) fn hand_out(bytes: &[u8], first: u64, request: &Request, data: &mut Data<'_>, shift: u32) {
    let Data::Read(into) = data else { return };
    let start = first << shift;
    let from = request.address.max(start);
    let to = (request.address + u64::from(request.bytes)).min(start.saturating_add(bytes.len() as u64));
    let (from_start, from_request) = ((from - start) as usize, (from - request.address) as usize);
    let count = (to - from) as usize;
    into[from_request..from_request + count].copy_from_slice(&bytes[from_start..from_start + count]);
}

/// Bytes of whole blocks that are at hand, from block `first` on; empty where no bytes are carried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtHand<'a> {
    pub(crate) first: u64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> AtHand<'a> {
    /// No block is.
    pub(crate) const NONE: AtHand<'static> = AtHand { first: 0, bytes: &[] };

    /// Those of `block`.
    pub(crate) fn block(&self, block: u64, shift: u32) -> &'a [u8] {
        if self.bytes.is_empty() {
            return &[];
        }
        let start = ((block - self.first) as usize) << shift;
        &self.bytes[start..start + (1 << shift)]
    }
}
