//! Statistical tolerances for comparing simulated means with closed forms.

use nacre_kernel::{Random, Streams};

/// Number of independent runs for each estimate.
const RUNS: usize = 20;
/// Maximum deviation of an estimate in standard errors. With Student's t for 19 degrees of freedom, one in
/// 1,300 estimates deviates more by chance. Seeds are fixed, so a test that has passed cannot later fail by
/// chance.
const ERRORS_MOST: f64 = 4.0;

/// Panics unless the mean of `run` over independent runs equals `expected` within its statistical error, and
/// that error is at most the fraction `tolerance` of `expected`.
#[track_caller]
pub(super) fn assert_mean(
    what: &str,
    expected: f64,
    tolerance: f64,
    mut run: impl FnMut(&mut Random) -> f64,
) {
    let values: Vec<f64> =
        (0..RUNS).map(|seed| run(&mut Streams::new(seed as u64 + 1).stream(what))).collect();
    let count = RUNS as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let allowed = ERRORS_MOST * (squares / (count - 1.0) / count).sqrt();
    assert!(
        allowed <= tolerance * expected.abs(),
        "{what}: runs of this length tell the mean within {:.2} % only",
        100.0 * allowed / expected.abs()
    );
    // The addition allows for rounding to picoseconds when runs do not differ.
    let allowed = allowed + 1e-9 * expected.abs();
    assert!((mean - expected).abs() <= allowed, "{what}: {mean} +- {allowed}, expected {expected}");
}

/// Returns the mean of `values` without the first 10 %, during which the system fills.
pub(super) fn settled_mean(values: &[f64]) -> f64 {
    let settled = &values[values.len() / 10..];
    settled.iter().sum::<f64>() / settled.len() as f64
}
