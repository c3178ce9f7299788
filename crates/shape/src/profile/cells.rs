//! Histogram whose cells are wider for larger values.

/// Binary logarithm of the number of cells per doubling.
const BITS: u32 = 4;

/// Weighted counts of integers, and the sums of the integers in each cell. Each value below 32 has a separate
/// cell; larger values have 16 cells per doubling.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    counts: Vec<f64>,
    sums: Vec<f64>,
}

impl Cells {
    pub(crate) fn add(&mut self, value: u64, weight: f64) {
        let cell = cell(value);
        if cell >= self.counts.len() {
            self.counts.resize(cell + 1, 0.0);
            self.sums.resize(cell + 1, 0.0);
        }
        self.counts[cell] += weight;
        self.sums[cell] += weight * value as f64;
    }

    pub(crate) fn count(&self) -> f64 {
        self.counts.iter().sum()
    }

    pub(crate) fn sum(&self) -> f64 {
        self.sums.iter().sum()
    }

    /// Returns the largest value of each nonempty cell, with the cumulative count up to this value.
    pub(crate) fn upto(&self) -> impl Iterator<Item = (u64, f64)> {
        let mut sum = 0.0;
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0.0).map(move |(cell, count)| {
            sum += count;
            (end_of(cell), sum)
        })
    }

    /// Adds the counts and sums of `other`.
    pub(crate) fn join(&mut self, other: &Cells) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0.0);
        self.sums.resize(self.counts.len(), 0.0);
        for (cell, (count, sum)) in other.counts.iter().zip(&other.sums).enumerate() {
            self.counts[cell] += count;
            self.sums[cell] += sum;
        }
    }

    /// Returns `steps + 1` quantiles, from the smallest to the largest value, at equal steps of probability.
    /// Values in a cell are assumed to be uniform around their mean. The list is empty if the histogram is
    /// empty.
    pub(crate) fn quantiles(&self, steps: usize) -> Vec<f64> {
        self.upper_quantiles(0.0, steps)
    }

    /// Like [`Cells::quantiles`], for the values above the quantile at probability `from`.
    pub(crate) fn upper_quantiles(&self, from: f64, steps: usize) -> Vec<f64> {
        let total = self.count();
        let (mut quantiles, mut upto) = (Vec::with_capacity(steps + 1), 0.0);
        for (cell, (&count, &sum)) in self.counts.iter().zip(&self.sums).enumerate() {
            if count == 0.0 {
                continue;
            }
            let start = if cell == 0 { 0 } else { end_of(cell - 1) + 1 };
            let (mean, end) = (sum / count, end_of(cell) as f64);
            let half = (mean - start as f64).min(end - mean).max(0.0);
            let last = upto + count >= total * (1.0 - 1e-12);
            while quantiles.len() <= steps {
                let share = from + (1.0 - from) * quantiles.len() as f64 / steps as f64;
                let rank = share * total;
                if rank > upto + count && !last {
                    break;
                }
                let share = ((rank - upto) / count).clamp(0.0, 1.0);
                quantiles.push(mean - half + 2.0 * half * share);
            }
            upto += count;
        }
        quantiles
    }

    /// Returns the sum of all values, each limited to `bound`. Values in the cell that contains `bound` are
    /// assumed to be uniform.
    pub(crate) fn sum_bounded(&self, bound: u64) -> f64 {
        let at = cell(bound);
        let mut sum = 0.0;
        for (cell, (&count, &values)) in self.counts.iter().zip(&self.sums).enumerate() {
            if cell < at {
                sum += values;
            } else if cell > at || count == 0.0 {
                sum += count * bound as f64;
            } else {
                let start = if cell == 0 { 0 } else { end_of(cell - 1) + 1 };
                let (below, width) = ((bound - start) as f64, (end_of(cell) - start + 1) as f64);
                let share = below / width;
                sum += count * (share * (start as f64 + below / 2.0) + (1.0 - share) * bound as f64);
            }
        }
        sum
    }
}

fn cell(value: u64) -> usize {
    let octave = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
    ((u64::from(octave) << BITS) + (value >> octave)) as usize
}

/// Returns the largest value of a cell.
fn end_of(cell: usize) -> u64 {
    let octave = ((cell as u64) >> BITS).saturating_sub(1);
    let inside = cell as u64 - (octave << BITS);
    ((inside + 1) << octave).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_narrow_and_reach_the_end() {
        for value in (0..5000u64).chain([1 << 40, u64::MAX - 1, u64::MAX]) {
            let end = end_of(cell(value));
            assert!(end >= value && end - value <= value / 16, "{value}: {end}");
        }
    }

    #[test]
    fn bounded_sums_are_those_of_the_values() {
        let mut cells = Cells::default();
        let values: Vec<u64> = (0..5000).map(|i| i * i % 4999 * 3).collect();
        for &value in &values {
            cells.add(value, 2.0);
        }
        for bound in [0, 5, 31, 100, 999, 5000, 14_000, 20_000] {
            let expected: f64 = values.iter().map(|&value| 2.0 * value.min(bound) as f64).sum();
            let found = cells.sum_bounded(bound);
            assert!((found - expected).abs() <= 0.002 * expected, "{bound}: {found}, {expected}");
        }
        assert_eq!(cells.count(), 10_000.0);
        assert_eq!(cells.upper_quantiles(0.5, 8), cells.quantiles(16)[8..]);
        let mut sorted = values.clone();
        sorted.sort_unstable();
        for (step, quantile) in cells.quantiles(20).into_iter().enumerate() {
            let expected = sorted[(step * 5000 / 20).min(4999)] as f64;
            assert!((quantile - expected).abs() <= 0.04 * expected + 40.0, "{step}: {quantile}, {expected}");
        }
    }
}
