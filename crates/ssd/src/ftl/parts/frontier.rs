//! Write frontiers: the open superblocks.

use crate::layout::geometry::{Cells, Geometry};
use nacre_kernel::state::Value;

/// Marks an absent superblock or slot.
pub(crate) const ABSENT: u32 = u32::MAX;

/// An open superblock.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Frontier {
    pub(crate) superblock: u32,
    /// Number of the first unit.
    pub(crate) base: u32,
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
            base: superblock << geometry.shift,
            units,
            cells,
            taken: 0,
            issued: 0,
            operation_end: geometry.operation_units,
            next_operation: geometry.operation_of(superblock, 0),
        }
    }

    /// Whether `page` is allocated and still in the write buffer.
    #[inline]
    pub(crate) fn holds(&self, page: u32) -> bool {
        page.wrapping_sub(self.base + self.issued) < self.taken - self.issued
    }
}
