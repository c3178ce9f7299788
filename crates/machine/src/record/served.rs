//! A latency distribution in a few numbers.

use super::Latency;
use crate::meter::OpMeter;
use nacre_kernel::Time;

/// What `meter` measured; none without a request.
pub(super) fn latency(meter: &OpMeter, half_width: Option<f64>) -> Option<Latency> {
    let histogram = &meter.latency;
    let quantile = |q: f64| histogram.quantile(q).map(Time::as_ns_f64);
    Some(Latency {
        count: histogram.count(),
        mean_ns: histogram.mean_ps()? / 1e3,
        mean_ci95_ns: half_width,
        min_ns: histogram.min()?.as_ns_f64(),
        p50_ns: quantile(0.5)?,
        p95_ns: quantile(0.95)?,
        p99_ns: quantile(0.99)?,
        p999_ns: quantile(0.999)?,
        max_ns: histogram.max()?.as_ns_f64(),
    })
}
