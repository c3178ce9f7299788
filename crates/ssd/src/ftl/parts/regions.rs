//! Regions: subsets of a drive with separate write frontiers and garbage collection.
//!
//! If superblocks span all dies, the drive is one region. With allocation by plane, each plane is a region,
//! and its superblocks are single blocks. Each region has its write frontiers, erased superblocks, and
//! victim.

use crate::layout::geometry::{Cells, Geometry};
use crate::ops::{Cause, FlashOps};
use crate::superblocks::ABSENT;
use nacre_controller::cleaning::Partition;
use nacre_kernel::state::{State, Value};
use std::ops::Range;

/// Garbage collection state of a region.
#[derive(State)]
pub(crate) struct Region {
    /// Empty slots.
    #[state(varies)]
    pub(crate) empty: Vec<u32>,
    #[state(varies)]
    pub(crate) relocation: Option<Relocation>,
    /// Number of units that the host programmed since the last run of garbage collection.
    pub(crate) unpaced: u32,
    /// Number of erased superblocks below which garbage collection starts: the number that the policy
    /// requires, or the reserve.
    pub(crate) kept_erased: u32,
}

impl Region {
    /// Creates an empty region with the slots `places`.
    pub(crate) fn new(places: Range<usize>) -> Region {
        Region {
            empty: places.rev().map(|place| place as u32).collect(),
            relocation: None,
            unpaced: 0,
            kept_erased: 0,
        }
    }
}

/// Creates a partition for each region, with slots for its `usable` superblocks.
pub(crate) fn partitions_by_region(usable: &[u32], geometry: &Geometry) -> Vec<Partition> {
    let mut counts = vec![0; geometry.regions as usize];
    usable.iter().for_each(|&superblock| counts[geometry.region_of(superblock)] += 1);
    let mut first = 0;
    let of = |count: usize| {
        let partition = Partition { first, count, active: first, ..Partition::default() };
        first += count;
        partition
    };
    counts.into_iter().map(of).collect()
}

/// An open superblock.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Frontier {
    pub(crate) superblock: u32,
    /// Number of the first unit.
    pub(crate) base: u64,
    /// Capacity in units.
    pub(crate) units: u32,
    pub(crate) cells: Cells,
    /// Number of allocated units.
    pub(crate) taken: u32,
    /// Number of units in operations that were issued to the flash. Later units are in the write buffer.
    pub(crate) issued: u32,
    /// Unit at which the open operation ends.
    pub(crate) operation_end: u32,
    /// Next operation to issue.
    pub(crate) next_operation: u32,
}

impl Frontier {
    /// Frontier without an open superblock.
    pub(crate) const NONE: Frontier = Frontier {
        superblock: ABSENT,
        base: 0,
        units: 0,
        cells: Cells::Full,
        taken: 0,
        issued: 0,
        operation_end: 0,
        next_operation: 0,
    };

    pub(crate) fn at(superblock: u32, units: u32, cells: Cells, geometry: &Geometry) -> Frontier {
        Frontier {
            superblock,
            base: geometry.page_at(superblock, 0),
            units,
            cells,
            taken: 0,
            issued: 0,
            operation_end: geometry.operation_units,
            next_operation: geometry.operation_of(superblock, 0),
        }
    }

    /// Returns whether `page` is allocated and still in the write buffer.
    #[inline]
    pub(crate) fn holds(&self, page: u64) -> bool {
        page.wrapping_sub(self.base + u64::from(self.issued)) < u64::from(self.taken - self.issued)
    }
}

/// A superblock whose valid data is being relocated.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Relocation {
    pub(crate) cause: Cause,
    pub(crate) superblock: u32,
    pub(crate) place: u32,
    /// Index of the next word of valid bits to check.
    pub(crate) word: usize,
    /// Index after the last word of valid bits of the superblock.
    pub(crate) end: usize,
    /// Number of units that were valid at the start of the relocation.
    pub(crate) live: u32,
    /// Number of units of space that the relocation reclaims.
    pub(crate) gain: u32,
    /// Number of copies that are due because of host writes, in units multiplied by `gain`.
    pub(crate) credit: u64,
    pub(crate) reading: Reading,
}

/// An operation whose units are being copied, and the number of these units. They are read together.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Reading {
    superblock: u32,
    pub(crate) cells: Cells,
    pub(crate) cause: Cause,
    /// Number of the operation among the data operations of the superblock.
    pub(crate) place: u32,
    pub(crate) units: u32,
}

impl Reading {
    /// Creates the state before the first operation of `superblock`.
    pub(crate) fn new(superblock: u32, cells: Cells, cause: Cause) -> Reading {
        Reading { superblock, cells, cause, place: 0, units: 0 }
    }

    /// Adds a unit of the data operation `place` to the units to copy. If the previous units are in another
    /// operation, first issues the read of that operation.
    #[inline]
    pub(crate) fn copy<W: FlashOps>(&mut self, place: u32, geometry: &Geometry, work: &mut W) {
        if place != self.place {
            self.end(geometry, work);
            self.place = place;
        }
        self.units += 1;
    }

    /// Issues the read of the current operation, if any of its units are copied.
    #[inline]
    pub(crate) fn end<W: FlashOps>(&mut self, geometry: &Geometry, work: &mut W) {
        if self.units > 0 {
            let operation = geometry.operation_at(self.superblock, self.place);
            work.read(self.superblock, operation, self.cells, self.units, self.cause);
            self.units = 0;
        }
    }
}
