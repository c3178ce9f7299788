//! A tier and its locations.

use nacre_kernel::Time;
use nacre_kernel::event::Device;
use nacre_kernel::state::{State, Value};

/// One tier: its device, and its counters of host accesses.
#[derive(State)]
pub(super) struct Tier {
    pub(super) device: Box<dyn Device>,
    /// Time of the next event of the tier's device.
    #[state(skip = "asked of the device")]
    pub(super) next: Time,
    #[state(same)]
    pub(super) extents: u32,
    /// Share of the device that the extents of the tier use; below 1 if the minimum size of the device
    /// exceeds the size of the extents.
    #[state(skip = "from the configuration")]
    pub(super) share: f64,
    pub(super) reads: u64,
    pub(super) writes: u64,
}

impl Tier {
    pub(super) fn new(device: Box<dyn Device>, extents: u32, share: f64) -> Tier {
        Tier { next: device.next_event(), device, extents, share, reads: 0, writes: 0 }
    }
}

/// Location of an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Location {
    /// Number of the tier in the upper bits, and number of the location on its device in the lower 30 bits.
    packed: u32,
}

impl Location {
    const NUMBER_BITS: u32 = 30;

    pub(super) fn new(tier: usize, number: u32) -> Location {
        Location { packed: (tier as u32) << Location::NUMBER_BITS | number }
    }

    #[inline]
    pub(super) fn tier(self) -> usize {
        (self.packed >> Location::NUMBER_BITS) as usize
    }

    #[inline]
    pub(super) fn number(self) -> u32 {
        self.packed & ((1 << Location::NUMBER_BITS) - 1)
    }
}
