//! Selects two segments that exchange their data for wear leveling.

use super::array::{Array, Exchange};
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Returns the positions of the segments with the most and the fewest erases if these differ by more than
    /// `gap`.
    ///
    /// To avoid endless exchanges of the same two segments, a segment is not exchanged again until its erase
    /// count changes. The more worn segment must have been erased again, which shows that its new data is
    /// written. The less worn segment must have caught up by `gap` erases. The paper does not describe how
    /// eNVy avoids this problem.
    pub(super) fn uneven(&self, gap: u32) -> Option<(usize, usize)> {
        if gap == 0 {
            return None;
        }
        let erases = |place: &usize| self.places[*place].erases;
        let exchange = |place: usize| self.exchanges[self.order[place] as usize];
        let may_rest = |place: &usize| exchange(*place) != Exchange::Rests(erases(place));
        let may_rise = |place: &usize| match exchange(*place) {
            Exchange::Rises(at) => erases(place) - at >= gap,
            _ => true,
        };
        let worn = (0..self.places.len()).filter(may_rest).max_by_key(erases)?;
        let young = (0..self.places.len()).filter(may_rise).min_by_key(erases)?;
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
