//! Frontiers: the superblocks that are being filled.

use crate::layout::geometry::{Cells, Geometry};
use nacre_kernel::state::Value;

/// No superblock.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A superblock that is being filled.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Frontier {
    pub(crate) superblock: u32,
    /// Number of its first unit.
    pub(crate) base: u32,
    /// Units it can take.
    pub(crate) units: u32,
    pub(crate) cells: Cells,
    /// Units taken.
    pub(crate) taken: u32,
    /// Units of operations that went to the flash; those behind are in the write buffer.
    pub(crate) issued: u32,
    /// Where the operation that is being filled ends.
    pub(crate) operation_end: u32,
    /// The operation that goes to the flash next.
    pub(crate) next_operation: u32,
}

impl Frontier {
    /// Nothing is open.
    pub(crate) const NONE: Frontier = Frontier {
        superblock: NOBODY,
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

    /// Whether `page` is taken and still in the write buffer.
    #[inline]
    pub(crate) fn holds(&self, page: u32) -> bool {
        page.wrapping_sub(self.base + self.issued) < self.taken - self.issued
    }
}
