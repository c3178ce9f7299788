//! Number and size of pages in an image, and of their erase blocks.

/// The geometry of the device's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Size of a page, in bytes.
    pub page_bytes: u32,
    /// Number of pages per extent. These are erased together and are adjacent in the file.
    pub pages_per_extent: u64,
    /// Number of pages in the whole medium.
    pub pages: u64,
    /// Size in bytes of raw data by host address, if no device is modeled.
    pub raw_bytes: u64,
}

impl Geometry {
    /// The geometry of an image with `bytes` by host address and without a medium.
    pub fn raw(bytes: u64) -> Geometry {
        Geometry { page_bytes: 4096, pages_per_extent: 1, pages: 0, raw_bytes: bytes }
    }

    /// Size of an extent in the file, in bytes.
    pub(crate) fn extent_bytes(&self) -> u64 {
        u64::from(self.page_bytes) * self.pages_per_extent
    }

    /// Number of words in the bitmap of an extent's programmed pages.
    pub(crate) fn words(&self) -> usize {
        self.pages_per_extent.div_ceil(64) as usize
    }
}
