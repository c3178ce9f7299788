//! Speed of miss-ratio curves: requests per second of a computation that covers all cache sizes, on streams
//! in memory.

use crate::report::{Report, Times, best_of};
use crate::streams::{REQUESTS, STREAMS, Stream, requests};
use nacre_kernel::Request;
use nacre_shape::{ExactCurve, Rate, SampledCurve};

/// Number of requests per batch.
const BATCH: usize = 8192;
/// Speed budgets of the exact curve in millions of requests per second, for blocks that fit into the
/// processor caches and for blocks that do not fit.
const EXACT: (f64, f64) = (14.0, 8.0);
/// Speed budget of the curve that is estimated from 1 % of the blocks, in millions of requests per second.
const SAMPLED: f64 = 60.0;
/// Maximum number of blocks in the bounded sample.
const BOUND: u32 = 64 << 10;

/// Measures, on every stream, the exact curve and the curves of two samples: 1 % of the blocks, and a bounded
/// number of blocks.
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
    // The Python package of libCacheSim does not compute curves. The comparison is with its simulation of one
    // LRU cache of one size.
    let rival = report.rival(&format!("lru/{}", stream.name)).map(|rate| ("libCacheSim, one size", rate));
    let name = format!("miss-ratio curve, {what}, {}", stream.name);
    report.line(&name, REQUESTS, seconds, budget, &rival.into_iter().collect::<Vec<_>>());
}

/// Computes the exact miss-ratio curve of `requests`. Returns its largest cache size.
pub(crate) fn exact(requests: &[Request]) -> u64 {
    let mut curve = ExactCurve::new(4096);
    requests.chunks(BATCH).for_each(|batch| curve.add(batch));
    curve.curve().largest()
}

/// Computes the miss-ratio curve of a sample of `requests`. Returns its largest cache size.
pub(crate) fn sampled(requests: &[Request], rate: Rate) -> u64 {
    let mut curve = SampledCurve::new(4096, rate, 1);
    requests.chunks(BATCH).for_each(|batch| curve.add(batch));
    curve.estimate().curve.largest()
}
