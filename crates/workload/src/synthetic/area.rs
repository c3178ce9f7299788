//! The addresses a pattern uses: a run of equal blocks.

use nacre_config::Reader;
use nacre_kernel::{Bytes, Op, Request, Time};

/// The last byte a pattern may use: addresses stay positive as signed numbers, as files demand.
const END_MAX: u64 = 1 << 63;

/// `blocks` blocks of `bytes` bytes from address `start` on. A request is one block.
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

    /// How many blocks there are, at least one.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The request for `block`.
    #[inline]
    pub(crate) fn request(&self, block: u64, op: Op) -> Request {
        debug_assert!(block < self.blocks);
        let address = self.start + block * u64::from(self.bytes);
        Request { arrival: Time::ZERO, address, bytes: self.bytes, volume: 0, op }
    }
}

/// Reports settings of an area that do not fit each other.
pub(crate) fn check(start: Bytes, footprint: Bytes, request: Bytes, reader: &mut Reader<'_>) {
    if !footprint.0.is_multiple_of(request.0) {
        let below = footprint.0 / request.0 * request.0;
        let above = below.saturating_add(request.0);
        let nearest = if below == 0 { above } else { below };
        reader.conflict(
            "footprint",
            &footprint.to_string(),
            &format!("it is not a whole number of requests of {request}"),
            &format!("use {}, or another size of request", Bytes(nearest)),
        );
    }
    if start.0.checked_add(footprint.0).is_none_or(|end| end > END_MAX) {
        reader.conflict(
            "start",
            &start.to_string(),
            "the footprint would reach past 8192 PiB, where addresses end",
            "start earlier",
        );
    }
}
