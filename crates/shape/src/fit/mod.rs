//! A workload with the shape of a trace and none of its addresses.
//!
//! One pass counts, for every operation and size of request, how often it comes, how much of it is new, and how
//! deep in the LRU stack the rest lies. Those become the classes of a `shaped` workload; arrivals become a
//! `rhythm`. How sequential the workload comes out depends on more than one setting, so `follow` is found by
//! trying.

mod closeness;
mod workload;

pub use closeness::{Closeness, compare};

use crate::profile::cells::Cells;
use crate::profile::{BLOCKS_FOLLOWED, Description, Profile};
use crate::sampled::{Rate, SampledCurve};
use nacre_kernel::{Op, Request};
use rustc_hash::FxHashMap;
use workload::Settings;

/// Sizes of requests that are told apart while counting.
const KEYS_MAX: usize = 4096;
/// Requests of a trial.
const TRIAL: u64 = 200_000;
/// Trials for `follow`.
const TRIALS: usize = 4;

/// Takes a trace in, batch by batch.
pub struct Fit {
    block_bytes: u64,
    profile: Profile,
    stack: SampledCurve,
    classes: FxHashMap<Key, Counted>,
    gaps: Cells,
    latest: Option<nacre_kernel::Time>,
}

/// Requests that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    is_write: bool,
    /// Blocks that one touches.
    blocks: u64,
    bytes: u32,
}

#[derive(Clone, Debug, Default)]
struct Counted {
    requests: u64,
    new: f64,
    distances: Cells,
}

/// A workload and how well it fits.
pub struct Fitted {
    /// The table `[workload]` of a scenario, as TOML.
    pub text: String,
    /// What the trace is like.
    pub trace: Description,
    /// What the workload is like.
    pub workload: Description,
    /// How far one is from the other, curve by curve.
    pub closeness: Vec<Closeness>,
}

impl Fit {
    /// Nothing yet, in blocks of `block_bytes`, a power of two.
    pub fn new(block_bytes: u64) -> Fit {
        Fit {
            block_bytes,
            profile: Profile::new(block_bytes, BLOCKS_FOLLOWED),
            stack: SampledCurve::without_bars(block_bytes, Rate::Blocks(BLOCKS_FOLLOWED), 1),
            classes: FxHashMap::default(),
            gaps: Cells::default(),
            latest: None,
        }
    }

    /// Takes `batch` in.
    pub fn add(&mut self, batch: &[Request]) {
        self.profile.add(batch);
        for request in batch.iter().filter(|request| matches!(request.op, Op::Read | Op::Write)) {
            if let Some(latest) = self.latest {
                self.gaps.add((request.arrival - latest).as_ps(), 1.0);
            }
            self.latest = Some(request.arrival);
            if let Some(class) = self.class(request) {
                class.requests += 1;
            }
        }
        let (classes, block_bytes) = (&mut self.classes, self.block_bytes);
        self.stack.add_each(batch, |request, touched, rate| {
            let Some(class) = classes.get_mut(&key(request, block_bytes)) else { return };
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

    /// The workload. `has_times` says whether arrivals mean anything; `generate` runs a workload given as TOML,
    /// so many of its requests at most, and describes what came out.
    ///
    /// Errors are those of `generate`.
    pub fn fit<E>(
        &self,
        has_times: bool,
        mut generate: impl FnMut(&str, u64) -> Result<Description, E>,
    ) -> Result<Option<Fitted>, E> {
        let trace = self.profile.describe(has_times);
        let Some(mut settings) = Settings::of(self, &trace) else { return Ok(None) };
        let wanted = trace.runs.sequential_share;
        let (mut low, mut high) = (0.0, 0.999);
        let mut best = (f64::INFINITY, settings.follow);
        for _ in 0..if wanted > 0.0 { TRIALS } else { 0 } {
            let found = generate(&settings.text(), TRIAL)?.runs.sequential_share;
            if (found - wanted).abs() < best.0 {
                best = ((found - wanted).abs(), settings.follow);
            }
            let end = if found < wanted { &mut low } else { &mut high };
            *end = settings.follow;
            settings.follow = f64::midpoint(low, high);
        }
        settings.follow = best.1;
        let text = settings.text();
        let workload = generate(&text, u64::MAX)?;
        let closeness = compare(&trace, &workload);
        Ok(Some(Fitted { text, trace, workload, closeness }))
    }
}

fn key(request: &Request, block_bytes: u64) -> Key {
    Key { is_write: request.op == Op::Write, blocks: request.blocks(block_bytes).1, bytes: request.bytes }
}
