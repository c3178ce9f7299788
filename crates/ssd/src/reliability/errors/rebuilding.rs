//! Bit errors of the others of a stripe, from which a unit is rebuilt.

use super::{Errors, Sensing};
use crate::layout::geometry::Cells;
use crate::layout::members::Member;
use nacre_kernel::Time;
use nacre_kernel::state::Value;

/// What was done since measuring began.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Rebuilds {
    /// Times that a unit was rebuilt from the others of its stripe.
    units: u64,
    /// Pages that were read for that, or in vain; how often they were sensed again is counted with all others.
    reads: u64,
}

impl Errors {
    /// What reading `other` comes to at `at`, which belongs to a stripe of a superblock that was erased so often.
    pub(crate) fn decode_other(&mut self, other: &Member, erases: u32, cells: Cells, at: Time) -> Sensing {
        // Parity has codewords behind those of a unit of its stripe.
        let first = if other.is_parity { self.code.layout().codewords } else { 0 };
        self.decode_in((self.block_of_other(other), other.page, first), erases, cells, at)
    }

    /// The host waited for `other` to be read, and so many times again.
    pub(crate) fn count_read_of(&mut self, other: &Member, again: u32) {
        let superblock = other.page >> self.geometry.shift;
        self.disturb(superblock, self.block_of_other(other), 1 + again);
        self.count_rebuild_read(again);
    }

    /// A page was read to rebuild a unit, and so many times again.
    pub(crate) fn count_rebuild_read(&mut self, again: u32) {
        self.counts.retries += u64::from(again);
        if let Some(rebuilds) = &mut self.rebuilds.0 {
            rebuilds.reads += 1;
        }
    }

    /// All that is left of a stripe was read, and is enough or not.
    pub(crate) fn count_rebuilt(&mut self, is_rebuilt: bool) {
        if let Some(rebuilds) = &mut self.rebuilds.0 {
            rebuilds.units += u64::from(is_rebuilt);
        }
    }

    /// Units that were rebuilt, and reads for that; nothing where there is no parity.
    pub(crate) fn rebuild_counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counters = |of: &Rebuilds| [("rebuilt_units", of.units), ("rebuild_reads", of.reads)];
        self.rebuilds.0.as_deref().map(counters).into_iter().flatten()
    }

    fn block_of_other(&self, other: &Member) -> usize {
        let superblock = other.page >> self.geometry.shift;
        let lane = self.geometry.lane_within(other.operation, other.within);
        (superblock * self.geometry.blocks_per_superblock() + lane) as usize
    }
}
