//! A superblock that is being emptied, and its progress.

use crate::layout::geometry::{Cells, Geometry};
use crate::ops::{Cause, FlashOps};
use nacre_kernel::state::Value;

/// A superblock that is being emptied.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Relocation {
    pub(crate) cause: Cause,
    pub(crate) superblock: u32,
    pub(crate) place: u32,
    /// Index of the next word of valid bits to check, and the end of the superblock.
    pub(crate) word: usize,
    pub(crate) end: usize,
    /// Units that were valid at the start, and units of space that the relocation gains.
    pub(crate) live: u32,
    pub(crate) gain: u32,
    /// Copies that host writes have made due, in units times `gain`.
    pub(crate) credit: u64,
    pub(crate) reading: Reading,
}

/// An operation whose units are being copied, and their number: they are read together.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Reading {
    superblock: u32,
    pub(crate) cells: Cells,
    pub(crate) cause: Cause,
    /// Its number among the data operations of the superblock.
    pub(crate) place: u32,
    pub(crate) units: u32,
}

impl Reading {
    /// No operation of `superblock` yet.
    pub(crate) fn new(superblock: u32, cells: Cells, cause: Cause) -> Reading {
        Reading { superblock, cells, cause, place: 0, units: 0 }
    }

    /// Copies a unit of the operation in `place` next.
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
