//! Miss-ratio curves: requests per second for all cache sizes at once, on streams in memory.

use crate::report::{Report, Times, best_of};
use crate::streams::{REQUESTS, STREAMS, Stream, requests};
use nacre_kernel::Request;
use nacre_shape::{ExactCurve, Rate, SampledCurve};

/// Requests per batch.
const BATCH: usize = 8192;
/// Budgets of the exact curve in millions of requests per second: blocks inside the processor's caches, and outside.
const EXACT: (f64, f64) = (14.0, 8.0);
/// Budget of a sample of one block in a hundred.
const SAMPLED: f64 = 60.0;
/// Blocks of the bounded sample.
const BOUND: u32 = 64 << 10;

/// Measures the exact curve and both samples on every stream.
pub(crate) fn measure(report: &Report) {
    for stream in STREAMS {
        let requests = requests(&stream.scenario(REQUESTS), REQUESTS);
        let (inside, outside) = EXACT;
        let budget = if stream.is_small { inside } else { outside };
        let seconds = best_of(|| exact(&requests));
        line(report, "exact", stream, seconds, Some(budget));
        let seconds = best_of(|| sampled(&requests, Rate::Share(0.01)));
        line(report, "1 % of blocks", stream, seconds, Some(SAMPLED));
        let seconds = best_of(|| sampled(&requests, Rate::Blocks(BOUND)));
        line(report, "64 Ki blocks", stream, seconds, None);
    }
}

fn line(report: &Report, what: &str, stream: Stream, seconds: Times, budget: Option<f64>) {
    // Its Python package has no curves: in the same time it simulates one LRU cache of one size.
    let rival = report.rival(&format!("lru/{}", stream.name)).map(|rate| ("libCacheSim, one size", rate));
    let name = format!("miss-ratio curve, {what}, {}", stream.name);
    report.line(&name, REQUESTS, seconds, budget, &rival.into_iter().collect::<Vec<_>>());
}

/// The exact curve of `requests`: its largest cache.
pub(crate) fn exact(requests: &[Request]) -> u64 {
    let mut curve = ExactCurve::new(4096);
    requests.chunks(BATCH).for_each(|batch| curve.add(batch));
    curve.curve().largest()
}

/// The largest cache of the curve of a sample of `requests`.
pub(crate) fn sampled(requests: &[Request], rate: Rate) -> u64 {
    let mut curve = SampledCurve::new(4096, rate, 1);
    requests.chunks(BATCH).for_each(|batch| curve.add(batch));
    curve.estimate().curve.largest()
}
