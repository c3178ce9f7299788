//! Zipf distribution: the item of rank k has a probability proportional to k^-theta.
//!
//! Samples are exact. They are obtained by rejection from a staircase function. The ranks are divided into
//! steps: single ranks at the start, and later runs with a length of 1/32 of their first rank. A step is
//! sampled with a probability proportional to its length times the weight of its first rank, using an alias
//! table (M. Vose, A linear algorithm for generating random numbers with a given distribution, IEEE TSE
//! 17(9), 1991). Within the step, a rank is sampled uniformly and accepted with probability (k /
//! first)^-theta. This probability is at least (32/33)^theta, so a power is rarely computed.
//! Rejection-inversion (Hoermann and Derflinger 1996) needs a logarithm and an exponential for each sample
//! and takes four times as long. The table has 32 steps per doubling of the items.

use nacre_kernel::Random;
use std::hint::select_unpredictable;

/// Ratio of the first rank of a step to the length of the step.
const STEPS_PER_RANK: u64 = 32;

/// Zipf distribution over a number of items.
#[derive(Clone, Debug)]
pub struct Ranks {
    theta: f64,
    alias: Vec<Alias>,
    steps: Vec<Stair>,
}

/// An entry of the alias table. Random numbers below `threshold` select the step of this entry. Other numbers
/// select step `other`.
#[derive(Clone, Copy, Debug)]
struct Alias {
    threshold: u64,
    other: u32,
}

/// A step with the ranks from `first` to `first + length - 1`, counted from one.
#[derive(Clone, Copy, Debug)]
struct Stair {
    first: u64,
    length: u64,
    /// Weight of the last rank, relative to the weight of the first rank.
    least: f64,
}

impl Ranks {
    /// Creates the distribution with exponent `theta` over at least one item. `theta` must be finite and not
    /// negative.
    pub fn new(items: u64, theta: f64) -> Ranks {
        assert!(items > 0, "nothing to ask for");
        assert!(theta.is_finite() && theta >= 0.0, "theta {theta}");
        let mut steps = Vec::new();
        let mut first = 1;
        while first <= items {
            let length = (first / STEPS_PER_RANK).max(1).min(items - first + 1);
            let last = first + length - 1;
            steps.push(Stair { first, length, least: relative_weight(last, first, theta) });
            first += length;
        }
        let weight = |step: &Stair| step.length as f64 * libm::pow(step.first as f64, -theta);
        let alias = alias_table(&steps.iter().map(weight).collect::<Vec<f64>>());
        Ranks { theta, alias, steps }
    }

    /// Samples a rank. Rank zero is the most popular item.
    #[inline(always)]
    pub fn sample(&self, random: &mut Random) -> u64 {
        loop {
            let step = &self.steps[self.step(random)];
            let rank = step.first + random.below(step.length);
            let keep = random.unit();
            if keep < step.least || keep < relative_weight(rank, step.first, self.theta) {
                return rank - 1;
            }
        }
    }

    /// Returns a random step. One random number of 64 bits gives the index in the alias table (integer part)
    /// and the choice between the two steps of the entry (fraction).
    #[inline]
    fn step(&self, random: &mut Random) -> usize {
        let product = u128::from(random.bits()) * self.alias.len() as u128;
        let place = (product >> 64) as usize;
        let alias = self.alias[place];
        // The outcome is unpredictable, so a branch would be slow.
        select_unpredictable((product as u64) < alias.threshold, place, alias.other as usize)
    }
}

#[inline(never)]
fn relative_weight(rank: u64, first: u64, theta: f64) -> f64 {
    libm::pow(rank as f64 / first as f64, -theta)
}

/// Vose's alias table for `weights`. No weight may be negative, and at least one must be positive.
fn alias_table(weights: &[f64]) -> Vec<Alias> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let mut shares: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..shares.len()).partition(|&place| shares[place] < 1.0);
    let mut table: Vec<Alias> =
        (0..shares.len()).map(|place| Alias { threshold: u64::MAX, other: place as u32 }).collect();
    while let (Some(&giver), Some(place)) = (large.last(), small.pop()) {
        let threshold = (shares[place] * (1u128 << 64) as f64) as u64;
        table[place] = Alias { threshold, other: giver as u32 };
        shares[giver] -= 1.0 - shares[place];
        if shares[giver] < 1.0 {
            large.pop();
            small.push(giver);
        }
    }
    table
}
