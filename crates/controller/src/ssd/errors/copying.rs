//! Wrong bits of what the drive itself reads to copy it.

use super::super::geometry::Cells;
use super::{Errors, Sensing};
use nacre_kernel::Time;

impl Errors {
    /// Unit `page`, which is `owner`'s, is read at `at` to be copied, of a superblock that was erased so often. Gives whether
    /// it is uncorrectable: where it is not rebuilt either it is lost, and its copy is none.
    pub(in super::super) fn copy(
        &mut self,
        page: u32,
        owner: u32,
        erases: u32,
        cells: Cells,
        at: Time,
    ) -> bool {
        if owner >= self.geometry.logical_units {
            return false;
        }
        let found = self.decode(page, erases, cells, at);
        self.copying.senses = self.copying.senses.max(found.senses);
        self.copying.decoding += found.decoding;
        found.is_lost && !self.is_lost((owner, 1))
    }

    /// How often the operation is sensed again whose units were copied, and what the decoder takes.
    pub(in super::super) fn take_copied(&mut self) -> Sensing {
        let sensing = std::mem::take(&mut self.copying);
        self.counts.retries += u64::from(sensing.senses);
        sensing
    }
}
