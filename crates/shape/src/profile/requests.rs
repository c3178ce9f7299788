//! Sizes of requests, sequential runs, and gaps between arrivals.

use super::cells::Cells;
use nacre_kernel::{Op, Request, Time};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Maximum number of distinct request sizes. Each further size counts as the next larger known size, or as
/// the largest size.
const SIZES_MAX: usize = 4096;
const PS_PER_S: f64 = 1e12;

/// Distribution of request sizes, in ascending order. The columns have equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// Request sizes in bytes.
    pub bytes: Vec<u32>,
    /// Number of reads of each size.
    pub reads: Vec<u64>,
    /// Number of writes of each size.
    pub writes: Vec<u64>,
}

/// Lengths of sequential runs. Each further request of a run starts at the end of the previous request on the
/// volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Runs {
    /// Share of reads and writes that continue a run.
    pub sequential_share: f64,
    /// Lengths of runs in requests, ascending.
    pub requests: Vec<u64>,
    /// Share of reads and writes in runs of at most each length.
    pub share: Vec<f64>,
}

/// Distribution of the gaps between arrivals.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gaps {
    /// Mean gap in seconds.
    pub mean_s: f64,
    /// Coefficient of variation, i.e. standard deviation divided by mean. It is 1 for Poisson arrivals.
    pub variation: f64,
    /// Gaps in seconds, ascending.
    pub gap_s: Vec<f64>,
    /// For each gap in `gap_s`, the share of gaps that are at most as long.
    pub share: Vec<f64>,
}

/// Counts of request sizes, sequential runs, and gaps between arrivals.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    sizes: FxHashMap<u32, [u64; 2]>,
    volumes: FxHashMap<u32, Run>,
    runs: Cells,
    sequential: u64,
    pub(super) count: u64,
    latest: Option<Time>,
    gaps: Cells,
    squares: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Run {
    end: u64,
    requests: u64,
}

impl Requests {
    /// Adds a read or write to the counts.
    pub(super) fn add(&mut self, request: &Request) {
        self.count += 1;
        let bytes = if self.sizes.len() < SIZES_MAX || self.sizes.contains_key(&request.bytes) {
            request.bytes
        } else {
            let known = self.sizes.keys().copied();
            known.min_by_key(|&size| (size < request.bytes, size.abs_diff(request.bytes))).unwrap_or(0)
        };
        self.sizes.entry(bytes).or_insert([0; 2])[usize::from(request.op == Op::Write)] += 1;
        let run = self.volumes.entry(request.volume).or_default();
        if run.requests > 0 && run.end == request.address {
            self.sequential += 1;
            run.requests += 1;
        } else {
            if run.requests > 0 {
                self.runs.add(run.requests, run.requests as f64);
            }
            run.requests = 1;
        }
        run.end = request.address + u64::from(request.bytes);
    }

    /// Adds the arrival of a read or write.
    pub(super) fn arrive(&mut self, arrival: Time) {
        if let Some(latest) = self.latest {
            let gap = (arrival - latest).as_ps();
            self.gaps.add(gap, 1.0);
            self.squares += gap as f64 * gap as f64;
        }
        self.latest = Some(arrival);
    }

    #[expect(clippy::iter_over_hash_type, reason = "the sizes are sorted before anybody sees them")]
    pub(super) fn sizes(&self) -> Sizes {
        let mut rows = Vec::with_capacity(self.sizes.len());
        for (&bytes, &counts) in &self.sizes {
            rows.push((bytes, counts));
        }
        rows.sort_unstable();
        Sizes {
            bytes: rows.iter().map(|row| row.0).collect(),
            reads: rows.iter().map(|row| row.1[0]).collect(),
            writes: rows.iter().map(|row| row.1[1]).collect(),
        }
    }

    #[expect(clippy::iter_over_hash_type, reason = "whole counts are added, in any order")]
    pub(super) fn runs(&self) -> Runs {
        let mut runs = self.runs.clone();
        for run in self.volumes.values() {
            runs.add(run.requests, run.requests as f64);
        }
        let all = self.count.max(1) as f64;
        let (requests, share) = runs.upto().map(|(requests, upto)| (requests, upto / all)).unzip();
        Runs { sequential_share: self.sequential as f64 / all, requests, share }
    }

    pub(super) fn gaps(&self) -> Gaps {
        let count = self.gaps.count();
        let mean = self.gaps.sum() / count.max(1.0);
        let variance = (self.squares / count.max(1.0) - mean * mean).max(0.0);
        let (gap_s, share) = self.gaps.upto().map(|(ps, upto)| (ps as f64 / PS_PER_S, upto / count)).unzip();
        let variation = if mean > 0.0 { variance.sqrt() / mean } else { 0.0 };
        Gaps { mean_s: mean / PS_PER_S, variation, gap_s, share }
    }
}
