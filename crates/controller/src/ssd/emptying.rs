//! A superblock that is being emptied, and how far that has come.

use super::flash_ops::{Cause, FlashOps};
use super::geometry::Cells;
use nacre_kernel::state::Value;

/// A superblock that is being emptied.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Relocation {
    pub(super) cause: Cause,
    pub(super) superblock: u32,
    pub(super) place: u32,
    /// The word of the array's live bits that is looked at next, and the one behind the last.
    pub(super) word: usize,
    pub(super) end: usize,
    /// Units that were live when it began, and that were not.
    pub(super) live: u32,
    pub(super) gain: u32,
    /// What the host has paid for, in units times `gain`.
    pub(super) credit: u64,
    pub(super) reading: Reading,
}

/// The operation whose units are being copied, and so many of them: they are read together.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Reading {
    pub(super) cells: Cells,
    pub(super) cause: Cause,
    pub(super) operation: u32,
    pub(super) units: u32,
}

impl Reading {
    pub(super) fn new(cells: Cells, cause: Cause) -> Reading {
        Reading { cells, cause, operation: 0, units: 0 }
    }

    /// A unit of `operation` is copied next.
    #[inline]
    pub(super) fn copy<W: FlashOps>(&mut self, operation: u32, work: &mut W) {
        if operation != self.operation {
            self.end(work);
            self.operation = operation;
        }
        self.units += 1;
    }

    /// No more of it is copied.
    #[inline]
    pub(super) fn end<W: FlashOps>(&mut self, work: &mut W) {
        if self.units > 0 {
            work.read(self.operation, self.cells, self.units, self.cause);
            self.units = 0;
        }
    }
}
