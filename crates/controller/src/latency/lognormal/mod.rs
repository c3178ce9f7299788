//! A lognormal latency with a given mean and standard deviation.
//!
//! # Model
//! `latency = exp(mu + sigma Z)` with Z normal, where `sigma^2 = ln(1 + (deviation / mean)^2)` and
//! `mu = ln(mean) - sigma^2 / 2`. The mean and the standard deviation are the configured ones, e.g. the `avg`
//! and `stdev` that a benchmark prints.
//!
//! # Not modeled
//! Distributions with several modes, e.g. due to cache hits and misses, or to waits for an erase. Use
//! `quantiles` or measured data instead.
//!
//! # Sources
//! Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions*, vol. 1, ch. 14.
//!
//! # Checks
//! Mean and variance of the samples. The M/G/1 wait of the `measured` device, within 2 %.

#[cfg(test)]
mod tests;

use super::{Latency, LatencyFamily};
use nacre_config::{Configuration, Descriptor, Reader, Room};
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
pub const ROOM: Room<LatencyFamily> = Room {
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
