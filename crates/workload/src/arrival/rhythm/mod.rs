//! Rhythm: an open loop whose arrival rate follows a profile over a day, or over another repeating span.
//!
//! # Model
//! The span is divided into equal steps. The rate in a step is the mean rate times the weight of the step,
//! divided by the mean weight. Gaps between arrivals are independent samples of one distribution, scaled to
//! the mean gap of the step. After the last step, the profile repeats.
//!
//! # Not modeled
//! The model omits differences between days. The model also omits any correlation between the gaps within a
//! step.
//!
//! # Sources
//! devroye-1986: Devroye, "Non-Uniform Random Variate Generation", section 2.2 (inversion).
//!
//! # Checks
//! The number of requests in each step is proportional to the weight of the step. The quantiles of the gaps
//! and the mean rate equal the configured values.

use super::{Arrival, ArrivalClock, ArrivalFamily};
use crate::error::WorkloadError;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Rate, Request, Time};

/// Arrivals that follow a repeating profile.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Mean request rate over the whole span.
    #[config(min = "0.000001 /s", max = "1000 GHz")]
    pub rate: Rate,
    /// Length of the profile, which then repeats.
    #[config(default = "24 h", min = "1 us", source = "assumed: a day")]
    pub span: Time,
    /// Relative rates of equal steps of the span. A step with weight 0 has no arrivals.
    pub weights: Vec<f64>,
    /// Quantiles of the gaps at equal steps of probability, in ascending order. Only the ratios of the
    /// quantiles matter. Samples between two quantiles are uniform. By default, arrivals are Poisson.
    pub gaps: Option<Vec<f64>>,
    /// Quantiles of the longest gaps, which are those in the last interval of `gaps`, at equal steps of
    /// probability. By default, these gaps are uniform. Use this setting if a few very long gaps make up most of the time.
    pub tail: Option<Vec<f64>>,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    if config.weights.iter().any(|weight| *weight < 0.0) || config.weights.iter().all(|weight| *weight == 0.0)
    {
        let problem = "a weight is negative, or all are zero";
        reader.conflict("weights", "", problem, "use numbers proportional to the rates");
    }
    if let Some(tail) = &config.tail {
        let last = config.gaps.as_ref().and_then(|gaps| gaps.last().copied());
        if tail.len() < 2 || tail[0] < 0.0 || !tail.is_sorted() || last.is_none() {
            let problem = "they are not two or more increasing gaps, or `gaps` is missing";
            reader.conflict("tail", "", problem, "sort them and set `gaps`, too, or remove them");
        }
    }
    let Some(gaps) = &config.gaps else { return };
    if gaps.len() < 2 || gaps[0] < 0.0 || !gaps.is_sorted() || gaps[gaps.len() - 1] == 0.0 {
        let problem = "they are not two or more increasing, non-negative gaps";
        reader.conflict("gaps", "", problem, "sort them, or remove them for Poisson arrivals");
    }
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<ArrivalFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "rhythm",
        "the rate follows a profile over the day or another repeating span (open loop)",
        &["devroye-1986"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        Ok(Box::new(Rhythm::new(&config, builder.random(slot.path()), slot.path())))
    },
};

#[derive(State)]
#[state(after = "Rhythm::check_restored")]
struct Rhythm {
    #[state(skip = "from the configuration")]
    step_ps: f64,
    /// Mean gap in each step in picoseconds. Infinity for a step without arrivals.
    #[state(skip = "from the configuration")]
    mean_ps: Vec<f64>,
    /// Quantiles of the gap, scaled to mean 1.
    #[state(skip = "from the configuration")]
    gaps: Vec<f64>,
    /// Quantiles within the last step of `gaps`. If the list is empty, samples in that step are uniform.
    #[state(skip = "from the configuration")]
    tail: Vec<f64>,
    step: usize,
    /// Time since the start of the step, in picoseconds.
    into_ps: f64,
    random: Random,
    clock: ArrivalClock,
}

impl Rhythm {
    fn new(config: &Config, random: Random, path: &str) -> Rhythm {
        let mean = config.weights.iter().sum::<f64>() / config.weights.len() as f64;
        let gaps = config.gaps.as_deref().unwrap_or(&[]);
        let tail = config.tail.as_deref().unwrap_or(&[]);
        // All steps are equally probable, including the last step, which the tail replaces.
        let steps = gaps.len().saturating_sub(1).max(1) as f64;
        let even = if tail.is_empty() { gaps } else { &gaps[..gaps.len() - 1] };
        let of_gaps = (sum_of_steps(even) + if tail.is_empty() { 0.0 } else { mean_of(tail) }) / steps;
        let clock = ArrivalClock::new(path);
        Rhythm {
            step_ps: config.span.as_ps() as f64 / config.weights.len() as f64,
            mean_ps: config.weights.iter().map(|weight| 1e12 / config.rate.0 * mean / weight).collect(),
            gaps: gaps.iter().map(|gap| gap / of_gaps).collect(),
            tail: tail.iter().map(|gap| gap / of_gaps).collect(),
            step: 0,
            into_ps: 0.0,
            random,
            clock,
        }
    }

    /// Random gap, scaled so that the mean gap is 1.
    fn draw(&mut self) -> f64 {
        if self.gaps.is_empty() {
            return self.random.exponential();
        }
        let at = self.random.unit() * (self.gaps.len() - 1) as f64;
        let (low, share) = (at as usize, at - libm::floor(at));
        if low + 2 < self.gaps.len() || self.tail.is_empty() {
            return between(&self.gaps, low, share);
        }
        let at = share * (self.tail.len() - 1) as f64;
        between(&self.tail, at as usize, at - libm::floor(at))
    }

    /// Time to the next arrival in picoseconds. If a step ends before the arrival, the rest of the gap is
    /// scaled to the rate of the next step.
    fn gap_ps(&mut self) -> f64 {
        let (mut left, mut passed) = (self.draw(), 0.0);
        loop {
            let mean = self.mean_ps[self.step];
            let rest = self.step_ps - self.into_ps;
            if left * mean <= rest {
                self.into_ps += left * mean;
                return passed + left * mean;
            }
            left -= rest / mean;
            passed += rest;
            (self.step, self.into_ps) = ((self.step + 1) % self.mean_ps.len(), 0.0);
            if passed > Time::MAX.as_ps() as f64 {
                return passed;
            }
        }
    }
}

fn between(quantiles: &[f64], low: usize, share: f64) -> f64 {
    quantiles[low] + (quantiles[low + 1] - quantiles[low]) * share
}

/// Sum of the means of all pairs of adjacent quantiles.
fn sum_of_steps(quantiles: &[f64]) -> f64 {
    quantiles.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).sum()
}

fn mean_of(quantiles: &[f64]) -> f64 {
    sum_of_steps(quantiles) / (quantiles.len() - 1) as f64
}

impl Rhythm {
    fn check_restored(&mut self) -> Result<(), String> {
        let steps = self.mean_ps.len();
        if self.step < steps { Ok(()) } else { Err(format!("step {} of {steps}", self.step)) }
    }
}

impl Arrival for Rhythm {
    fn stamp(&mut self, requests: &mut [Request]) -> Result<(), WorkloadError> {
        for request in requests {
            let gap = (self.gap_ps() + 0.5) as u64;
            request.arrival = self.clock.after(Time::from_ps(gap))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
