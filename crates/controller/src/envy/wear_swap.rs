//! Which two segments exchange their data so that all wear evenly.

use super::array::Array;
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// The places of the most and the least erased segments, where their erases differ by more than `gap`.
    ///
    /// A segment that was exchanged stands back, or the same two would be exchanged for ever: the worn one
    /// until it has been cleaned again, which shows that its new data is written to; the young one until it
    /// has caught up by `gap` erases. The paper does not say how eNVy avoids this.
    pub(super) fn uneven(&self, gap: u32) -> Option<(usize, usize)> {
        if gap == 0 {
            return None;
        }
        let since_swap = |place: usize| {
            let erases = self.places[place].erases;
            self.swapped_at[self.order[place] as usize].map_or(u32::MAX, |at| erases - at)
        };
        let erases = |place: &usize| self.places[*place].erases;
        let worn = (0..self.places.len()).filter(|&place| since_swap(place) >= 1).max_by_key(erases)?;
        let young = (0..self.places.len()).filter(|&place| since_swap(place) >= gap).min_by_key(erases)?;
        (erases(&worn) > erases(&young) + gap).then_some((worn, young))
    }

    /// The data of these two places has been exchanged.
    pub(super) fn swapped(&mut self, places: [u32; 2]) {
        self.programs.swaps += 1;
        for place in places {
            let segment = self.order[place as usize] as usize;
            self.swapped_at[segment] = Some(self.flash.blocks()[segment].erases);
        }
    }
}
