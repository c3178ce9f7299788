//! Sizes of an array as integers.

use super::config::Config;

/// Sizes from a valid configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    /// Number of segments, including spares. A segment is an erase block across all chips of a bank.
    pub(super) segments: u32,
    /// Number of spare (erased) segments.
    pub(super) spare_segments: u32,
    pub(super) pages_per_segment: u32,
    pub(super) page_bytes: u32,
    /// Number of pages visible to the host.
    pub(super) logical_pages: u64,
    /// Number of segments per bank. The segments of a bank share chips, which perform only one operation at a
    /// time.
    pub(super) segments_per_bank: u32,
}

impl Geometry {
    /// Sizes for `config`, which must be valid.
    pub(super) fn of(config: &Config) -> Geometry {
        let pages_per_segment = config.segment.0 / config.page.0;
        let data_pages = u64::from(config.segments - config.spare_segments) * pages_per_segment;
        Geometry {
            segments: config.segments,
            spare_segments: config.spare_segments,
            pages_per_segment: pages_per_segment as u32,
            page_bytes: config.page.0 as u32,
            logical_pages: (data_pages as f64 * config.utilization.0) as u64,
            segments_per_bank: config.segments.div_ceil(config.banks),
        }
    }

    /// Number of pages in all segments.
    pub(super) fn flash_pages(&self) -> u64 {
        u64::from(self.segments) * u64::from(self.pages_per_segment)
    }

    /// Number of pages in all segments except spares.
    pub(super) fn data_pages(&self) -> u64 {
        u64::from(self.segments - self.spare_segments) * u64::from(self.pages_per_segment)
    }

    /// Capacity visible to the host, in bytes.
    pub(super) fn capacity(&self) -> u64 {
        self.logical_pages * u64::from(self.page_bytes)
    }

    pub(super) fn page_shift(&self) -> u32 {
        self.pages_per_segment.trailing_zeros()
    }

    /// Bank of `segment`.
    #[inline]
    pub(super) fn bank_of(&self, segment: u32) -> u32 {
        segment / self.segments_per_bank
    }
}
