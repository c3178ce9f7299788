//! Address range of a pattern, which is a sequence of equal blocks.

use nacre_kernel::{Bytes, Op, Request, Time};

/// Maximum end of the address range. Addresses then fit into signed 64-bit integers, as file offsets must.
pub(crate) const END_MAX: u64 = 1 << 63;

/// An address range of `blocks` blocks of `bytes` bytes, starting at `start`. Each request accesses one
/// block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    start: u64,
    bytes: u32,
    blocks: u64,
}

impl Area {
    /// Creates the address range of validated settings.
    pub(crate) fn new(start: Bytes, footprint: Bytes, request: Bytes) -> Area {
        let bytes = u32::try_from(request.0).expect("a request is at most 1 GiB");
        Area { start: start.0, bytes, blocks: footprint.0 / request.0 }
    }

    /// Number of blocks, at least one.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// End address of the last block.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.blocks * u64::from(self.bytes)
    }

    /// Address range in bytes.
    pub(crate) fn range(&self) -> std::ops::Range<u64> {
        self.start..self.end()
    }

    /// Returns the maximum number of units of `unit` bytes that a block overlaps.
    pub(crate) fn units_per_request(&self, unit: u64) -> u64 {
        let bytes = u64::from(self.bytes);
        let is_aligned = bytes.is_multiple_of(unit) || unit.is_multiple_of(bytes);
        let starts_at_unit = self.start.is_multiple_of(unit.min(bytes));
        bytes.div_ceil(unit) + u64::from(!(is_aligned && starts_at_unit))
    }

    /// Returns the request that accesses `block`.
    #[inline]
    pub(crate) fn request(&self, block: u64, op: Op) -> Request {
        debug_assert!(block < self.blocks);
        let address = self.start + block * u64::from(self.bytes);
        Request { arrival: Time::ZERO, address, bytes: self.bytes, volume: 0, op }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_overlaps_at_most_the_stated_number_of_units() {
        for (start, bytes, unit) in
            [(0, 4, 4), (0, 16, 4), (4, 16, 4), (4, 4, 16), (0, 4, 16), (2, 4, 4), (2, 16, 4), (0, 3, 4)]
        {
            let area = Area::new(Bytes(start), Bytes(bytes * 64), Bytes(bytes));
            let overlapped = (0..64).map(|block| {
                let Request { address, bytes, .. } = area.request(block, Op::Write);
                (address + u64::from(bytes) - 1) / unit - address / unit + 1
            });
            let most = overlapped.max().unwrap_or(0);
            assert_eq!(
                area.units_per_request(unit),
                most,
                "blocks of {bytes} from {start} in units of {unit}"
            );
        }
    }
}
