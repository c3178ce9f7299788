//! Unused pages in extents that are in use.

use super::{Current, Extent, Extents};

impl Current {
    /// Returns whether `page` is programmed in this slot.
    fn uses(&self, place: usize, page: u64) -> bool {
        self.programmed.has(page) && self.place_of(page) == place
    }
}

impl Extent {
    fn is_kept(&self, place: usize, page: u64) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.uses(place, page))
    }

    /// Returns the number of pages that only the last checkpoint uses.
    pub(super) fn old_pages(&self) -> u64 {
        let Some(kept) = &self.kept else { return 0 };
        let is_old = |&page: &u64| kept.programmed.has(page) && !self.now.uses(kept.place_of(page), page);
        (0..kept.programmed.span()).filter(is_old).count() as u64
    }
}

impl Extents {
    /// Returns the number of file bytes that only the last checkpoint uses. The next checkpoint frees them.
    pub(crate) fn freed_by_checkpoint(&self) -> u64 {
        let pages: u64 = self.extents.values().map(Extent::old_pages).sum();
        (self.old_pages + pages) * u64::from(self.geometry.page_bytes)
    }

    /// Returns runs of adjacent pages that neither the last checkpoint nor later changes use, each as offset
    /// and size. Their content is undefined until they are written.
    pub(crate) fn unused_pages(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (page_bytes, count) = (u64::from(self.geometry.page_bytes), self.geometry.pages_per_extent);
        let places = self.extents.values().flat_map(|extent| [(extent, 0), (extent, 1)]);
        let places = places.filter(|&(extent, place)| extent.offsets[place] != 0);
        places.flat_map(move |(extent, place)| {
            let is_used = move |&page: &u64| extent.now.uses(place, page) || extent.is_kept(place, page);
            let mut next = 0;
            std::iter::from_fn(move || {
                let first = (next..count).find(|page| !is_used(page))?;
                next = (first..count).find(is_used).unwrap_or(count);
                Some((extent.offsets[place] + first * page_bytes, (next - first) * page_bytes))
            })
        })
    }
}
