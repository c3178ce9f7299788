//! A superblock that is being emptied, and how far that has come.

use crate::layout::geometry::{Cells, Geometry};
use crate::ops::{Cause, FlashOps};
use nacre_kernel::state::Value;

/// A superblock that is being emptied.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Relocation {
    pub(crate) cause: Cause,
    pub(crate) superblock: u32,
    pub(crate) place: u32,
    /// The word of the array's live bits that is looked at next, and the one behind the last.
    pub(crate) word: usize,
    pub(crate) end: usize,
    /// Units that were live when it began, and that were not.
    pub(crate) live: u32,
    pub(crate) gain: u32,
    /// What the host has paid for, in units times `gain`.
    pub(crate) credit: u64,
    pub(crate) reading: Reading,
}

/// The operation whose units are being copied, and so many of them: they are read together.
#[derive(Clone, Copy, Debug, Value)]
pub(crate) struct Reading {
    superblock: u32,
    pub(crate) cells: Cells,
    pub(crate) cause: Cause,
    /// Its number among those of the superblock that program data.
    pub(crate) place: u32,
    pub(crate) units: u32,
}

impl Reading {
    /// Of `superblock`.
    pub(crate) fn new(superblock: u32, cells: Cells, cause: Cause) -> Reading {
        Reading { superblock, cells, cause, place: 0, units: 0 }
    }

    /// A unit of the operation in `place` is copied next.
    #[inline]
    pub(crate) fn copy<W: FlashOps>(&mut self, place: u32, geometry: &Geometry, work: &mut W) {
        if place != self.place {
            self.end(geometry, work);
            self.place = place;
        }
        self.units += 1;
    }

    /// No more of it is copied.
    #[inline]
    pub(crate) fn end<W: FlashOps>(&mut self, geometry: &Geometry, work: &mut W) {
        if self.units > 0 {
            let operation = geometry.operation_at(self.superblock, self.place);
            work.read(self.superblock, operation, self.cells, self.units, self.cause);
            self.units = 0;
        }
    }
}
