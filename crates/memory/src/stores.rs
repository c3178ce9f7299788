//! The stores of a stack, one per device, either in memory or one after another in an image.

use nacre_crash::medium_faults::{FaultyPages, SharedFaults};
use nacre_image::{Geometry, Image, ImageStore};
use nacre_media::store::{self, Layout, Pages, Store};

/// Stores whose data is only in memory.
pub(crate) fn in_memory(layouts: &[(String, Layout)]) -> Vec<Box<dyn Pages>> {
    let memory = |layout: &Layout| store::Memory::new(layout.page_bytes as usize);
    layouts.iter().map(|(_, layout)| Box::new(memory(layout)) as Box<dyn Pages>).collect()
}

/// Geometry of an image that contains stores with all `layouts`.
pub(crate) fn geometry(layouts: &[(String, Layout)]) -> Geometry {
    let layouts = layouts.iter().map(|(_, layout)| layout);
    // Page sizes are powers of two, so the smallest divides the others.
    let page_bytes = layouts.clone().map(|layout| layout.page_bytes).min().unwrap_or(1);
    let in_pages = |layout: &Layout| u64::from(layout.page_bytes / page_bytes);
    let extents = layouts.clone().map(|layout| layout.pages_per_extent * in_pages(layout));
    let pages_per_extent = extents.min().unwrap_or(1);
    let pages = layouts.map(|layout| room(layout, page_bytes, pages_per_extent)).sum();
    Geometry { page_bytes, pages_per_extent, pages, raw_bytes: 0 }
}

/// Stores in `image`, which must have the geometry returned by [`geometry`]. `faults` are injected into their
/// operations.
pub(crate) fn in_image(
    layouts: &[(String, Layout)],
    image: &Image,
    faults: &SharedFaults,
) -> Vec<Box<dyn Pages>> {
    let Geometry { page_bytes, pages_per_extent, .. } = geometry(layouts);
    let mut first = 0;
    let mut part = |layout: &Layout| {
        let part = Part {
            store: image.store(),
            first,
            image_page: page_bytes as usize,
            page_bytes: layout.page_bytes as usize,
        };
        first += room(layout, page_bytes, pages_per_extent);
        part
    };
    let mut faulty = |layout: &Layout| FaultyPages::new(part(layout), layout.pages, faults.clone());
    layouts.iter().map(|(_, layout)| Box::new(faulty(layout)) as Box<dyn Pages>).collect()
}

/// Number of image pages that a store occupies, rounded up to whole extents.
fn room(layout: &Layout, page_bytes: u32, pages_per_extent: u64) -> u64 {
    (layout.pages * u64::from(layout.page_bytes / page_bytes)).next_multiple_of(pages_per_extent)
}

/// The pages of one device, each of which consists of one or more pages of the image.
struct Part {
    store: ImageStore,
    /// First page of the device in the image.
    first: u64,
    /// Size of an image page, in bytes.
    image_page: usize,
    /// Size of a device page, in bytes.
    page_bytes: usize,
}

impl Part {
    fn pages_per_page(&self) -> u64 {
        (self.page_bytes / self.image_page) as u64
    }

    fn place(&self, page: u64) -> u64 {
        self.first + page * self.pages_per_page()
    }
}

impl Store for Part {
    const CARRIES_BYTES: bool = true;

    fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool {
        let (mut at, mut is_programmed) = (0, false);
        while at < into.len() {
            let (page, offset) = (
                self.place(page) + ((offset + at) / self.image_page) as u64,
                (offset + at) % self.image_page,
            );
            let end = into.len().min(at + self.image_page - offset);
            is_programmed |= Store::read(&self.store, page, offset, &mut into[at..end]);
            at = end;
        }
        is_programmed
    }

    fn program(&mut self, page: u64, bytes: &[u8]) {
        let first = self.place(page);
        for (number, bytes) in bytes.chunks(self.image_page).enumerate() {
            Store::program(&mut self.store, first + number as u64, bytes);
        }
    }

    fn copy(&mut self, from: u64, to: u64) {
        let (from, to) = (self.place(from), self.place(to));
        for number in 0..self.pages_per_page() {
            Store::copy(&mut self.store, from + number, to + number);
        }
    }

    fn erase(&mut self, first: u64, count: u64) {
        let (first, count) = (self.place(first), count * self.pages_per_page());
        Store::erase(&mut self.store, first, count);
    }
}
