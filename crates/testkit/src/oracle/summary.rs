//! Rates and latencies of a run as measured by the host.

use super::Visit;
use nacre_kernel::Time;

/// Rate and latencies of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Requests per second, from time 0 to the last completion.
    pub per_second: f64,
    /// Mean latency, in seconds.
    pub mean_s: f64,
    /// Median latency.
    pub p50: Time,
    /// 99th percentile of the latency.
    pub p99: Time,
}

impl Summary {
    /// Summarizes the arrivals and completions in `visits`, which must not be empty.
    #[must_use]
    pub fn of(visits: &[Visit]) -> Summary {
        let mut latencies: Vec<Time> = visits.iter().map(Visit::latency).collect();
        latencies.sort_unstable();
        let end = visits.iter().map(|visit| visit.done).max().expect("there are visits");
        let count = latencies.len() as f64;
        let sum_s: f64 = latencies.iter().map(|latency| latency.as_secs_f64()).sum();
        let quantile = |share: f64| latencies[(share * count).ceil() as usize - 1];
        Summary {
            per_second: count / end.as_secs_f64(),
            mean_s: sum_s / count,
            p50: quantile(0.5),
            p99: quantile(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_least_latency_that_the_share_does_not_exceed() {
        let visit = |ms| Visit { arrived: Time::from_s(1), done: Time::from_s(1) + Time::from_ms(ms) };
        let visits: Vec<Visit> = (1..=1000).rev().map(visit).collect();
        let summary = Summary::of(&visits);
        assert_eq!((summary.p50, summary.p99), (Time::from_ms(500), Time::from_ms(990)));
        assert!((summary.mean_s - 0.5005).abs() < 1e-12);
        assert!((summary.per_second - 500.0).abs() < 1e-9, "1,000 requests in two seconds");
    }
}
