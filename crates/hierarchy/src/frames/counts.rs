//! Counters of the cache.

use nacre_kernel::state::Value;

/// Counters, in pages.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Counts {
    pub(super) read_hits: u64,
    pub(super) read_misses: u64,
    pub(super) read_merged: u64,
    pub(super) read_lost: u64,
    pub(super) write_hits: u64,
    pub(super) write_misses: u64,
    pub(super) write_allocations: u64,
    pub(super) fills: u64,
    pub(super) written_back: u64,
    /// Number of cached pages at the start of measurement.
    pub(super) held_before: u64,
    pub(super) evictions: u64,
    pub(super) pages_given_up: u64,
    pub(super) pages_trimmed: u64,
    pub(super) pages_power_failed: u64,
    pub(super) uncorrectable: u64,
    pub(super) lost_pages: u64,
}

impl Counts {
    /// Panics unless the number of cached pages is consistent. It must equal the number at the start of
    /// measurement, plus the pages that entered the cache, minus the pages that left it.
    pub(super) fn check_pages(&self, held: u64) {
        let came = self.fills + self.write_allocations;
        let left = self.evictions + self.pages_given_up + self.pages_trimmed + self.pages_power_failed;
        let before = self.held_before;
        assert_eq!(before + came, held + left, "{before} pages, {came} came, {held} are held: {self:?}");
    }
}
