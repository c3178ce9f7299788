//! Means with confidence intervals, and time series. Both have bounded size.

use crate::state::{State, Value};
use crate::time::Time;

/// Maximum number of batches, a power of two. When this number is reached, adjacent pairs of batches are
/// merged.
const BATCHES_MAX: usize = 64;

/// Minimum number of values in a batch. The means of smaller batches are nearly as correlated as the values.
const BATCH_SIZE_MIN: u64 = 16;

/// Minimum number of batches for a confidence interval.
const BATCHES_MIN: usize = 8;

/// Relative difference below which batch means count as equal. A constant latency varies only because of
/// rounding and the start of the run.
const ALIKE: f64 = 1e-5;

/// Threshold of von Neumann's statistic. The statistic of independent means is below it with a probability of
/// 90 %.
const DEPENDENT: f64 = 1.2816;

/// Mean of a correlated sequence and its 95 % confidence half-width, computed from batch means.
///
/// Successive latencies are correlated, so the usual standard error is too small. The sequence is divided
/// into 32 to 64 batches whose means are nearly independent (Law, *Simulation Modeling and Analysis*, 5th
/// ed., s. 9.5.3). Batches double in size as the sequence grows. Independence is tested with von Neumann's
/// ratio (Fishman, *Grouping observations in digital simulation*, Management Science 24(5), 1978). If batches
/// are dependent, adjacent batches are merged, down to eight batches.
#[derive(Clone, Debug, State)]
#[state(after = "BatchMeans::check")]
pub struct BatchMeans {
    #[state(varies)]
    sums: Vec<f64>,
    batch_size: u64,
    filling: f64,
    filled: u64,
}

/// Confidence of the mean of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Confidence {
    /// The sequence has too few values for an interval.
    TooShort,
    /// Even the means of the longest batches are dependent, so no interval can be computed.
    Dependent,
    /// Half-width of the 95 % confidence interval, in the unit of the values.
    Within(f64),
}

/// Mean of half a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Half {
    /// Mean in the unit of the values.
    pub mean: f64,
    /// Standard error of the mean, computed from the batches of this half.
    pub standard_error: f64,
}

impl Default for BatchMeans {
    fn default() -> BatchMeans {
        BatchMeans::new()
    }
}

impl BatchMeans {
    /// Creates an empty sequence.
    pub fn new() -> BatchMeans {
        BatchMeans { sums: Vec::with_capacity(BATCHES_MAX), batch_size: 1, filling: 0.0, filled: 0 }
    }

    /// Adds the next value of the sequence.
    #[inline]
    pub fn record(&mut self, value: f64) {
        self.record_all([value]);
    }

    /// Adds the next values of the sequence in order.
    #[inline]
    pub fn record_all(&mut self, values: impl IntoIterator<Item = f64>) {
        // The sum stays in a register, because each addition depends on the previous one.
        let (mut filling, mut filled) = (self.filling, self.filled);
        for value in values {
            filling += value;
            filled += 1;
            if filled == self.batch_size {
                self.close_batch(filling);
                (filling, filled) = (0.0, 0);
            }
        }
        (self.filling, self.filled) = (filling, filled);
    }

    /// Confidence of the mean.
    pub fn confidence(&self) -> Confidence {
        if self.is_short() {
            return Confidence::TooShort;
        }
        let scale = self.batch_size as f64;
        let mut means: Vec<f64> = self.sums.iter().map(|sum| sum / scale).collect();
        if let Some(most) = alike(&means) {
            return Confidence::Within(most);
        }
        while means.len() >= BATCHES_MIN {
            let spread = Spread::of(&means);
            if !spread.is_dependent() {
                return Confidence::Within(spread.half_width_95());
            }
            means = means.chunks_exact(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
        }
        Confidence::Dependent
    }

    /// Half-width of the 95 % confidence interval of the mean, in the unit of the values.
    ///
    /// `None` for fewer than 32 batches of 16 values, or if the batches are still dependent after they are
    /// merged into 8 to 15 larger batches. If every batch mean differs from the overall mean by at most
    /// 1e-5 of the overall mean, the half-width is the largest difference.
    pub fn half_width_95(&self) -> Option<f64> {
        match self.confidence() {
            Confidence::Within(half_width) => Some(half_width),
            Confidence::TooShort | Confidence::Dependent => None,
        }
    }

    fn is_short(&self) -> bool {
        self.sums.len() < BATCHES_MAX / 2 || self.batch_size < BATCH_SIZE_MIN
    }

    /// Means of the first and the second half of the sequence; `None` for fewer than 32 batches of 16 values.
    pub fn halves(&self) -> Option<[Half; 2]> {
        if self.is_short() {
            return None;
        }
        let (first, second) = self.sums.split_at(self.sums.len() / 2);
        Some([first, second].map(|sums| {
            let (n, scale) = (sums.len() as f64, self.batch_size as f64);
            let mean = sums.iter().sum::<f64>() / n / scale;
            let squares: f64 = sums.iter().map(|sum| (sum / scale - mean) * (sum / scale - mean)).sum();
            Half { mean, standard_error: (squares / (n - 1.0) / n).sqrt() }
        }))
    }

    fn check(&mut self) -> Result<(), String> {
        let fits = self.sums.len() < BATCHES_MAX && self.batch_size > 0 && self.filled < self.batch_size;
        if fits { Ok(()) } else { Err(format!("{} batches of {}", self.sums.len(), self.batch_size)) }
    }

    fn close_batch(&mut self, sum: f64) {
        self.sums.push(sum);
        if self.sums.len() == BATCHES_MAX {
            self.sums = self.sums.chunks(2).map(|pair| pair[0] + pair[1]).collect();
            self.batch_size *= 2;
        }
    }
}

/// Largest deviation of a batch mean from the overall mean if all batch means are equal within [`ALIKE`],
/// and otherwise `None`. If they are equal, their dependence does not matter.
fn alike(means: &[f64]) -> Option<f64> {
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let most = means.iter().fold(0.0, |most: f64, value| most.max((value - mean).abs()));
    (most <= ALIKE * mean.abs()).then_some(most)
}

/// Sums computed from the deviations of the batch means from the overall mean.
struct Spread {
    batches: f64,
    squares: f64,
    /// Sum of the products of adjacent deviations.
    neighbors: f64,
    /// Sum of the squared deviations of the first and the last batch.
    ends: f64,
}

impl Spread {
    fn of(means: &[f64]) -> Spread {
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        let off = |value: f64| value - mean;
        let (first, last) = (off(means[0]), off(means[means.len() - 1]));
        Spread {
            batches: means.len() as f64,
            squares: means.iter().map(|&value| off(value) * off(value)).sum(),
            neighbors: means.windows(2).map(|pair| off(pair[0]) * off(pair[1])).sum(),
            ends: first * first + last * last,
        }
    }

    /// Whether the correlation of adjacent batches is larger than in 90 % of independent sequences.
    fn is_dependent(&self) -> bool {
        let n = self.batches;
        let statistic = (n * n - 1.0) / (n - 2.0);
        self.squares > 0.0 && statistic.sqrt() * (self.neighbors + self.ends / 2.0) > DEPENDENT * self.squares
    }

    fn half_width_95(&self) -> f64 {
        student_t_975(self.batches - 1.0) * (self.squares / (self.batches - 1.0) / self.batches).sqrt()
    }
}

/// Student's t at 97.5 %, accurate to .03 % for 7 or more degrees of freedom (Abramowitz and Stegun, 26.7.5).
fn student_t_975(freedom: f64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let (z3, z5, z7) = (Z * Z * Z, Z * Z * Z * Z * Z, Z * Z * Z * Z * Z * Z * Z);
    let per = 1.0 / freedom;
    Z + per
        * ((z3 + Z) / 4.0
            + per
                * ((5.0 * z5 + 16.0 * z3 + 3.0 * Z) / 96.0
                    + per * (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / 384.0))
}

/// An interval of a time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
pub struct Bin {
    /// Number of reads that completed in the interval.
    pub reads: u64,
    /// Number of writes that completed in the interval.
    pub writes: u64,
    /// Number of bytes read and written.
    pub bytes: u64,
    /// Sum of the latencies of the reads and writes in this interval, in picoseconds.
    pub latency_ps: u128,
}

impl Bin {
    fn add(&mut self, other: &Bin) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes += other.bytes;
        self.latency_ps += other.latency_ps;
    }
}

/// Throughput and latency over time, in at most [`TimeSeries::BINS_MAX`] intervals of equal width.
///
/// The width doubles when the run becomes longer than all intervals, so the memory does not depend on the
/// length of the run.
#[derive(Clone, Debug, State)]
#[state(after = "TimeSeries::check")]
pub struct TimeSeries {
    width: Time,
    #[state(varies)]
    bins: Vec<Bin>,
    /// Start and end of the interval that was used last. The next request is usually in this interval, so a
    /// division is avoided.
    #[state(skip = "found again")]
    current: (Time, Time),
    #[state(skip = "found again")]
    current_index: usize,
}

impl Default for TimeSeries {
    fn default() -> TimeSeries {
        TimeSeries::new()
    }
}

impl TimeSeries {
    /// Maximum number of intervals.
    pub const BINS_MAX: usize = 512;

    /// Creates an empty series whose intervals have an initial width of one microsecond.
    pub fn new() -> TimeSeries {
        TimeSeries {
            width: Time::from_us(1),
            bins: Vec::with_capacity(TimeSeries::BINS_MAX),
            current: (Time::ZERO, Time::ZERO),
            current_index: 0,
        }
    }

    /// Returns a mutable reference to the interval that contains `at`.
    #[inline]
    pub fn bin_mut(&mut self, at: Time) -> &mut Bin {
        if at < self.current.0 || at >= self.current.1 {
            self.find_bin(at);
        }
        &mut self.bins[self.current_index]
    }

    /// Recreates a series from its intervals of `width`.
    pub fn restored(width: Time, bins: Vec<Bin>) -> TimeSeries {
        assert!(bins.len() <= TimeSeries::BINS_MAX, "as many intervals as a series has");
        TimeSeries { width, bins, ..TimeSeries::new() }
    }

    /// Adds `other`, which started `later` than this series.
    ///
    /// The result is exact if both series started at the same time. Otherwise, each interval of `other` is
    /// added to the interval that contains its middle, so its data is shifted by at most half an interval.
    pub fn merge(&mut self, other: &TimeSeries, later: Time) {
        while self.width < other.width {
            self.double_width();
        }
        for (index, bin) in other.bins.iter().enumerate() {
            let middle = later + other.width * index as u64 + Time::from_ps(other.width.as_ps() / 2);
            self.bin_mut(middle).add(bin);
        }
    }

    /// Width of the intervals.
    pub fn width(&self) -> Time {
        self.width
    }

    /// Intervals in order.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    fn check(&mut self) -> Result<(), String> {
        self.current = (Time::ZERO, Time::ZERO);
        let fits = self.bins.len() <= TimeSeries::BINS_MAX && !self.width.is_zero();
        if fits { Ok(()) } else { Err(format!("{} intervals of {}", self.bins.len(), self.width)) }
    }

    fn find_bin(&mut self, at: Time) {
        let mut index = at.as_ps() / self.width.as_ps();
        while index >= TimeSeries::BINS_MAX as u64 {
            self.double_width();
            index = at.as_ps() / self.width.as_ps();
        }
        let index = index as usize;
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        let start = self.width * index as u64;
        self.current = (start, Time::from_ps(start.as_ps().saturating_add(self.width.as_ps())));
        self.current_index = index;
    }

    fn double_width(&mut self) {
        self.width = self.width * 2;
        self.bins = self
            .bins
            .chunks(2)
            .map(|pair| {
                let mut both = pair[0];
                pair[1..].iter().for_each(|bin| both.add(bin));
                both
            })
            .collect();
        self.current = (Time::ZERO, Time::ZERO);
    }
}
