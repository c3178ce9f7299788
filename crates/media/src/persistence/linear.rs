//! Bytes at host addresses, and which writes have landed: what a device has that writes in place.

use super::pending::Pending;
use super::write::{Loss, Program, Torn, Write};
use crate::store::{InPlace, Layout, Store};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Data, Random, Request, Time};

/// Bytes of a page of the store.
const PAGE_BYTES: u64 = 4096;
/// Bytes of a device without a limit.
const UNLIMITED: u64 = 1 << 50;
/// Neighbouring pages that a store keeps together.
const PAGES_PER_EXTENT: u64 = 64;

/// Bytes that are written in place. Over [`Nothing`](crate::store::Nothing) it costs nothing and does nothing.
#[derive(Debug, State)]
#[state(bound = "S: Store")]
pub struct Linear<S> {
    #[state(skip = "who carries the bytes keeps them beside the state")]
    bytes: InPlace<S>,
    pending: Pending<Write>,
    /// Bytes that a loss of power leaves old or new.
    #[state(skip = "from the configuration")]
    unit: u32,
}

/// When a write lands.
#[derive(Clone, Copy, Debug)]
pub struct Landing {
    /// From when on the medium changes.
    pub begin: Time,
    /// When it has the bytes.
    pub end: Time,
    /// When the host is told that the write is done.
    pub acknowledged: Time,
}

impl<S: Store> Linear<S> {
    /// What a store has to hold for `capacity` bytes; where there is no limit, as much as any host reaches.
    pub fn layout(capacity: Option<Bytes>) -> Layout {
        let capacity = capacity.map_or(UNLIMITED, |bytes| bytes.0);
        Layout {
            page_bytes: PAGE_BYTES as u32,
            pages_per_extent: PAGES_PER_EXTENT,
            pages: capacity.div_ceil(PAGE_BYTES),
        }
    }

    /// The bytes of `store`, of which a loss of power leaves units of `unit` bytes old or new.
    pub fn new(store: S, unit: u32) -> Linear<S> {
        Linear { bytes: InPlace::new(store), pending: Pending::default(), unit }
    }

    /// Gives the bytes of a read.
    #[inline]
    pub fn read(&self, request: &Request, data: Data<'_>) {
        if let Data::Read(into) = data
            && S::CARRIES_BYTES
        {
            self.bytes.read(request.address, into);
        }
    }

    /// Takes the bytes of a write that lands so.
    #[inline]
    pub fn write(&mut self, request: &Request, data: &Data<'_>, landing: Landing) {
        if let Data::Write(new) = *data
            && S::CARRIES_BYTES
        {
            self.replace(request.address, new, landing);
        }
    }

    fn replace(&mut self, address: u64, new: &[u8], landing: Landing) {
        let Landing { begin, end, acknowledged } = landing;
        let mut old = vec![0; new.len()];
        self.bytes.read(address, &mut old);
        self.bytes.write(address, new);
        let programs = vec![Program { first: 0, count: new.len(), begin, end }];
        self.pending.push(Write { address, old, programs }, acknowledged);
    }

    /// What is trimmed reads as zero.
    #[inline]
    pub fn trim(&mut self, request: &Request) {
        if S::CARRIES_BYTES {
            self.bytes.clear(request.address, u64::from(request.bytes));
        }
    }

    /// No loss of power comes before `to`.
    #[inline]
    pub fn settle(&mut self, to: Time) {
        if S::CARRIES_BYTES {
            self.pending.settle(to, &());
        }
    }

    /// The power fails at `at`, and nothing has stored energy.
    pub fn power_fail(&mut self, at: Time, chance: &mut Random) -> Loss {
        let bytes = &mut self.bytes;
        let put_back = |address: u64, old: &[u8]| bytes.write(address, old);
        self.pending.fail_with_energy(at, Some(0), Torn::Units(self.unit), chance, put_back)
    }
}
