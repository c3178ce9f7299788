//! Restarts a relocation that has run out of erased pages after power losses.
//!
//! Every power loss wastes the page that was being programmed. A segment that receives the pages of a full
//! segment, e.g. in an exchange, may therefore run out of pages. The data still exists, because the source is
//! erased last. If no other segment has an erased page either, the table maps to the source again, and the
//! destination is erased before the pages are copied again.

use super::array::Array;
use super::relocation::Relocation;
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Whether pages of `relocation` must still be copied. If this is true and [`Array::next_live`] returns
    /// `None`, there are no erased pages.
    pub(super) fn lacks_pages(&self, relocation: &Relocation) -> bool {
        self.find_live(relocation.from, relocation.cursor).is_some()
    }

    /// Reverts all copies of `relocation`. Returns the segment at the position of `relocation`, which then
    /// has no valid page.
    pub(super) fn undo(&mut self, relocation: &mut Relocation) -> u32 {
        let to = self.order[relocation.position as usize];
        // Pages that moved from the end of the segment to neighbors stay there.
        relocation.to_lower = relocation.to_lower.min(self.live[relocation.from as usize]);
        let mut left = 0;
        for index in 0..self.geometry.pages_per_segment {
            let page = (to << self.geometry.page_shift()) + index;
            let Some(lpn) = self.owner(page) else { continue };
            let before = self.left_page(relocation.from, left);
            left = before + 1;
            self.return_to((relocation.from << self.geometry.page_shift()) + before, page, lpn);
            relocation.copied -= 1;
        }
        relocation.cursor = 0;
        to
    }

    /// Index of the first invalid page of `segment` at or after `index`. Each copy from `segment` made one of
    /// its pages invalid. A copy may be reverted to any of these pages if the order of the pages is
    /// preserved.
    fn left_page(&self, segment: u32, index: u32) -> u32 {
        let first = segment << self.geometry.page_shift();
        let programmed = self.flash.blocks()[segment as usize].programmed;
        let left = (index..programmed).find(|&index| self.owner(first + index).is_none());
        left.expect("every page that was copied left one")
    }

    /// Makes page `before` the valid version of `lpn` again, and invalidates the copy in `page`.
    fn return_to(&mut self, before: u32, page: u32, lpn: u32) {
        // The cells already have the data, except for the reverted portion of a write.
        self.flash.fill_from(before, page);
        self.disown(page);
        let segment = self.flash.block_of(before);
        self.own(segment, before, lpn);
        self.live[segment as usize] += 1;
        self.point_to(lpn, page, before);
    }

    /// Records the erase of the segment at `position`, so that copying restarts.
    pub(super) fn erased_in(&mut self, position: u32) {
        let segment = self.order[position as usize];
        let state = &mut self.positions[position as usize];
        (state.programmed, state.erases) = (0, self.flash.blocks()[segment as usize].erases);
    }
}
