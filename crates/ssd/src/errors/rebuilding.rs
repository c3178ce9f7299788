//! Bit errors of the other members of a stripe from which a unit is rebuilt.

use super::{Counts, Errors, Sensing};
use crate::layout::geometry::Cells;
use crate::layout::members::Member;
use nacre_kernel::Time;

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
        self.counts.rebuild_reads += 1;
    }

    /// Counts a successful or failed rebuild after its stripe was read.
    pub(crate) fn count_rebuilt(&mut self, is_rebuilt: bool) {
        self.counts.rebuilt_units += u64::from(is_rebuilt);
    }

    /// Returns the counters of rebuilt units and of reads for rebuilds, or nothing without parity.
    pub(crate) fn rebuild_counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let Counts { rebuilt_units, rebuild_reads, .. } = self.counts;
        let counters = [("rebuilt_units", rebuilt_units), ("rebuild_reads", rebuild_reads)];
        self.geometry.stripes.map(|_| counters).into_iter().flatten()
    }

    fn block_of_other(&self, other: &Member, cells: Cells) -> usize {
        let (superblock, _) = self.geometry.place_at(other.page);
        let lane = self.geometry.lane_within(other.operation, other.within, cells);
        (superblock * self.geometry.blocks_per_superblock() + lane) as usize
    }
}
