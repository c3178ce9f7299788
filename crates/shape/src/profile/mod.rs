//! All statistics of a trace that do not depend on absolute addresses, from one pass.
//!
//! Up to a limit, all blocks are tracked individually. Beyond the limit, only a sample is tracked, which a
//! hash selects (see [`crate::sampled`]), so that memory is bounded for any footprint. A tracked block takes
//! about 100 B of memory, and so does each of at most a million extents.

pub(crate) mod cells;
mod popularity;
mod requests;
mod rhythm;

pub use popularity::Popularity;
pub use requests::{Gaps, Runs, Sizes};
pub use rhythm::Timeline;

use crate::curve::Curve;
use crate::sampled::{Rate, SampledCurve};
use cells::Cells;
use nacre_kernel::{Op, Request, Time};
use popularity::Extents;
use requests::Requests;
use rhythm::Rhythm;
use serde::Serialize;

/// Default maximum number of tracked blocks.
pub const BLOCKS_FOLLOWED: u32 = 1 << 20;
/// Size of an extent in bytes. Tiers place data in units of this size.
pub const EXTENT_BYTES: u64 = 1 << 20;
/// Lengths of the time windows for working sets, in seconds.
const WINDOWS: [f64; 18] = [
    1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 60.0, 300.0, 600.0, 1800.0, 3600.0, 14_400.0, 43_200.0,
    86_400.0, 259_200.0, 604_800.0,
];
const PS_PER_S: f64 = 1e12;

/// Computes the statistics of a trace batch by batch.
#[derive(Clone, Debug)]
pub struct Profile {
    block_bytes: u64,
    blocks: SampledCurve,
    /// State of each tracked block, indexed by block number.
    followed: Vec<Block>,
    reuse: Cells,
    extents: Extents,
    requests: Requests,
    rhythm: Rhythm,
    last_arrival: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    latest: Time,
    accesses: [u32; 2],
}

/// Description of a trace. Tables are columns of equal length.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Size of a block, in bytes.
    pub block_bytes: u64,
    /// Size of an extent, in bytes.
    pub extent_bytes: u64,
    /// Share of blocks that are tracked for popularity, reuse, and misses. It is 1 unless there are too many
    /// blocks.
    pub sample_rate: f64,
    /// Time from the first request to the last, in seconds, or `None` for traces without times.
    pub duration_s: Option<f64>,
    /// Popularity of blocks.
    pub blocks: Popularity,
    /// Popularity of extents.
    pub extents: Popularity,
    /// Exponent of the Zipf distribution that fits the blocks best, or `None` if no Zipf distribution fits.
    pub zipf_theta: Option<f64>,
    /// Distribution of request sizes.
    pub sizes: Sizes,
    /// Lengths of sequential runs.
    pub runs: Runs,
    /// Miss ratio of an LRU cache as a function of its size.
    pub misses: Misses,
    /// Gaps between arrivals of reads and writes.
    pub gaps: Option<Gaps>,
    /// Distribution of the time between accesses to the same block.
    pub reuse: Option<Reuse>,
    /// Size of the distinct blocks accessed within a time window.
    pub working_set: Option<WorkingSet>,
    /// Timeline of requests, data, and footprint over the whole trace.
    pub timeline: Option<Timeline>,
    /// Timeline with one interval per hour from the first request, if the trace is longer than one hour.
    pub hours: Option<Timeline>,
    /// Timeline with one interval per day from the first request, if the trace is longer than one day.
    pub days: Option<Timeline>,
}

/// Miss ratio of an LRU cache as a function of its size. The curve is also the distribution of stack
/// distances: an access hits at a size if its stack distance is at most this size.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Misses {
    /// Cache sizes in bytes, ascending.
    pub bytes: Vec<u64>,
    /// Miss ratio of reads and writes together, for each size.
    pub all: Vec<f64>,
    /// Miss ratio of reads for each size, or zero if there are no reads.
    pub reads: Vec<f64>,
    /// Miss ratio of writes for each size, or zero if there are no writes.
    pub writes: Vec<f64>,
}

impl Misses {
    /// Creates the table for a curve of blocks of `block_bytes` bytes.
    pub fn of(curve: &Curve, block_bytes: u64) -> Misses {
        let sizes = curve.sizes();
        let column = |op| sizes.iter().map(|&size| curve.miss_ratio(size, op).unwrap_or(0.0)).collect();
        Misses {
            bytes: sizes.iter().map(|size| size * block_bytes).collect(),
            all: column(None),
            reads: column(Some(Op::Read)),
            writes: column(Some(Op::Write)),
        }
    }
}

/// Distribution of the time between accesses to the same block.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reuse {
    /// Share of accesses that are the first access to their block.
    pub first_share: f64,
    /// Time since the previous access to the block in seconds, ascending.
    pub time_s: Vec<f64>,
    /// Share of accesses whose time since the previous access to the block is at most each time. First
    /// accesses are excluded.
    pub share: Vec<f64>,
}

/// Size of the distinct blocks accessed within a time window, averaged over all windows (P. Denning, S.
/// Schwartz, Properties of the working-set model, CACM 15(3), 1972).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkingSet {
    /// Lengths of the window in seconds, ascending.
    pub window_s: Vec<f64>,
    /// Mean total size of the distinct blocks accessed within each window, in bytes.
    pub bytes: Vec<f64>,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::new(4096, BLOCKS_FOLLOWED)
    }
}

impl Profile {
    /// Creates an empty profile for blocks of `block_bytes` bytes (a power of two of at most 1 MiB). The
    /// profile tracks at most `followed` blocks.
    pub fn new(block_bytes: u64, followed: u32) -> Profile {
        assert!(block_bytes <= EXTENT_BYTES, "blocks larger than extents");
        Profile {
            block_bytes,
            blocks: SampledCurve::without_bars(block_bytes, Rate::Blocks(followed), 1),
            followed: Vec::new(),
            reuse: Cells::default(),
            extents: Extents::new(EXTENT_BYTES),
            requests: Requests::default(),
            rhythm: Rhythm::new(),
            last_arrival: Time::ZERO,
        }
    }

    /// Adds the requests of `batch`.
    pub fn add(&mut self, batch: &[Request]) {
        for request in batch {
            self.last_arrival = self.last_arrival.max(request.arrival);
            if matches!(request.op, Op::Read | Op::Write) {
                self.requests.arrive(request.arrival);
                self.requests.add(request);
                self.extents.add(request, self.block_bytes);
                self.rhythm.add(request);
            }
        }
        let (followed, reuse, rhythm) = (&mut self.followed, &mut self.reuse, &mut self.rhythm);
        self.blocks.add_each(batch, |request, _, touched, rate| {
            let number = touched.number as usize;
            if number >= followed.len() {
                followed.resize((number + 1).next_power_of_two(), Block::default());
            }
            let block = &mut followed[number];
            if touched.distance == 0 {
                // This number may have belonged to a block that is no longer tracked.
                *block = Block::default();
                rhythm.grow(request.arrival, 1.0 / rate);
            } else {
                reuse.add((request.arrival - block.latest).as_ps(), 1.0 / rate);
            }
            block.latest = request.arrival;
            let accesses = &mut block.accesses[usize::from(request.op == Op::Write)];
            *accesses = accesses.saturating_add(1);
        });
    }

    /// Returns the description of the trace. `has_times` states whether the trace has arrival times.
    pub fn describe(&self, has_times: bool) -> Description {
        let timed = has_times && self.last_arrival > Time::ZERO;
        let estimate = self.blocks.estimate();
        let held = || (0..).zip(&self.followed).filter(|(number, _)| self.is_held(*number));
        let counts = held().map(|(_, block)| block.accesses.map(u64::from)).collect();
        let blocks = Popularity::of(counts, estimate.rate);
        let ends: Vec<u64> = held().map(|(_, block)| (self.last_arrival - block.latest).as_ps()).collect();
        let (hours, days) = self.rhythm.hours_and_days(self.block_bytes);
        Description {
            block_bytes: self.block_bytes,
            extent_bytes: EXTENT_BYTES,
            sample_rate: estimate.rate,
            duration_s: timed.then(|| self.last_arrival.as_secs_f64()),
            zipf_theta: blocks.zipf_theta(),
            blocks,
            extents: self.extents.popularity(),
            sizes: self.requests.sizes(),
            runs: self.requests.runs(),
            misses: Misses::of(&estimate.curve, self.block_bytes),
            gaps: timed.then(|| self.requests.gaps()),
            reuse: timed.then(|| self.reuse(estimate.curve.accesses().all())),
            working_set: timed.then(|| self.working_set(&ends, estimate.rate)),
            timeline: timed.then(|| self.rhythm.timeline(self.block_bytes)),
            hours: (timed && hours.start_s.len() > 1).then_some(hours),
            days: (timed && days.start_s.len() > 1).then_some(days),
        }
    }

    fn is_held(&self, number: u32) -> bool {
        u64::from(number) < self.blocks.numbers() && self.blocks.holds(number)
    }

    fn reuse(&self, accesses: f64) -> Reuse {
        let again = self.reuse.count();
        let (time_s, share) =
            self.reuse.upto().map(|(ps, upto)| (ps as f64 / PS_PER_S, upto / again)).unzip();
        Reuse { first_share: (1.0 - again / accesses.max(1.0)).max(0.0), time_s, share }
    }

    /// Computes the working set. After each access, the block is in the working set for the length of the
    /// window, or until the next access to the block or the end of the trace, whichever comes first. `ends`
    /// contains the times from the last access of each block to the end of the trace.
    fn working_set(&self, ends: &[u64], rate: f64) -> WorkingSet {
        let duration = self.last_arrival.as_ps() as f64;
        let windows = WINDOWS.iter().copied().filter(|window| window * PS_PER_S <= duration);
        let windows: Vec<f64> = windows.chain([duration / PS_PER_S]).collect();
        let mut last = Cells::default();
        for &end in ends {
            last.add(end, 1.0 / rate);
        }
        let bytes = |&window_s: &f64| {
            let window = (window_s * PS_PER_S) as u64;
            let held = self.reuse.sum_bounded(window) + last.sum_bounded(window);
            held / duration * self.block_bytes as f64
        };
        WorkingSet { bytes: windows.iter().map(bytes).collect(), window_s: windows }
    }
}

#[cfg(test)]
mod tests;
