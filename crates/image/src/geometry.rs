//! Number and size of the pages in an image, and the size of its erase blocks.

/// Geometry of the device's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Size of a page, in bytes.
    pub page_bytes: u32,
    /// Number of pages per extent. The pages of an extent are erased together and are adjacent in the file.
    pub pages_per_extent: u64,
    /// Number of pages of the whole medium.
    pub pages: u64,
    /// Number of raw bytes, if no device is modeled; otherwise 0.
    pub raw_bytes: u64,
}

impl Geometry {
    /// Creates the geometry of an image with `bytes` raw bytes and without a medium.
    pub fn raw(bytes: u64) -> Geometry {
        Geometry { page_bytes: 4096, pages_per_extent: 1, pages: 0, raw_bytes: bytes }
    }

    /// Returns the size of an extent in the file, in bytes.
    pub(crate) fn extent_bytes(&self) -> u64 {
        u64::from(self.page_bytes) * self.pages_per_extent
    }

    /// Returns the number of words in the bitmap of programmed pages of an extent.
    pub(crate) fn words(&self) -> usize {
        self.pages_per_extent.div_ceil(64) as usize
    }
}
