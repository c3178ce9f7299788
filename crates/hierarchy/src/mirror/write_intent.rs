//! The write-intent bitmap: regions in which members may differ after a power loss.

use nacre_kernel::state::{State, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// A region with a set bit.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Region {
    /// Number of writes in progress.
    writing: u32,
    /// Number of mirror writes that had completed when the last write of this region completed.
    written: u64,
}

/// The bitmap. Writes set bits, which are cleared when the writes are durable on all members.
#[derive(Clone, Debug, State)]
pub(super) struct WriteIntent {
    #[state(skip = "from the configuration")]
    region: u64,
    /// Whether a write is durable only after a flush.
    #[state(skip = "from the configuration")]
    needs_flush: bool,
    #[state(varies)]
    regions: BTreeMap<u64, Region>,
    /// Number of writes that have completed on all members.
    completed: u64,
}

impl WriteIntent {
    pub(super) fn new(region: u64, needs_flush: bool) -> WriteIntent {
        WriteIntent { region, needs_flush, regions: BTreeMap::new(), completed: 0 }
    }

    /// Whether a write is durable only after a flush.
    pub(super) fn needs_flush(&self) -> bool {
        self.needs_flush
    }

    fn numbers(&self, range: &Range<u64>) -> Range<u64> {
        range.start / self.region..range.end.div_ceil(self.region)
    }

    /// Records the start of a write of `range`.
    pub(super) fn begins(&mut self, range: &Range<u64>) {
        for number in self.numbers(range) {
            self.regions.entry(number).or_default().writing += 1;
        }
    }

    /// Records the end of a write of `range` on all members.
    pub(super) fn ends(&mut self, range: &Range<u64>) {
        self.completed += 1;
        for number in self.numbers(range) {
            let region = self.regions.get_mut(&number).expect("its bit is set");
            region.writing -= 1;
            region.written = self.completed;
            if region.writing == 0 && !self.needs_flush {
                self.regions.remove(&number);
            }
        }
    }

    /// Number of writes completed so far. A flush that is submitted now makes these writes durable.
    pub(super) fn completed(&self) -> u64 {
        self.completed
    }

    /// Records a flush that has completed on all members. It was submitted after `completed` writes had
    /// completed.
    pub(super) fn flushed(&mut self, completed: u64) {
        self.regions.retain(|_, region| region.writing > 0 || region.written > completed);
    }

    /// The regions whose bits are set. The last region ends at `capacity` at the latest.
    pub(super) fn set_regions(&self, capacity: u64) -> Vec<Range<u64>> {
        let size = self.region;
        let range = |number: &u64| number * size..((number + 1).saturating_mul(size)).min(capacity);
        self.regions.keys().map(range).collect()
    }

    /// Removes and returns the regions whose bits are set. The last region ends at `capacity` at the latest.
    pub(super) fn take(&mut self, capacity: u64) -> Vec<Range<u64>> {
        let regions = self.set_regions(capacity);
        self.regions.clear();
        regions
    }

    /// Clears all bits, because members can no longer differ.
    pub(super) fn clear(&mut self) {
        self.regions.values_mut().for_each(|region| region.written = 0);
        self.regions.retain(|_, region| region.writing > 0);
    }
}
