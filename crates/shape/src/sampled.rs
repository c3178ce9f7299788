//! The miss-ratio curve of a sample of the blocks, with its confidence interval.
//!
//! SHARDS (C. Waldspurger et al., Efficient MRC construction with SHARDS, FAST 2015): a block belongs to the
//! sample if its hash is below a threshold. All accesses to sampled blocks are tracked, and a stack distance
//! in the sample is the share R of the distance in the trace. A block is sampled with probability R, so each
//! miss of a sampled block counts as 1/R misses. All other accesses, whose total is known exactly, are hits.
//! (This is the paper's correction of the sample size, which matters if a few blocks are very hot.)
//!
//! Either the rate or the number of blocks is fixed. With a fixed number of blocks, the threshold is lowered
//! whenever the sample exceeds this number, blocks above the threshold are dropped, and earlier counts keep
//! their weights. The threshold is also lowered if requests are very long: on average, at most
//! [`PER_REQUEST`] blocks of a request are tracked.
//!
//! **Uncertainty.** Each of eight further bits of the same hash divides the sample into two halves, and each
//! half gives a curve at half the rate. The variance of an estimate from n blocks is v / n, that of its half
//! 2 v / n, and their covariance v / n. The difference between a half and the whole sample therefore also has
//! the variance v / n (P. McCarthy, Pseudo-replication: half samples, 1969). The root of the mean square of
//! the sixteen differences, times Student's t for eight degrees of freedom, is the 95 % half-width. Smaller
//! subsets would not work where the curve is steep, because an error of the distance moves the estimate along
//! the step. In a subset of 1/16 of the blocks, distances have four times the error. Such an error reaches
//! beyond the step, and the height of the step then limits the differences.

use crate::curve::{Curve, Hits};
use crate::distances::{Distances, Touched};
use crate::index::hash;
use nacre_kernel::{Op, Request};
use std::collections::BinaryHeap;

/// Number of divisions of the sample into two halves.
const CUTS: usize = 8;
/// Student's t for 95 %, two-sided, with one degree of freedom per division.
const STUDENT_T: f64 = 2.306;
/// Minimum number of blocks in a sample with useful results.
const BLOCKS_MIN: usize = 64;
/// Number of sampled blocks in a cache of the smallest size for which the curve is valid.
const SMALLEST: f64 = 10.0;

/// Maximum number of tracked block accesses per request, averaged over the requests so far, if the number
/// of blocks is limited. At the start, as many further accesses as the block limit are permitted. If more
/// accesses are tracked, half of the sample is dropped.
pub const PER_REQUEST: u64 = 1024;

/// Sampling rate, which is either fixed or limited by the number of sampled blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// A fixed fraction of all blocks, above 0 and at most 1.
    Share(f64),
    /// Maximum number of sampled blocks, at least 64.
    Blocks(u32),
}

/// Computes a miss-ratio curve from the accesses to a sample of the blocks.
#[derive(Clone, Debug)]
pub struct SampledCurve {
    block_bytes: u64,
    salt: u64,
    /// Largest hash of a block that belongs to the sample.
    threshold: u64,
    most: Option<u32>,
    /// Number of accesses that may still be tracked before the sample is halved.
    credit: u64,
    accesses: [u64; 2],
    whole: Sample,
    /// Both halves of each division, in adjacent elements.
    halves: Vec<Sample>,
    /// Tracked blocks, largest hash first. The heap is empty unless the number of blocks is limited.
    held: BinaryHeap<Held>,
}

/// A block of the sample: its hash, its volume, and its number in the volume.
type Held = (u64, u32, u64);

/// A miss-ratio curve with its uncertainty.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The curve of the whole sample.
    pub curve: Curve,
    /// Share of blocks that are tracked at the end.
    pub rate: f64,
    /// Number of blocks that are tracked at the end.
    pub blocks: u64,
    halves: Vec<Curve>,
}

impl Estimate {
    /// Returns the half-width of the 95 % confidence interval of the miss ratio that [`Curve::miss_ratio`]
    /// returns. Returns `None` if there is no miss ratio.
    pub fn half_width(&self, blocks: u64, op: Option<Op>) -> Option<f64> {
        if self.halves.is_empty() {
            return self.curve.miss_ratio(blocks, op).map(|_| 0.0);
        }
        // Distances are counts of sampled blocks, which are binomial with this standard error. If the curve
        // has a step within one standard error, all halves may be on the same side of it. The largest
        // half-width within one standard error is therefore used.
        let error = (blocks as f64 * (1.0 - self.rate) / self.rate).sqrt() as u64;
        let around = [blocks.saturating_sub(error).max(self.curve.smallest()), blocks, blocks + error];
        let widths: Option<Vec<f64>> = around.iter().map(|&blocks| self.half_width_at(blocks, op)).collect();
        widths?.into_iter().reduce(f64::max)
    }

    /// Returns the half-width at one size under the assumption that the distances are exact.
    fn half_width_at(&self, blocks: u64, op: Option<Op>) -> Option<f64> {
        let whole = self.curve.miss_ratio(blocks, op)?;
        let apart = |half: &Curve| half.miss_ratio(blocks, op).map(|ratio| (ratio - whole) * (ratio - whole));
        let squares: Option<f64> = self.halves.iter().map(apart).sum();
        Some(STUDENT_T * (squares? / self.halves.len() as f64).sqrt())
    }
}

impl SampledCurve {
    /// Creates an empty sample for blocks of `block_bytes` bytes, a power of two. `seed` determines the
    /// selection of blocks.
    pub fn new(block_bytes: u64, rate: Rate, seed: u64) -> SampledCurve {
        assert!(block_bytes.is_power_of_two(), "blocks of {block_bytes} B");
        let (threshold, most) = match rate {
            Rate::Share(share) => {
                assert!(share > 0.0 && share <= 1.0, "a share of {share}");
                ((share * (1u128 << 64) as f64) as u64, None)
            }
            Rate::Blocks(blocks) => {
                assert!(blocks as usize >= BLOCKS_MIN, "a sample of {blocks} blocks");
                (u64::MAX, Some(blocks))
            }
        };
        SampledCurve {
            block_bytes,
            salt: hash(0x5a17, seed),
            threshold,
            most,
            credit: most.map_or(u64::MAX, u64::from),
            accesses: [0; 2],
            whole: Sample::new(),
            halves: vec![Sample::new(); 2 * CUTS],
            held: BinaryHeap::new(),
        }
    }

    /// Like [`SampledCurve::new`], but without the halves that determine the uncertainty. Tracking then takes
    /// 1/9 of the work.
    pub(crate) fn without_bars(block_bytes: u64, rate: Rate, seed: u64) -> SampledCurve {
        SampledCurve { halves: Vec::new(), ..SampledCurve::new(block_bytes, rate, seed) }
    }

    /// Adds the requests of `batch`.
    pub fn add(&mut self, batch: &[Request]) {
        self.add_each(batch, |_, _, _, _| {});
    }

    /// Adds the requests of `batch`. For each tracked access, calls `act` with the request, the index of the
    /// block in the request, the stack distance of the block, and the share of tracked blocks.
    #[inline]
    pub(crate) fn add_each(&mut self, batch: &[Request], mut act: impl FnMut(&Request, u64, Touched, f64)) {
        for request in batch {
            if !matches!(request.op, Op::Read | Op::Write) {
                continue;
            }
            let is_write = request.op == Op::Write;
            let (first, count) = request.blocks(self.block_bytes);
            self.accesses[usize::from(is_write)] += count;
            self.credit = self.credit.saturating_add(PER_REQUEST);
            for block in first..first + count {
                let hashed = hash(request.volume, block ^ self.salt);
                if hashed <= self.threshold {
                    let rate = self.rate();
                    act(request, block - first, self.follow(request.volume, block, hashed, is_write), rate);
                }
            }
        }
    }

    /// Returns the current share of tracked blocks.
    pub fn rate(&self) -> f64 {
        if self.threshold == u64::MAX { 1.0 } else { self.threshold as f64 / (1u128 << 64) as f64 }
    }

    /// Returns the estimated curve of the accesses so far.
    pub fn estimate(&self) -> Estimate {
        let rate = self.rate();
        let smallest = if rate == 1.0 { 1 } else { libm::ceil(SMALLEST / rate) as u64 };
        let [reads, writes] = self.accesses.map(|count| count as f64);
        let accesses = Hits { reads, writes };
        let halves: &[Sample] = if rate == 1.0 { &[] } else { &self.halves };
        Estimate {
            curve: self.whole.curve(accesses, smallest),
            rate,
            blocks: self.whole.distances.blocks(),
            halves: halves.iter().map(|half| half.curve(accesses, smallest)).collect(),
        }
    }

    /// Returns a number that is greater than all block numbers.
    pub(crate) fn numbers(&self) -> u64 {
        self.whole.distances.numbers()
    }

    /// Returns whether block number `number` is still tracked.
    pub(crate) fn holds(&self, number: u32) -> bool {
        self.whole.distances.holds(number)
    }

    #[inline(never)]
    fn follow(&mut self, volume: u32, block: u64, hashed: u64, is_write: bool) -> Touched {
        let rate = self.rate();
        let whole = self.whole.follow(volume, block, rate, is_write);
        for half in halves_of(&mut self.halves, hashed) {
            half.follow(volume, block, rate / 2.0, is_write);
        }
        if let Some(most) = self.most {
            if whole.distance == 0 {
                self.held.push((hashed, volume, block));
            }
            if self.held.len() > most as usize {
                self.shrink();
            }
            self.credit -= 1;
            if self.credit == 0 {
                self.halve(most);
            }
        }
        whole
    }

    /// Drops the blocks with the largest hash, and lowers the threshold below this hash.
    fn shrink(&mut self) {
        let &(largest, ..) = self.held.peek().expect("a sample past its bound is not empty");
        while let Some(&(hashed, volume, block)) = self.held.peek()
            && hashed == largest
        {
            self.held.pop();
            self.whole.distances.remove(volume, block);
            for half in halves_of(&mut self.halves, hashed) {
                half.distances.remove(volume, block);
            }
        }
        self.threshold = largest - 1;
    }

    /// Drops half of the blocks after too many tracked accesses, and permits `most / 4` further accesses.
    #[cold]
    fn halve(&mut self, most: u32) {
        let stay = self.held.len() / 2;
        while self.held.len() > stay.max(BLOCKS_MIN) {
            self.shrink();
        }
        self.credit += u64::from(most / 4);
    }
}

/// Returns the halves that contain the block with the hash `hashed`, one per division.
fn halves_of(halves: &mut [Sample], hashed: u64) -> impl Iterator<Item = &mut Sample> {
    // The threshold compares the upper bits. These bits are far below any useful threshold.
    let sides = hashed >> 8;
    halves.chunks_exact_mut(2).enumerate().map(move |(cut, pair)| &mut pair[(sides >> cut) as usize & 1])
}

/// An LRU stack with a weighted access count per distance.
#[derive(Clone, Debug)]
struct Sample {
    distances: Distances,
    misses: Hits,
    /// Weighted number of accesses in each cell of distances.
    counts: Vec<Hits>,
}

impl Sample {
    fn new() -> Sample {
        Sample { distances: Distances::sparse(), misses: Hits::default(), counts: Vec::new() }
    }

    fn follow(&mut self, volume: u32, block: u64, rate: f64, is_write: bool) -> Touched {
        let mut touched = Touched { number: 0, distance: 0 };
        self.distances.touch(volume, block, 1, |found| touched = found);
        if touched.distance == 0 {
            *self.misses.of(is_write) += 1.0 / rate;
        } else {
            let distance = f64::from(touched.distance - 1) / rate + 1.0;
            let cell = cell(distance as u64);
            if cell >= self.counts.len() {
                self.counts.resize(cell + 1, Hits::default());
            }
            *self.counts[cell].of(is_write) += 1.0 / rate;
        }
        touched
    }

    /// Returns the curve, in which all accesses that are not estimated to miss are hits.
    fn curve(&self, accesses: Hits, smallest: u64) -> Curve {
        let mut all = self.misses;
        for count in &self.counts {
            all.reads += count.reads;
            all.writes += count.writes;
        }
        // The difference between the expected and the actual number of accesses in the sample counts as hits
        // at every size.
        let excess = Hits { reads: accesses.reads - all.reads, writes: accesses.writes - all.writes };
        let cells = self.counts.iter().enumerate().filter(|(_, count)| count.all() > 0.0);
        let steps = cells.map(|(cell, &count)| (end_of(cell), count));
        Curve::new(accesses, smallest, std::iter::once((0, excess)).chain(steps))
    }
}

/// Binary logarithm of the number of cells per doubling. Each distance below 512 has a separate cell, and
/// larger distances have 256 cells per doubling.
const CELL_BITS: u32 = 8;

fn cell(distance: u64) -> usize {
    let octave = (u64::BITS - distance.leading_zeros()).saturating_sub(CELL_BITS + 1);
    ((u64::from(octave) << CELL_BITS) + (distance >> octave)) as usize
}

/// Returns the largest distance of a cell.
fn end_of(cell: usize) -> u64 {
    let octave = ((cell as u64) >> CELL_BITS).saturating_sub(1);
    let inside = cell as u64 - (octave << CELL_BITS);
    ((inside + 1) << octave) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_follow_each_other_without_gaps() {
        let mut before = 0;
        for distance in 1..2_000_000u64 {
            let here = cell(distance);
            assert!(here == before || here == before + 1, "{distance}");
            assert!(end_of(here) >= distance && cell(end_of(here)) == here, "{distance}");
            assert!(end_of(here) - distance <= distance / 256, "{distance}");
            before = here;
        }
    }

    /// Checks that the number of tracked blocks is limited for thirty requests of 4 GiB, i.e. 31 million
    /// blocks, and that the result is correct.
    #[test]
    fn following_long_requests_is_bounded() {
        for same in [true, false] {
            let mut sampled = SampledCurve::new(4096, Rate::Blocks(4096), 1);
            let read = |number: u64| Request {
                arrival: nacre_kernel::Time::ZERO,
                address: if same { 0 } else { number << 32 },
                bytes: u32::MAX - 4095,
                volume: 0,
                op: Op::Read,
            };
            let mut followed = 0_u64;
            for number in 0..30 {
                sampled.add_each(&[read(number)], |_, _, _, _| followed += 1);
            }
            // The sample is halved until a request has at most its share: from 4,096 of 2^20 blocks to about
            // 1,024.
            assert!(followed <= 4096 + 30 * PER_REQUEST + 4 * 4096 / 4, "{followed} accesses");
            assert!(sampled.numbers() <= 4097, "{} numbers for 4,096 blocks", sampled.numbers());
            let blocks = f64::from((u32::MAX - 4095) / 4096) * if same { 1.0 } else { 30.0 };
            let estimate = sampled.estimate();
            let found = estimate.blocks as f64 / estimate.rate;
            assert!((found / blocks - 1.0).abs() < 0.15, "{found} of {blocks} blocks");
            let expected = if same { 1.0 / 30.0 } else { 1.0 };
            let misses = estimate.curve.miss_ratio(40_000_000, None).expect("it is large enough");
            assert!((misses / expected - 1.0).abs() < 0.15, "{misses}, {expected}");
        }
    }

    #[test]
    fn a_bounded_sample_keeps_its_bound_and_its_weights() {
        let mut sampled = SampledCurve::new(4096, Rate::Blocks(500), 1);
        let read = |block: u64| Request {
            arrival: nacre_kernel::Time::ZERO,
            address: block * 4096,
            bytes: 4096,
            volume: 0,
            op: Op::Read,
        };
        for round in 0..3 {
            let batch: Vec<Request> = (0..20_000).map(read).collect();
            sampled.add(&batch);
            assert!(sampled.held.len() <= 500, "round {round}");
        }
        let estimate = sampled.estimate();
        assert_eq!(estimate.blocks, sampled.held.len() as u64);
        let expected = 500.0 / 20_000.0;
        assert!((estimate.rate / expected - 1.0).abs() < 0.2, "{}", estimate.rate);
        // In a cycle of 20,000 blocks, no access hits below this size, and two of three rounds hit above it.
        assert!(estimate.curve.miss_ratio(15_000, None).unwrap() > 0.9);
        let above = estimate.curve.miss_ratio(25_000, None).unwrap();
        assert!((above - 1.0 / 3.0).abs() < 0.1, "{above}");
    }
}
