//! Rates of served requests, and summaries of latency distributions.

use super::{HostBytes, Latency, Throughput};
use crate::meter::OpMeter;
use nacre_kernel::Time;
use nacre_workload::Units;

/// Returns the rates over `elapsed`, or zeros if no time has elapsed.
pub(super) fn throughput(
    requests: u64,
    bytes: &HostBytes,
    units: Option<Units>,
    elapsed: Time,
) -> Throughput {
    let seconds = elapsed.as_secs_f64();
    let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    Throughput {
        iops: per_second(requests),
        bytes_per_s: per_second(bytes.read + bytes.written),
        units_per_s: units.map(|units| per_second(units.done)),
    }
}

/// Returns a summary of the latencies in `meter`, or `None` without requests.
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
        p9999_ns: quantile(0.9999)?,
        max_ns: histogram.max()?.as_ns_f64(),
    })
}
