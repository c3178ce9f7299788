//! Popularity: concentration of accesses on a few blocks or extents (the items).

use crate::index::hash;
use nacre_kernel::{Op, Request};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Maximum number of tracked extents. When this number is exceeded, half of the extents, which a hash
/// selects, are dropped.
const EXTENTS_MAX: usize = 1 << 20;
/// Number of points of a curve per decade of ranks.
const POINTS: f64 = 16.0;
/// Minimum number of accesses to an item for a reliable rank.
const ACCESSES_MIN: f64 = 16.0;
/// Maximum accepted distance between a fitted Zipf curve and the curve of the trace.
const LAW_DISTANCE: f64 = 0.1;
/// Minimum number of decades of reliable ranks that a fit requires.
const DECADES_MIN: f64 = 1.0;

/// Share of the accesses that go to the hottest items, as a function of the number of these items. The curve
/// is the CDF of accesses over capacity. The columns have equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Popularity {
    /// Number of distinct items that were accessed, or an estimate if only a sample was tracked.
    pub count: f64,
    /// Numbers of hottest items as shares of `count`, ascending.
    pub hottest: Vec<f64>,
    /// Share of all accesses that go to the hottest items, for each entry of `hottest`.
    pub accesses: Vec<f64>,
    /// Share of all reads that go to the hottest items, for each entry of `hottest`.
    pub reads: Vec<f64>,
    /// Share of all writes that go to the hottest items, for each entry of `hottest`.
    pub writes: Vec<f64>,
    /// Number of accesses to the least popular of the hottest items, for each entry of `hottest`.
    pub last: Vec<f64>,
}

impl Popularity {
    /// Creates the curve from the reads and writes of each item. `rate` is the sampling rate.
    pub(super) fn of(mut counts: Vec<[u64; 2]>, rate: f64) -> Popularity {
        counts.sort_unstable_by_key(|[reads, writes]| std::cmp::Reverse(reads + writes));
        let total = counts.iter().fold([0, 0], |sum, count| [sum[0] + count[0], sum[1] + count[1]]);
        let mut popularity = Popularity { count: counts.len() as f64 / rate, ..Popularity::default() };
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let (mut sum, mut next) = ([0, 0], 1);
        for (place, count) in counts.iter().enumerate() {
            sum = [sum[0] + count[0], sum[1] + count[1]];
            let rank = place + 1;
            if rank == next || rank == counts.len() {
                popularity.hottest.push(rank as f64 / counts.len() as f64);
                popularity.accesses.push(share(sum[0] + sum[1], total[0] + total[1]));
                popularity.reads.push(share(sum[0], total[0]));
                popularity.writes.push(share(sum[1], total[1]));
                popularity.last.push((count[0] + count[1]) as f64);
                let factor = libm::pow(10.0, 1.0 / POINTS);
                next = (rank + 1).max((rank as f64 * factor) as usize);
            }
        }
        popularity
    }

    /// Returns the share of the accesses that go to the hottest items. `hottest` is the number of these items
    /// as a share of all items. The result is interpolated linearly.
    pub fn share(&self, hottest: f64) -> f64 {
        let after = self.hottest.partition_point(|&point| point < hottest);
        let at = |place: Option<usize>, column: &[f64]| place.map_or(0.0, |place| column[place]);
        let Some(&end) = self.hottest.get(after) else {
            return at(self.accesses.len().checked_sub(1), &self.accesses);
        };
        let before = after.checked_sub(1);
        let (x, y) = (at(before, &self.hottest), at(before, &self.accesses));
        y + (self.accesses[after] - y) * (hottest - x) / (end - x)
    }

    /// Returns the best-fitting Zipf exponent, i.e. the slope of accesses over ranks on logarithmic axes,
    /// with equal weight for each decade of ranks. Returns `None` if too few items have enough accesses, or
    /// if the fit is poor.
    pub fn zipf_theta(&self) -> Option<f64> {
        let ranks = self.hottest.iter().map(|hottest| hottest * self.count);
        let points: Vec<(f64, f64)> = ranks
            .zip(&self.last)
            .take_while(|&(_, &last)| last >= ACCESSES_MIN)
            .map(|(rank, &last)| (libm::log10(rank), libm::log10(last)))
            // The first ranks are more closely spaced than the points of a curve, and their random errors
            // matter most.
            .filter(|&(rank, _)| rank >= 1.0)
            .collect();
        if points.last()?.0 - points.first()?.0 < DECADES_MIN {
            return None;
        }
        let n = points.len() as f64;
        let [x, y] =
            [points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n];
        let (mut xx, mut xy) = (0.0, 0.0);
        for point in &points {
            xx += (point.0 - x) * (point.0 - x);
            xy += (point.0 - x) * (point.1 - y);
        }
        let theta = (-xy / xx).max(0.0);
        (self.distance_to_zipf(theta) <= LAW_DISTANCE).then_some(theta)
    }

    /// Returns the maximum distance between this curve and the curve of a Zipf distribution over the same
    /// number of items.
    fn distance_to_zipf(&self, theta: f64) -> f64 {
        // Returns the sum of rank^-theta up to a rank. The first term is exact. The others are an integral
        // from 1/2 before the second rank to 1/2 after the last rank.
        let sum = |rank: f64| {
            let [from, to] = [1.5, rank + 0.5];
            1.0 + if (theta - 1.0).abs() < 1e-9 {
                libm::log(to / from)
            } else {
                (libm::pow(to, 1.0 - theta) - libm::pow(from, 1.0 - theta)) / (1.0 - theta)
            }
        };
        let all = sum(self.count.max(1.0));
        let off = |(hottest, share): (&f64, &f64)| (sum((hottest * self.count).max(1.0)) / all - share).abs();
        self.hottest.iter().zip(&self.accesses).map(off).fold(0.0, f64::max)
    }
}

/// Access counts of all extents, or of a sample of them.
#[derive(Clone, Debug)]
pub(super) struct Extents {
    shift: u32,
    counts: FxHashMap<(u32, u64), [u64; 2]>,
    threshold: u64,
}

impl Extents {
    pub(super) fn new(extent_bytes: u64) -> Extents {
        Extents { shift: extent_bytes.trailing_zeros(), counts: FxHashMap::default(), threshold: u64::MAX }
    }

    /// Adds the blocks of a read or write to the counts of their extents.
    pub(super) fn add(&mut self, request: &Request, block_bytes: u64) {
        let is_write = usize::from(request.op == Op::Write);
        let (first, count) = request.blocks(block_bytes);
        let per_extent = self.shift - block_bytes.trailing_zeros();
        let (mut block, end) = (first, first + count);
        while block < end {
            let extent = block >> per_extent;
            let stop = end.min((extent + 1) << per_extent);
            if hash(request.volume, extent) <= self.threshold {
                self.counts.entry((request.volume, extent)).or_insert([0; 2])[is_write] += stop - block;
            }
            block = stop;
        }
        while self.counts.len() > EXTENTS_MAX {
            self.threshold /= 2;
            let threshold = self.threshold;
            self.counts.retain(|&(volume, extent), _| hash(volume, extent) <= threshold);
        }
    }

    #[expect(clippy::iter_over_hash_type, reason = "the counts are sorted before anybody sees them")]
    pub(super) fn popularity(&self) -> Popularity {
        let mut counts = Vec::with_capacity(self.counts.len());
        for count in self.counts.values() {
            counts.push(*count);
        }
        counts.sort_unstable();
        let rate =
            if self.threshold == u64::MAX { 1.0 } else { self.threshold as f64 / (1u128 << 64) as f64 };
        Popularity::of(counts, rate)
    }
}
