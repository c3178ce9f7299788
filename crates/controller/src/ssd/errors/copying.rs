//! Wrong bits of what the drive itself reads to copy it.

use super::super::geometry::Cells;
use super::{Errors, Sensing};
use nacre_kernel::Time;

impl Errors {
    /// Unit `page`, which is `owner`'s, is read at `at` to be copied, of a superblock that was erased so often. What is
    /// uncorrectable is lost: its copy is none.
    pub(in super::super) fn copy(&mut self, page: u32, owner: u32, erases: u32, cells: Cells, at: Time) {
        if owner >= self.geometry.logical_units {
            return;
        }
        let found = self.decode(page, erases, cells, at);
        if found.is_lost {
            self.lose(owner);
        }
        self.copying.senses = self.copying.senses.max(found.senses);
        self.copying.decoding += found.decoding;
    }

    /// How often the operation is sensed again whose units were copied, and what the decoder takes.
    pub(in super::super) fn take_copied(&mut self) -> (u32, Time) {
        let Sensing { senses, decoding, .. } = std::mem::take(&mut self.copying);
        self.counts.retries += u64::from(senses);
        (senses, decoding)
    }
}
