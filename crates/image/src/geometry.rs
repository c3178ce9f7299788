//! Number and size of pages in an image, and their erase blocks.

/// The form of the device's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Pages per extent, which are erased together and adjacent in the file.
    pub pages_per_extent: u64,
    /// Pages of the whole medium.
    pub pages: u64,
    /// Size of raw data by host address, if no device is modeled.
    pub raw_bytes: u64,
}

impl Geometry {
    /// An image of `bytes` by host address, without a medium.
    pub fn raw(bytes: u64) -> Geometry {
        Geometry { page_bytes: 4096, pages_per_extent: 1, pages: 0, raw_bytes: bytes }
    }

    /// Bytes of an extent in the file.
    pub(crate) fn extent_bytes(&self) -> u64 {
        u64::from(self.page_bytes) * self.pages_per_extent
    }

    /// Words of the bitmap of an extent's programmed pages.
    pub(crate) fn words(&self) -> usize {
        self.pages_per_extent.div_ceil(64) as usize
    }
}
