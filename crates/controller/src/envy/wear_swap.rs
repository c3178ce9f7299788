//! Selects two segments that exchange their data for wear leveling.

use super::array::{Array, Exchange};
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Returns the positions of the segments with the most and the fewest erases if their erase counts
    /// differ by more than `gap`.
    ///
    /// To avoid endless exchanges of the same two segments, a segment is not exchanged again until its erase
    /// count changes. The more worn segment must have been erased again, which shows that its new data is
    /// written. The less worn segment must have caught up by `gap` erases. The paper does not describe how
    /// eNVy avoids this problem.
    pub(super) fn uneven(&self, gap: u32) -> Option<(usize, usize)> {
        if gap == 0 {
            return None;
        }
        let erases = |position: &usize| self.positions[*position].erases;
        let exchange = |position: usize| self.exchanges[self.order[position] as usize];
        let may_rest = |position: &usize| exchange(*position) != Exchange::Rests(erases(position));
        let may_rise = |position: &usize| match exchange(*position) {
            Exchange::Rises(at) => erases(position) - at >= gap,
            _ => true,
        };
        let worn = (0..self.positions.len()).filter(may_rest).max_by_key(erases)?;
        let young = (0..self.positions.len()).filter(may_rise).min_by_key(erases)?;
        (erases(&worn) > erases(&young) + gap).then_some((worn, young))
    }

    /// Records the exchange of the data at positions `worn` and `young`.
    pub(super) fn exchanged(&mut self, [worn, young]: [u32; 2]) {
        self.programs.swaps += 1;
        let (risen, resting) = (self.order[worn as usize] as usize, self.order[young as usize] as usize);
        self.exchanges[risen] = Exchange::Rises(self.flash.blocks()[risen].erases);
        self.exchanges[resting] = Exchange::Rests(self.flash.blocks()[resting].erases);
    }
}
