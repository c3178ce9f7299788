//! Hits and misses of an LRU cache of any size.

use nacre_kernel::Op;

/// Numbers of block reads and block writes that hit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hits {
    /// Number of block reads that hit.
    pub reads: f64,
    /// Number of block writes that hit.
    pub writes: f64,
}

impl Hits {
    /// Returns the total number of hits, of reads and writes together.
    pub fn all(self) -> f64 {
        self.reads + self.writes
    }

    /// Returns a mutable reference to the number of write hits if `is_write` is true, and of the number of
    /// read hits otherwise.
    pub(crate) fn of(&mut self, is_write: bool) -> &mut f64 {
        if is_write { &mut self.writes } else { &mut self.reads }
    }
}

/// Hits of an LRU cache as a function of its size. The curve never decreases.
///
/// Counts are integers if all accesses were tracked, and estimates if only a sample was tracked.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    accesses: Hits,
    /// Cache sizes in blocks at which the number of hits changes, in ascending order. The number of hits in
    /// an entry applies to all sizes below the size of the next entry.
    steps: Vec<(u64, Hits)>,
    /// Minimum size in blocks for which the curve is valid.
    smallest: u64,
}

impl Curve {
    /// Creates the curve of `accesses` accesses. `added` contains sizes in ascending order, each with the
    /// additional hits at this size.
    pub(crate) fn new(accesses: Hits, smallest: u64, added: impl Iterator<Item = (u64, Hits)>) -> Curve {
        let mut sum = Hits::default();
        let step = |(size, more): (u64, Hits)| {
            sum = Hits { reads: sum.reads + more.reads, writes: sum.writes + more.writes };
            (size, sum)
        };
        Curve { accesses, steps: added.map(step).collect(), smallest }
    }

    /// Returns the numbers of blocks read and written, including misses.
    pub fn accesses(&self) -> Hits {
        self.accesses
    }

    /// Returns the minimum size in blocks for which the curve is valid.
    pub fn smallest(&self) -> u64 {
        self.smallest
    }

    /// Returns the size in blocks above which the number of hits no longer increases.
    pub fn largest(&self) -> u64 {
        self.steps.last().map_or(1, |&(size, _)| size)
    }

    /// Returns the hits of a cache of `blocks` blocks.
    pub fn hits(&self, blocks: u64) -> Hits {
        let steps = self.steps.partition_point(|&(size, _)| size <= blocks);
        let Some(last) = steps.checked_sub(1) else { return Hits::default() };
        let Hits { reads, writes } = self.steps[last].1;
        // An estimate may exceed the total, so it is limited.
        Hits { reads: reads.clamp(0.0, self.accesses.reads), writes: writes.clamp(0.0, self.accesses.writes) }
    }

    /// Returns the miss ratio of a cache of `blocks` blocks for `op`, or for reads and writes together if
    /// `op` is `None`. Returns `None` if there are no such accesses.
    pub fn miss_ratio(&self, blocks: u64, op: Option<Op>) -> Option<f64> {
        let hits = self.hits(blocks);
        let (hits, accesses) = match op {
            Some(Op::Read) => (hits.reads, self.accesses.reads),
            Some(Op::Write) => (hits.writes, self.accesses.writes),
            _ => (hits.all(), self.accesses.all()),
        };
        (accesses > 0.0).then(|| 1.0 - hits / accesses)
    }

    /// Returns every cache size in blocks at which the number of hits changes. The number of hits in an entry
    /// applies to all sizes below the size of the next entry.
    pub fn steps(&self) -> &[(u64, Hits)] {
        &self.steps
    }

    /// Returns the sizes in blocks at which to plot the curve: every size up to 16, and then 16 sizes per
    /// doubling, within the valid range.
    pub fn sizes(&self) -> Vec<u64> {
        let (first, last) = (self.smallest, self.largest().max(self.smallest));
        let mut sizes = vec![first];
        loop {
            let size = *sizes.last().expect("never empty");
            if size >= last {
                return sizes;
            }
            let step = 1u64 << (u64::BITS - size.leading_zeros()).saturating_sub(5);
            sizes.push((size / step * step + step).min(last));
        }
    }
}
