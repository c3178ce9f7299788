//! Bit errors of the other members of a stripe from which a unit is rebuilt.

use super::{Errors, Sensing};
use crate::layout::geometry::Cells;
use crate::layout::stripes::Member;
use nacre_kernel::Time;
use nacre_kernel::state::Value;

/// Counters since measurement started.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Rebuilds {
    /// Number of units rebuilt from the other members of their stripe.
    units: u64,
    /// Number of pages read for successful and failed rebuilds. Their read retries are counted with all other
    /// retries.
    reads: u64,
}

impl Errors {
    /// Returns the result of a read at time `at` of `other`, a page of a stripe in a superblock with `erases`
    /// erases.
    pub(crate) fn decode_other(&mut self, other: &Member, erases: u32, cells: Cells, at: Time) -> Sensing {
        // Codewords of parity are numbered after the codewords of a data unit.
        let first = if other.is_parity { self.code.layout().codewords } else { 0 };
        self.decode_in((self.block_of_other(other, cells), other.page, first), erases, cells, at)
    }

    /// Counts a host read of `other` in this cell mode, with its read retries.
    pub(crate) fn count_read_of(&mut self, other: &Member, cells: Cells, again: u32) {
        let (superblock, _) = self.geometry.place_at(other.page);
        self.disturb(superblock, self.block_of_other(other, cells), 1 + again);
        self.count_rebuild_read(again);
    }

    /// Counts a page read for a rebuild, including its read retries.
    pub(crate) fn count_rebuild_read(&mut self, again: u32) {
        self.counts.retries += u64::from(again);
        if let Some(rebuilds) = &mut self.rebuilds {
            rebuilds.reads += 1;
        }
    }

    /// Counts a successful or failed rebuild after its stripe was read.
    pub(crate) fn count_rebuilt(&mut self, is_rebuilt: bool) {
        if let Some(rebuilds) = &mut self.rebuilds {
            rebuilds.units += u64::from(is_rebuilt);
        }
    }

    /// Number of rebuilt units and of reads for rebuilds; empty without parity.
    pub(crate) fn rebuild_counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counters = |of: &Rebuilds| [("rebuilt_units", of.units), ("rebuild_reads", of.reads)];
        self.rebuilds.as_ref().map(counters).into_iter().flatten()
    }

    fn block_of_other(&self, other: &Member, cells: Cells) -> usize {
        let (superblock, _) = self.geometry.place_at(other.page);
        let lane = self.geometry.lane_within(other.operation, other.within, cells);
        (superblock * self.geometry.blocks_per_superblock() + lane) as usize
    }
}
