//! Means with confidence intervals and time series, both of bounded size.

use crate::state::{State, Value};
use crate::time::Time;

/// Batches a mean is cut into at most; a power of two. Past it, neighbours join in pairs.
const BATCHES_MAX: usize = 64;

/// Fewest values of a batch that says something. The means of smaller batches depend on each other
/// nearly as much as the values do.
const BATCH_SIZE_MIN: u64 = 16;

/// The mean of a correlated sequence and its 95 % confidence half-width, by batch means.
///
/// Successive latencies depend on each other, so the usual standard error is too small. The sequence
/// is cut into 32 to 64 batches whose means are nearly independent (Law, *Simulation Modeling and
/// Analysis*, 5th ed., s. 9.5.3); batches double in size as the sequence grows.
#[derive(Clone, Debug, State)]
#[state(after = "BatchMeans::check")]
pub struct BatchMeans {
    #[state(varies)]
    sums: Vec<f64>,
    batch_size: u64,
    filling: f64,
    filled: u64,
}

/// The mean of half a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Half {
    /// The mean, in the unit of the values.
    pub mean: f64,
    /// Its standard error, by the batches of this half.
    pub standard_error: f64,
}

impl Default for BatchMeans {
    fn default() -> BatchMeans {
        BatchMeans::new()
    }
}

impl BatchMeans {
    /// An empty sequence.
    pub fn new() -> BatchMeans {
        BatchMeans { sums: Vec::with_capacity(BATCHES_MAX), batch_size: 1, filling: 0.0, filled: 0 }
    }

    /// Adds the next value of the sequence.
    #[inline]
    pub fn record(&mut self, value: f64) {
        self.record_all([value]);
    }

    /// Adds the next values of the sequence, in their order.
    #[inline]
    pub fn record_all(&mut self, values: impl IntoIterator<Item = f64>) {
        // The sum stays in a register: every addition waits for the one before.
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

    /// The half-width of the 95 % confidence interval of the mean, in the unit of the values.
    ///
    /// `None` below 32 batches of 16 values: too little was seen to say.
    pub fn half_width_95(&self) -> Option<f64> {
        let n = self.sums.len();
        if n < BATCHES_MAX / 2 || self.batch_size < BATCH_SIZE_MIN {
            return None;
        }
        let scale = self.batch_size as f64;
        let mean = self.sums.iter().sum::<f64>() / n as f64 / scale;
        let squares: f64 = self.sums.iter().map(|sum| (sum / scale - mean) * (sum / scale - mean)).sum();
        // Student's t at 97.5 % with n - 1 = 31..63 degrees of freedom is 2.04..2.00.
        let student_t = 2.04 - 0.04 * (n - BATCHES_MAX / 2) as f64 / (BATCHES_MAX / 2) as f64;
        Some(student_t * (squares / (n - 1) as f64 / n as f64).sqrt())
    }

    /// The mean of the first half of the sequence and of the second. `None` where [`BatchMeans::half_width_95`] is.
    pub fn halves(&self) -> Option<[Half; 2]> {
        self.half_width_95()?;
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

/// What happened in one interval of a time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
pub struct Bin {
    /// Reads that completed in the interval.
    pub reads: u64,
    /// Writes that completed in the interval.
    pub writes: u64,
    /// Bytes of both.
    pub bytes: u64,
    /// Sum of their latencies, in picoseconds.
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

/// Throughput and latency over time in at most [`TimeSeries::BINS_MAX`] equal intervals.
///
/// The width doubles whenever the run outgrows the bins, so memory does not depend on its length.
#[derive(Clone, Debug, State)]
#[state(after = "TimeSeries::check")]
pub struct TimeSeries {
    width: Time,
    #[state(varies)]
    bins: Vec<Bin>,
    /// The interval asked for last, `[start, end)`: most requests fall into it, which saves a division.
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
    /// Most intervals kept.
    pub const BINS_MAX: usize = 512;

    /// An empty series that starts with intervals of one microsecond.
    pub fn new() -> TimeSeries {
        TimeSeries {
            width: Time::from_us(1),
            bins: Vec::with_capacity(TimeSeries::BINS_MAX),
            current: (Time::ZERO, Time::ZERO),
            current_index: 0,
        }
    }

    /// The interval that holds `at`, to add to.
    #[inline]
    pub fn bin_mut(&mut self, at: Time) -> &mut Bin {
        if at < self.current.0 || at >= self.current.1 {
            self.find_bin(at);
        }
        &mut self.bins[self.current_index]
    }

    /// The series that has these intervals of `width`, from the start on.
    pub fn restored(width: Time, bins: Vec<Bin>) -> TimeSeries {
        assert!(bins.len() <= TimeSeries::BINS_MAX, "as many intervals as a series has");
        TimeSeries { width, bins, ..TimeSeries::new() }
    }

    /// Adds what `other` has, which began `later` than this one.
    ///
    /// Exact where both began together. If not, what `other` has in an interval goes to the interval here in which
    /// the middle of it lies: in time, half an interval off at most.
    pub fn merge(&mut self, other: &TimeSeries, later: Time) {
        while self.width < other.width {
            self.double_width();
        }
        for (index, bin) in other.bins.iter().enumerate() {
            let middle = later + other.width * index as u64 + Time::from_ps(other.width.as_ps() / 2);
            self.bin_mut(middle).add(bin);
        }
    }

    /// The width of every interval.
    pub fn width(&self) -> Time {
        self.width
    }

    /// The intervals from the start on.
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
