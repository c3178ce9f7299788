//! Latency distributions in bounded memory. They can be merged, and percentiles are accurate within 0.05 %.

use crate::state::{State, StateError, StateReader, StateWriter, Value};
use crate::time::Time;
use hdrhistogram::Histogram;

/// Number of significant digits. The error of a percentile is at most half a unit of the third digit.
const SIGNIFICANT_DIGITS: u8 = 3;

/// A distribution of times. Count, sum, minimum, and maximum are exact. Percentiles are those of a
/// high-dynamic-range histogram.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    buckets: Histogram<u64>,
    sum_ps: u128,
    min: Time,
    max: Time,
}

/// A bin of a distribution, with the values above the previous bin and up to `upto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Bar {
    /// Largest value of the bin.
    pub upto: Time,
    /// Number of values in the bin.
    pub count: u64,
}

impl Default for LatencyHistogram {
    fn default() -> LatencyHistogram {
        LatencyHistogram::new()
    }
}

impl LatencyHistogram {
    /// Creates an empty distribution.
    pub fn new() -> LatencyHistogram {
        let buckets = Histogram::new(SIGNIFICANT_DIGITS).expect("3 is a legal number of digits");
        LatencyHistogram { buckets, sum_ps: 0, min: Time::MAX, max: Time::ZERO }
    }

    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: Time) {
        self.record_n(value, 1);
    }

    /// Adds `count` equal values. `count` must be at least one.
    #[inline]
    pub fn record_n(&mut self, value: Time, count: u64) {
        self.buckets.record_n(value.as_ps(), count).expect("the histogram grows as needed");
        self.sum_ps += u128::from(value.as_ps()) * u128::from(count);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the values of `other`. Merging in any order gives the same distribution.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        self.buckets.add(&other.buckets).expect("the histogram grows as needed");
        self.sum_ps += other.sum_ps;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Recreates a distribution from its bins (see [`LatencyHistogram::bars`]), sum, and extremes.
    pub fn restored(
        bars: impl IntoIterator<Item = Bar>,
        sum_ps: u128,
        min: Time,
        max: Time,
    ) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        for bar in bars {
            histogram.record_n(bar.upto, bar.count);
        }
        LatencyHistogram { sum_ps, min, max, ..histogram }
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// Exact mean in picoseconds, or `None` if the distribution is empty.
    pub fn mean_ps(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ps as f64 / self.count() as f64)
    }

    /// Exact sum in picoseconds.
    pub fn sum_ps(&self) -> u128 {
        self.sum_ps
    }

    /// Smallest value, or `None` if the distribution is empty.
    pub fn min(&self) -> Option<Time> {
        (self.count() > 0).then_some(self.min)
    }

    /// Largest value, or `None` if the distribution is empty.
    pub fn max(&self) -> Option<Time> {
        (self.count() > 0).then_some(self.max)
    }

    /// Quantile `q` (0 to 1), or `None` if the distribution is empty.
    ///
    /// The result is between the smallest and the largest recorded value, which are the quantiles 0 and 1.
    pub fn quantile(&self, q: f64) -> Option<Time> {
        if self.count() == 0 {
            return None;
        }
        if q <= 0.0 || q >= 1.0 {
            return Some(if q <= 0.0 { self.min } else { self.max });
        }
        // A bucket is up to 0.1 % wide, so its middle differs from any value in it by at most half of that.
        let middle = self.buckets.median_equivalent(self.buckets.value_at_quantile(q));
        Some(Time::from_ps(middle).clamp(self.min, self.max))
    }

    /// Non-empty bins in ascending order.
    pub fn bars(&self) -> impl Iterator<Item = Bar> + '_ {
        self.buckets.iter_recorded().map(|step| Bar {
            upto: Time::from_ps(step.value_iterated_to()).min(self.max),
            count: step.count_at_value(),
        })
    }
}

impl State for LatencyHistogram {
    fn save(&self, state: &mut StateWriter) {
        (self.sum_ps, self.min, self.max).save(state);
        self.bars().collect::<Vec<_>>().save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        let (sum_ps, min, max) = Value::read(state)?;
        let bars: Vec<Bar> = Value::read(state)?;
        if bars.iter().any(|bar| bar.count == 0) {
            return Err(state.error("bars with values".into(), "an empty one".into()));
        }
        *self = LatencyHistogram::restored(bars, sum_ps, min, max);
        Ok(())
    }
}
