//! Fit of a workload to a trace. The workload has the statistics of the trace, but not its addresses.
//!
//! For every operation and request size, one pass counts the frequency, the share of first accesses, and the
//! LRU stack distances. These counts become the classes of a `shaped` workload, and the arrivals become a
//! `rhythm`. The effects of sequential runs and of the growth of the footprint have no closed form. Trials
//! therefore select the value of `follow`, and whether the growth is modeled.

mod closeness;
mod workload;

pub use closeness::{Closeness, compare};

use crate::profile::cells::Cells;
use crate::profile::{BLOCKS_FOLLOWED, Description, Profile};
use crate::sampled::{Rate, SampledCurve};
use nacre_kernel::{Op, Request};
use rustc_hash::FxHashMap;
use workload::Settings;

/// Maximum number of request classes that are distinguished.
const KEYS_MAX: usize = 4096;
/// Approximate number of gaps between arrivals that contribute to their moving average.
const GAPS_AROUND: f64 = 500.0;
/// Number of histogram units per mean gap.
const GAP_UNIT: f64 = 1e6;
/// Maximum number of requests of a trial.
const TRIAL: u64 = 150_000;
/// Number of values of `follow` that are tried, first with and then without growth of the footprint.
const TRIALS: usize = 3;
/// Number of candidate rhythms that are compared in trials.
const RHYTHMS: usize = 3;

/// Returns the maximum number of requests that [`Fit::fit`] generates for a trace of `requests` reads and
/// writes.
pub fn generated_max(requests: u64) -> u64 {
    requests + requests.min(TRIAL) * (2 * TRIALS + RHYTHMS) as u64
}

/// Fits a workload to a trace that is added batch by batch.
pub struct Fit {
    block_bytes: u64,
    profile: Profile,
    stack: SampledCurve,
    classes: FxHashMap<Key, Counted>,
    /// Histogram of gaps between arrivals, relative to their moving average, in units of 1 / [`GAP_UNIT`].
    gaps: Cells,
    /// Histogram of gaps between arrivals, in picoseconds.
    plain_gaps: Cells,
    mean_gap: f64,
    /// Number of gaps between arrivals so far.
    gaps_seen: f64,
    latest: Option<nacre_kernel::Time>,
    growth: Growth,
    /// Number of requests whose first block is tracked.
    counted: u64,
}

/// Class of requests that have the same operation, size, and number of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    is_write: bool,
    /// Number of blocks that a request touches.
    blocks: u64,
    bytes: u32,
}

impl Key {
    /// Returns whether consecutive sequential requests of this class share a block.
    fn is_shared(&self, block_bytes: u64) -> bool {
        self.blocks > u64::from(self.bytes).div_ceil(block_bytes)
            && u64::from(self.bytes).is_multiple_of(block_bytes)
    }
}

/// Number of steps in which the growth of the footprint is recorded.
const GROWTH_STEPS: usize = 64;

/// Number of first accesses to blocks, as a function of the request number.
#[derive(Clone, Debug)]
struct Growth {
    /// Number of requests per step.
    width: u64,
    /// In each step, the number of block accesses, and the number of first accesses to a block.
    steps: Vec<[f64; 2]>,
}

impl Growth {
    fn add(&mut self, request: u64, is_new: bool, weight: f64) {
        while request / self.width >= GROWTH_STEPS as u64 {
            self.width *= 2;
            let pair = |pair: &[[f64; 2]]| [0, 1].map(|i| pair.iter().map(|step| step[i]).sum::<f64>());
            self.steps = self.steps.chunks(2).map(pair).collect();
        }
        let step = (request / self.width) as usize;
        if step >= self.steps.len() {
            self.steps.resize(step + 1, [0.0; 2]);
        }
        self.steps[step][0] += weight;
        self.steps[step][1] += if is_new { weight } else { 0.0 };
    }
}

impl Growth {
    /// Returns the odds of a first access in each step, relative to the odds over all steps. The list is
    /// empty if there are no first accesses, or nearly no other accesses.
    fn odds(&self) -> Vec<f64> {
        let odds = |all: f64, new: f64| new / (all - new).max(1.0);
        let whole = self.steps.iter().fold([0.0; 2], |sum, step| [sum[0] + step[0], sum[1] + step[1]]);
        let overall = odds(whole[0], whole[1]);
        // All, or nearly all, accesses are first accesses, so no adjustment is possible.
        if whole[1] == 0.0 || whole[0] - whole[1] < 0.02 * whole[0] {
            return Vec::new();
        }
        self.steps.iter().map(|&[all, new]| (odds(all, new) / overall).min(ODDS_MAX)).collect()
    }
}

/// Maximum factor by which odds are adjusted.
const ODDS_MAX: f64 = 1e4;

#[derive(Clone, Debug, Default)]
struct Counted {
    requests: u64,
    new: f64,
    distances: Cells,
}

/// A fitted workload and its distance from the trace.
pub struct Fitted {
    /// The table `[workload]` of a scenario, as TOML.
    pub text: String,
    /// Description of the trace.
    pub trace: Description,
    /// Description of the fitted workload.
    pub workload: Description,
    /// Distances between trace and workload, one per statistic.
    pub closeness: Vec<Closeness>,
}

impl Fit {
    /// Creates an empty fit for blocks of `block_bytes` bytes, a power of two.
    pub fn new(block_bytes: u64) -> Fit {
        Fit {
            block_bytes,
            profile: Profile::new(block_bytes, BLOCKS_FOLLOWED),
            stack: SampledCurve::without_bars(block_bytes, Rate::Blocks(BLOCKS_FOLLOWED), 1),
            classes: FxHashMap::default(),
            gaps: Cells::default(),
            plain_gaps: Cells::default(),
            mean_gap: 0.0,
            gaps_seen: 0.0,
            latest: None,
            growth: Growth { width: 1, steps: Vec::new() },
            counted: 0,
        }
    }

    /// Adds the requests of `batch`.
    pub fn add(&mut self, batch: &[Request]) {
        self.profile.add(batch);
        for request in batch.iter().filter(|request| matches!(request.op, Op::Read | Op::Write)) {
            if let Some(latest) = self.latest {
                let gap = (request.arrival - latest).as_ps() as f64;
                // Gaps are divided by their moving average, because the rhythm models the changes of the
                // rate.
                self.mean_gap += (gap - self.mean_gap) / GAPS_AROUND.min(self.gaps_seen + 1.0);
                self.gaps_seen += 1.0;
                self.plain_gaps.add(gap as u64, 1.0);
                if self.mean_gap > 0.0 {
                    self.gaps.add((gap / self.mean_gap * GAP_UNIT) as u64, 1.0);
                }
            }
            self.latest = Some(request.arrival);
            if let Some(class) = self.class(request) {
                class.requests += 1;
            }
        }
        let (classes, block_bytes) = (&mut self.classes, self.block_bytes);
        let (growth, counted) = (&mut self.growth, &mut self.counted);
        self.stack.add_each(batch, |request, place, touched, rate| {
            *counted += u64::from(place == 0);
            growth.add(*counted, touched.distance == 0, 1.0 / rate);
            let key = key(request, block_bytes);
            let Some(class) = classes.get_mut(&key) else { return };
            // A block that adjacent requests share does not determine the position of the request.
            if place == 0 && key.is_shared(block_bytes) {
                return;
            }
            if touched.distance == 0 {
                class.new += 1.0 / rate;
            } else {
                class.distances.add((f64::from(touched.distance - 1) / rate) as u64 + 1, 1.0 / rate);
            }
        });
    }

    fn class(&mut self, request: &Request) -> Option<&mut Counted> {
        let key = key(request, self.block_bytes);
        if self.classes.len() >= KEYS_MAX && !self.classes.contains_key(&key) {
            return None;
        }
        Some(self.classes.entry(key).or_default())
    }

    /// Fits a workload. Returns `None` if the trace has no reads or writes. `has_times` states whether the
    /// trace has arrival times. `generate` gets a workload as TOML and a maximum number of requests,
    /// generates the requests, and returns their description.
    ///
    /// Returns the errors of `generate`.
    pub fn fit<E>(
        &self,
        has_times: bool,
        mut generate: impl FnMut(&str, u64) -> Result<Description, E>,
    ) -> Result<Option<Fitted>, E> {
        let trace = self.profile.describe(has_times);
        let Some(mut settings) = Settings::of(self, &trace) else { return Ok(None) };
        let wanted = trace.runs.sequential_share;
        let (growth, follow) = (std::mem::take(&mut settings.growth), settings.follow);
        let mut best = (f64::INFINITY, Vec::new(), follow);
        // A trial that is shorter than the trace has different misses, so only the runs are compared.
        let is_whole = settings.requests <= TRIAL;
        for growth in if is_whole { vec![growth, Vec::new()] } else { vec![growth] } {
            settings.growth.clone_from(&growth);
            settings.follow = follow;
            let (mut low, mut high) = (0.0, 0.999);
            for _ in 0..TRIALS {
                let trial = generate(&settings.text(), TRIAL)?;
                let off = if is_whole {
                    apart(&trace, &trial)
                } else {
                    (trial.runs.sequential_share - wanted).abs()
                };
                if off < best.0 {
                    best = (off, growth.clone(), settings.follow);
                }
                let end = if trial.runs.sequential_share < wanted { &mut low } else { &mut high };
                *end = settings.follow;
                settings.follow = f64::midpoint(low, high);
            }
        }
        (settings.growth, settings.follow) = (best.1, best.2);
        choose_rhythm(&mut settings, &trace, &mut generate)?;
        let text = settings.text();
        let workload = generate(&text, u64::MAX)?;
        let closeness = compare(&trace, &workload);
        Ok(Some(Fitted { text, trace, workload, closeness }))
    }
}

/// Selects the candidate rhythm with the smallest distance from the trace.
fn choose_rhythm<E>(
    settings: &mut Settings,
    trace: &Description,
    generate: &mut impl FnMut(&str, u64) -> Result<Description, E>,
) -> Result<(), E> {
    let mut best = (f64::INFINITY, 0);
    for rhythm in 0..settings.rhythms.len() {
        settings.rhythm = rhythm;
        let trial = generate(&settings.text(), TRIAL)?;
        let found =
            compare(trace, &trial).into_iter().filter(|found| closeness::OF_TIME.contains(&found.curve));
        let off = found.map(|found| found.distance).sum();
        if off < best.0 {
            best = (off, rhythm);
        }
    }
    settings.rhythm = best.1;
    Ok(())
}

/// Returns the distance between a trial and the trace in the statistics that depend on the settings selected
/// by trials.
fn apart(trace: &Description, trial: &Description) -> f64 {
    let judged = ["misses of reads", "misses of writes", "sequential share"];
    let found = compare(trace, trial).into_iter().filter(|found| judged.contains(&found.curve));
    found.map(|found| found.distance).sum()
}

fn key(request: &Request, block_bytes: u64) -> Key {
    Key { is_write: request.op == Op::Write, blocks: request.blocks(block_bytes).1, bytes: request.bytes }
}
