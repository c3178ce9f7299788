//! Mapping of the volumes of a trace into one address space.

use nacre_kernel::state::State;
use nacre_kernel::{Op, Request};
use rustc_hash::FxHashMap;

/// Distance between the start addresses of volumes whose addresses are kept, as the exponent of a power of
/// two.
const VOLUME_BITS: u32 = 44;
/// Maximum number of volumes below the end of the address space, 2^63.
const VOLUMES_MAX: u32 = 1 << (63 - VOLUME_BITS);
/// Granularity of compact placement, in bytes.
pub(super) const EXTENT_BYTES: u64 = 1 << 20;
/// Number of bits of an extent number, for addresses below 4 EiB, the limit of every reader. The bits above
/// them contain the volume number of at most 20 bits.
const EXTENT_NUMBER_BITS: u32 = 62 - 20;

/// Reason why a request cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// The request ends after the range of its volume.
    Address,
    /// The volume starts after address 2^63.
    Volume,
}

/// Keeps the address of `request` within its volume. Volume k starts at k times 16 TiB.
#[inline]
pub(super) fn keep(request: &mut Request) -> Result<(), Misfit> {
    if request.op == Op::Flush {
        (request.address, request.volume) = (0, 0);
        return Ok(());
    }
    if request.address + u64::from(request.bytes) > 1 << VOLUME_BITS {
        return Err(Misfit::Address);
    }
    if request.volume >= VOLUMES_MAX {
        return Err(Misfit::Volume);
    }
    request.address |= u64::from(request.volume) << VOLUME_BITS;
    request.volume = 0;
    Ok(())
}

/// Places extents of 1 MiB contiguously in the order of their first access.
#[derive(Debug, Default, State)]
pub(super) struct Compact {
    /// New location of each extent.
    places: FxHashMap<u64, u64>,
    /// Key and location of the extent accessed last, if any. Most requests access this extent again.
    #[state(varies)]
    last: Option<(u64, u64)>,
}

impl Compact {
    /// Number of extents placed so far.
    pub(super) fn extents(&self) -> u64 {
        self.places.len() as u64
    }

    /// Maps `request` and appends it to `pieces`. The request is split if its extents are not contiguous.
    #[inline]
    pub(super) fn place(&mut self, request: &Request, pieces: &mut Vec<Request>) {
        if request.op == Op::Flush {
            pieces.push(Request { address: 0, volume: 0, ..*request });
            return;
        }
        let (mut address, mut left) = (request.address, u64::from(request.bytes));
        let mut piece: Option<Request> = None;
        while left > 0 {
            let within = address % EXTENT_BYTES;
            let bytes = left.min(EXTENT_BYTES - within);
            let placed = self.extent(request.volume, address / EXTENT_BYTES) * EXTENT_BYTES + within;
            match &mut piece {
                Some(piece) if piece.address + u64::from(piece.bytes) == placed => {
                    piece.bytes += bytes as u32;
                }
                _ => {
                    let next = Request { address: placed, bytes: bytes as u32, volume: 0, ..*request };
                    pieces.extend(piece.replace(next));
                }
            }
            address += bytes;
            left -= bytes;
        }
        pieces.extend(piece);
    }

    #[inline]
    fn extent(&mut self, volume: u32, extent: u64) -> u64 {
        assert!(extent < 1 << EXTENT_NUMBER_BITS, "an address beyond 4 EiB");
        let key = (u64::from(volume) << EXTENT_NUMBER_BITS) | extent;
        match self.last {
            Some((last, place)) if last == key => place,
            _ => {
                let fresh = self.places.len() as u64;
                let place = *self.places.entry(key).or_insert(fresh);
                self.last = Some((key, place));
                place
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Compact, EXTENT_BYTES, Misfit, keep};
    use nacre_kernel::{Op, Request, Time};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const MIB: u64 = 1 << 20;

    fn request(volume: u32, address: u64, bytes: u32) -> Request {
        Request { arrival: Time::from_us(1), address, bytes, volume, op: Op::Write }
    }

    fn placed(compact: &mut Compact, request: &Request) -> Vec<(u64, u32)> {
        let mut pieces = Vec::new();
        compact.place(request, &mut pieces);
        assert!(pieces.iter().all(|piece| piece.volume == 0 && piece.op == request.op));
        pieces.iter().map(|piece| (piece.address, piece.bytes)).collect()
    }

    #[test]
    fn kept_volumes_lie_16_tib_apart() {
        let kept = |volume, address, bytes| {
            let mut request = request(volume, address, bytes);
            keep(&mut request).map(|()| (request.address, request.volume))
        };
        assert_eq!(kept(0, 12_345, 512), Ok((12_345, 0)));
        assert_eq!(kept(3, 12_345, 512), Ok(((3 << 44) + 12_345, 0)));
        assert_eq!(kept(524_287, (1 << 44) - 512, 512), Ok(((1 << 63) - 512, 0)));
        assert_eq!(kept(0, (1 << 44) - 512, 513), Err(Misfit::Address));
        assert_eq!(kept(524_288, 0, 512), Err(Misfit::Volume));
    }

    #[test]
    fn a_flush_belongs_to_no_address() {
        let mut flush = Request { op: Op::Flush, ..request(9, 1 << 50, 0) };
        let mut pieces = Vec::new();
        Compact::default().place(&flush, &mut pieces);
        keep(&mut flush).unwrap();
        assert_eq!((flush.address, flush.volume), (0, 0));
        assert_eq!(pieces, [flush]);
    }

    #[test]
    fn extents_lie_in_the_order_of_first_touch() {
        let mut compact = Compact::default();
        assert_eq!(placed(&mut compact, &request(0, 700 * MIB + 5, 10)), [(5, 10)]);
        assert_eq!(placed(&mut compact, &request(1, 700 * MIB + 5, 10)), [(MIB + 5, 10)]);
        assert_eq!(placed(&mut compact, &request(0, 3 * MIB, 4096)), [(2 * MIB, 4096)]);
        assert_eq!(placed(&mut compact, &request(0, 701 * MIB - 1, 1)), [(MIB - 1, 1)]);
        assert_eq!(compact.extents(), 3);
    }

    #[test]
    fn a_request_is_cut_where_its_extents_lie_apart_only() {
        let mut compact = Compact::default();
        // Three new extents are contiguous, so there is one fragment.
        assert_eq!(placed(&mut compact, &request(0, 10 * MIB + 100, 2 << 20)), [(100, 2 << 20)]);
        assert_eq!(placed(&mut compact, &request(0, 13 * MIB - 50, 100)), [(3 * MIB - 50, 100)]);
        // Extent 9 was the fifth to be accessed, and extent 10 the first.
        assert_eq!(placed(&mut compact, &request(0, 10 * MIB - 50, 100)), [(5 * MIB - 50, 50), (0, 50)]);
    }

    proptest! {
        #[test]
        fn every_byte_lies_where_the_slow_oracle_puts_it(
            requests in prop::collection::vec((0u32..3, 0u64..6 * MIB, 1u32..3_000_000), 1..40)
        ) {
            let mut compact = Compact::default();
            let mut places: BTreeMap<(u32, u64), u64> = BTreeMap::new();
            for (volume, address, bytes) in requests {
                // The reference uses steps of 1 byte near extent boundaries and request ends, and larger
                // steps elsewhere.
                let end = address + u64::from(bytes);
                let mut expected = Vec::new();
                let mut at = address;
                while at < end {
                    let fresh = places.len() as u64;
                    let place = *places.entry((volume, at / EXTENT_BYTES)).or_insert(fresh);
                    expected.push(place * EXTENT_BYTES + at % EXTENT_BYTES);
                    let seam = (at / EXTENT_BYTES + 1) * EXTENT_BYTES;
                    at = if at + 2 < seam.min(end) { seam.min(end) - 1 } else { at + 1 };
                }
                let pieces = placed(&mut compact, &request(volume, address, bytes));
                prop_assert_eq!(pieces.iter().map(|piece| u64::from(piece.1)).sum::<u64>(), u64::from(bytes));
                let lies_in_a_piece = |at: &u64| pieces.iter().any(|&(from, bytes)| (from..from + u64::from(bytes)).contains(at));
                prop_assert!(expected.iter().all(lies_in_a_piece));
                // Fragments are as long as possible.
                prop_assert!(pieces.windows(2).all(|pair| pair[0].0 + u64::from(pair[0].1) != pair[1].0));
            }
            prop_assert_eq!(compact.extents(), places.len() as u64);
        }
    }
}
