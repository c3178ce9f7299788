//! Frontiers: the superblocks that are being filled.

use super::geometry::{Cells, Geometry};
use nacre_kernel::state::Value;

/// No superblock.
pub(super) const NOBODY: u32 = u32::MAX;

/// A superblock that is being filled.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Frontier {
    pub(super) superblock: u32,
    /// Number of its first unit.
    pub(super) base: u32,
    /// Units it can take.
    pub(super) units: u32,
    pub(super) cells: Cells,
    /// Units taken.
    pub(super) taken: u32,
    /// Units of operations that went to the flash; those behind are in the write buffer.
    pub(super) issued: u32,
    /// Where the operation that is being filled ends.
    pub(super) operation_end: u32,
    /// The operation that goes to the flash next.
    pub(super) next_operation: u32,
}

impl Frontier {
    /// Nothing is open.
    pub(super) const NONE: Frontier = Frontier {
        superblock: NOBODY,
        base: 0,
        units: 0,
        cells: Cells::Full,
        taken: 0,
        issued: 0,
        operation_end: 0,
        next_operation: 0,
    };

    pub(super) fn at(superblock: u32, units: u32, cells: Cells, geometry: &Geometry) -> Frontier {
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
    pub(super) fn holds(&self, page: u32) -> bool {
        page.wrapping_sub(self.base + self.issued) < self.taken - self.issued
    }
}
