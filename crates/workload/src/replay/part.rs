//! A subset of a trace, for runs that are split across workers by volume or by a hash of the extent.
//!
//! Splitting by hash is SHARDS (Waldspurger et al., FAST 2015, section 3), but Nacre keeps all parts instead
//! of one. All accesses to an extent are in the same part, so each part is statistically similar to the whole
//! trace.

use crate::trace::sample::{cut, mix};
use nacre_config::{Choice, Configuration, Reader};
use nacre_kernel::{Bytes, Op, Request};

/// Part of a trace that is split across workers. Every request, or fragment of a request, is in exactly one
/// part. `nacre run --split` sets these fields.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Part {
    /// Method that splits the trace.
    #[config(default = "hash", source = "assumed: every trace has addresses")]
    pub by: By,
    /// Number of parts.
    #[config(default = 1, min = 1, max = 1048576, source = "assumed: the whole trace")]
    pub parts: u32,
    /// Index of this part, counted from 0.
    #[config(default = 0, source = "assumed: the first part")]
    pub number: u32,
    /// Extent size for a split by hash; a power of two. A request is split at boundaries between extents of
    /// different parts.
    #[config(
        default = "1 MiB",
        min = "4 KiB",
        max = "1 GiB",
        source = "assumed: larger than nearly all requests, small compared with a device"
    )]
    pub extent: Bytes,
}

/// Method that splits a trace into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum By {
    /// Assigns whole volumes in rotation: volume k is in part k modulo the number of parts.
    Volume,
    /// Assigns extents according to a hash of volume and address.
    Hash,
}

fn check(part: &Part, reader: &mut Reader<'_>) {
    if part.number >= part.parts {
        let problem = "there is no such part; they are counted from 0";
        reader.conflict("number", &part.number.to_string(), problem, "use a number below parts");
    }
    if !part.extent.0.is_power_of_two() {
        let remedy = "use 4 KiB, 64 KiB, 1 MiB, ...";
        reader.conflict("extent", &part.extent.to_string(), "it is not a power of two", remedy);
    }
}

impl Part {
    /// Appends to `pieces` the fragments of `request` that belong to this part. Volumes are renumbered
    /// without gaps.
    pub(super) fn choose(&self, request: &Request, pieces: &mut Vec<Request>) {
        match self.by {
            By::Volume if request.volume % self.parts == self.number => {
                pieces.push(Request { volume: request.volume / self.parts, ..*request });
            }
            By::Volume => {}
            By::Hash if request.op == Op::Flush => {
                if self.dealt(request.volume, request.arrival.as_ps()) == self.number {
                    pieces.push(*request);
                }
            }
            By::Hash => cut(request, self.extent.0, pieces, |volume, extent| {
                self.dealt(volume, extent) == self.number
            }),
        }
    }

    /// Calls `tell` with the part number and the operation for every fragment of `request`.
    pub(super) fn deal(&self, request: &Request, mut tell: impl FnMut(u32, Op)) {
        match self.by {
            By::Volume => tell(request.volume % self.parts, request.op),
            By::Hash if request.op == Op::Flush => {
                tell(self.dealt(request.volume, request.arrival.as_ps()), request.op);
            }
            By::Hash => {
                let (first, count) = request.blocks(self.extent.0);
                let mut before = None;
                for extent in first..first + count {
                    let part = self.dealt(request.volume, extent);
                    if before != Some(part) {
                        tell(part, request.op);
                    }
                    before = Some(part);
                }
            }
        }
    }

    /// Part number of `place` in `volume`. `place` is an extent, or the arrival time of a flush, which has no
    /// address.
    #[inline]
    fn dealt(&self, volume: u32, place: u64) -> u32 {
        // This hash uses other bits than sampling by block, which may already have selected the requests.
        let hash = mix(0x5711_7000 ^ mix(place ^ u64::from(volume) << 48)) >> 32;
        ((hash * u64::from(self.parts)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{By, Part};
    use nacre_kernel::{Bytes, Op, Request, Time};
    use proptest::prelude::*;

    fn part(by: By, parts: u32, number: u32) -> Part {
        Part { by, parts, number, extent: Bytes(64 << 10) }
    }

    fn pieces(part: &Part, request: &Request) -> Vec<Request> {
        let mut pieces = Vec::new();
        part.choose(request, &mut pieces);
        pieces
    }

    proptest! {
        /// Checks that every byte of a request and every flush is in exactly one part, for any split. Also
        /// checks the number of fragments of each part that is counted before the replay.
        #[test]
        fn every_byte_is_in_exactly_one_part(
            by in prop::sample::select(vec![By::Volume, By::Hash]),
            parts in 1u32..9,
            volume in 0u32..20,
            address in 0u64..1 << 40,
            bytes in 1u32..2 << 20,
            op in prop::sample::select(vec![Op::Read, Op::Write, Op::Trim, Op::Flush]),
        ) {
            let (address, bytes) = if op == Op::Flush { (0, 0) } else { (address, bytes) };
            let request = Request { arrival: Time::from_ns(address), address, bytes, volume, op };
            let mut counted = vec![0; parts as usize];
            part(by, parts, 0).deal(&request, |part, _| counted[part as usize] += 1);
            let dealt: Vec<Vec<Request>> =
                (0..parts).map(|number| pieces(&part(by, parts, number), &request)).collect();
            prop_assert_eq!(dealt.iter().map(Vec::len).collect::<Vec<_>>(), counted);
            let mut all: Vec<Request> = dealt.concat();
            all.sort_by_key(|piece| piece.address);
            let mut at = address;
            for piece in &all {
                prop_assert_eq!((piece.address, piece.arrival, piece.op), (at, request.arrival, op));
                at += u64::from(piece.bytes);
            }
            prop_assert_eq!(at, address + u64::from(bytes));
            if op == Op::Flush || by == By::Volume {
                prop_assert_eq!(all.len(), 1);
            }
        }
    }

    #[test]
    fn one_part_has_requests_as_they_were() {
        let request = Request { arrival: Time::ZERO, address: 100, bytes: 3 << 20, volume: 7, op: Op::Write };
        for by in [By::Volume, By::Hash] {
            assert_eq!(pieces(&part(by, 1, 0), &request), [request]);
        }
    }

    #[test]
    fn volumes_of_a_part_have_numbers_without_gaps() {
        let request = |volume| Request { arrival: Time::ZERO, address: 0, bytes: 512, volume, op: Op::Read };
        let seen: Vec<u32> = (0..9)
            .flat_map(|volume| pieces(&part(By::Volume, 3, 1), &request(volume)))
            .map(|r| r.volume)
            .collect();
        assert_eq!(seen, [0, 1, 2]);
    }

    #[test]
    fn a_hash_deals_equal_shares() {
        let mut counts = [0_u32; 8];
        for extent in 0..80_000_u64 {
            let request =
                Request { arrival: Time::ZERO, address: extent << 16, bytes: 512, volume: 3, op: Op::Read };
            part(By::Hash, 8, 0).deal(&request, |part, _| counts[part as usize] += 1);
        }
        // The counts are binomial with p = 1/8 of 80,000. The standard deviation is 93.5, so 500 is 5.3
        // standard deviations.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
    }
}
