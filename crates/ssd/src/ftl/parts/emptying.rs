//! Relocation of the valid data of a superblock, and its progress.

use crate::layout::geometry::{Cells, Geometry};
use crate::ops::{Cause, FlashOps};
use nacre_kernel::state::Value;

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
    /// Number of units that were valid at the start.
    pub(crate) live: u32,
    /// Number of units of space that the relocation reclaims.
    pub(crate) gain: u32,
    /// Copies that are due because of host writes, in units multiplied by `gain`.
    pub(crate) credit: u64,
    pub(crate) reading: Reading,
}

/// Operation whose units are being copied, and their number. The units are read together.
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

    /// Adds a unit of the data operation `place` to the copies.
    #[inline]
    pub(crate) fn copy<W: FlashOps>(&mut self, place: u32, geometry: &Geometry, work: &mut W) {
        if place != self.place {
            self.end(geometry, work);
            self.place = place;
        }
        self.units += 1;
    }

    /// Issues the read of the last operation.
    #[inline]
    pub(crate) fn end<W: FlashOps>(&mut self, geometry: &Geometry, work: &mut W) {
        if self.units > 0 {
            let operation = geometry.operation_at(self.superblock, self.place);
            work.read(self.superblock, operation, self.cells, self.units, self.cause);
            self.units = 0;
        }
    }
}
