//! A lognormal latency with a given mean and standard deviation.
//!
//! # Model
//! The latency is `exp(mu + sigma Z)`, where Z has the standard normal distribution. The parameters are
//! `sigma^2 = ln(1 + (deviation / mean)^2)` and `mu = ln(mean) - sigma^2 / 2`. The samples then have the
//! configured mean and standard deviation, e.g. the `avg` and `stdev` that a benchmark prints.
//!
//! # Not modeled
//! The model cannot represent distributions with several modes, e.g. due to cache hits and misses, or due to
//! waits for an erase. For these, use `quantiles` or measured data.
//!
//! # Sources
//! Johnson, Kotz, and Balakrishnan, *Continuous Univariate Distributions*, volume 1, chapter 14.
//!
//! # Checks
//! The tests compare the mean and the variance of the samples with the settings. The mean wait in the device
//! `measured` is within 2 % of the mean wait in an M/G/1 queue.

#[cfg(test)]
mod tests;

use super::{Latency, LatencyFamily};
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Time};

/// A lognormal latency.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Mean latency.
    pub mean: Time,
    /// Standard deviation of the latency.
    pub deviation: Time,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    if config.mean.is_zero() {
        reader.conflict("mean", "0 s", "a lognormal latency is above zero", "give a mean above zero");
    }
}

/// The component's descriptor and constructor.
pub const MODEL: Model<LatencyFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "lognormal",
        "a latency with a long tail, given its mean and standard deviation",
        &["Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions, vol. 1, ch. 14"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        Ok(Box::new(Lognormal::new(&config, builder.random(slot.path()))))
    },
};

#[derive(State)]
struct Lognormal {
    #[state(skip = "from the configuration")]
    mu: f64,
    #[state(skip = "from the configuration")]
    sigma: f64,
    #[state(skip = "from the configuration")]
    mean_s: f64,
    random: Random,
}

impl Lognormal {
    fn new(config: &Config, random: Random) -> Lognormal {
        let mean_s = config.mean.as_secs_f64();
        let relative = config.deviation.as_secs_f64() / mean_s;
        let variance = libm::log1p(relative * relative);
        Lognormal { mu: libm::log(mean_s) - variance / 2.0, sigma: variance.sqrt(), mean_s, random }
    }
}

impl Latency for Lognormal {
    fn draw(&mut self) -> Time {
        Time::from_secs_f64(libm::exp(self.mu + self.sigma * self.random.normal()))
    }

    fn mean_s(&self) -> f64 {
        self.mean_s
    }
}
