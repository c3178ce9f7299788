//! Data that is written in place. A write is applied when it ends, so a power loss does not undo any write.

use crate::store::{InPlace, Layout, Nothing, Store};
use nacre_kernel::event::Payload;
use nacre_kernel::{Bytes, Random, Request};
use std::ops::Range;

/// Size of a page of the store, in bytes.
const PAGE_BYTES: u64 = 4096;
/// Size of the address range of a device without a capacity limit, in bytes.
const UNLIMITED: u64 = 1 << 50;
/// Number of adjacent pages that a store allocates together.
const PAGES_PER_EXTENT: u64 = 64;

/// Data that is written in place. With [`Nothing`](crate::store::Nothing), all functions have no effect and
/// no cost.
#[derive(Debug)]
pub struct Landed<S> {
    bytes: InPlace<S>,
    /// Atomic write unit in bytes. After a power loss, a unit has either the old or the new data.
    unit: u32,
}

impl Landed<Nothing> {
    /// Store layout for `capacity` bytes. If `capacity` is `None`, the layout covers the maximum address
    /// range.
    pub fn layout(capacity: Option<Bytes>) -> Layout {
        let capacity = capacity.map_or(UNLIMITED, |bytes| bytes.0);
        Layout {
            page_bytes: PAGE_BYTES as u32,
            pages_per_extent: PAGES_PER_EXTENT,
            pages: capacity.div_ceil(PAGE_BYTES),
        }
    }
}

impl<S: Store> Landed<S> {
    /// Creates data that is stored in `store`. After a power loss, each unit of `unit` bytes has either the
    /// old or the new data.
    pub fn new(store: S, unit: u32) -> Landed<S> {
        Landed { bytes: InPlace::new(store), unit }
    }

    /// Returns the data of a read.
    #[inline]
    pub fn read(&self, request: &Request) -> Payload {
        if !S::CARRIES_BYTES {
            return Payload::NONE;
        }
        let mut into = vec![0; request.bytes as usize];
        self.bytes.read(request.address, &mut into);
        into.into()
    }

    /// Applies a write of `data` at `address`.
    #[inline]
    pub fn write(&mut self, address: u64, data: &Payload) {
        if S::CARRIES_BYTES
            && let Some(bytes) = data.bytes()
        {
            self.bytes.write(address, bytes);
        }
    }

    /// Sets the trimmed bytes to zero.
    #[inline]
    pub fn trim(&mut self, request: &Request) {
        if S::CARRIES_BYTES {
            self.bytes.clear(request.address, u64::from(request.bytes));
        }
    }

    /// Handles a power loss during a write at `address`. Each unit has the new data with a probability of
    /// 1/2. Returns the number of bytes with new data.
    pub fn tear(&mut self, address: u64, data: &Payload, chance: &mut Random) -> u64 {
        let Some(bytes) = data.bytes().filter(|_| S::CARRIES_BYTES) else { return 0 };
        let mut landed = 0;
        for part in drawn_units(address..address + bytes.len() as u64, self.unit, chance) {
            let range = (part.start - address) as usize..(part.end - address) as usize;
            self.bytes.write(part.start, &bytes[range]);
            landed += part.end - part.start;
        }
        landed
    }
}

/// Selects units of `unit` bytes within the address range `bytes`, each with a probability of 1/2. For
/// example, the selected units are those that have the new data after a power loss.
pub fn drawn_units(bytes: Range<u64>, unit: u32, chance: &mut Random) -> Vec<Range<u64>> {
    let unit = u64::from(unit);
    let next = |&start: &u64| Some((start / unit + 1) * unit).filter(|&next| next < bytes.end);
    let starts = std::iter::successors(Some(bytes.start).filter(|_| !bytes.is_empty()), next);
    let units = starts.map(|start| start..((start / unit + 1) * unit).min(bytes.end));
    units.filter(|_| chance.chance(0.5)).collect()
}
