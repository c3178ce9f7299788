//! A memoryless latency with a given mean and an optional minimum.
//!
//! # Model
//! The latency is `least + (mean - least) E`, where E is exponentially distributed with mean 1.
//!
//! # Not modeled
//! The latency of a real device is rarely memoryless. Use this distribution for queueing studies, or if a
//! rough approximation of the tail is sufficient.
//!
//! # Sources
//! Kleinrock, *Queueing Systems*, volume 1, chapter 3 (M/M/1, M/M/c).
//!
//! # Checks
//! The tests compare the mean and the variance of the samples with their formulas. The waits in the device
//! `measured` are compared with those in M/M/1 and M/M/c queues.

#[cfg(test)]
mod tests;

use super::{Latency, LatencyFamily};
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Time};

/// A memoryless latency, with a minimum.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Mean latency.
    pub mean: Time,
    /// Minimum latency. The time above the minimum is exponentially distributed.
    #[config(default = "0 s", source = "standard: the exponential distribution starts at zero")]
    pub least: Time,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    if config.least > config.mean {
        let remedy = format!("the largest allowed is the mean, {}", config.mean);
        reader.conflict("least", &config.least.to_string(), "it is above the mean", &remedy);
    }
}

/// The component's descriptor and constructor.
pub const MODEL: Model<LatencyFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "exponential",
        "a memoryless latency, given its mean",
        &["Kleinrock, Queueing Systems, vol. 1, ch. 3"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        Ok(Box::new(Exponential { config, random: builder.random(slot.path()) }))
    },
};

#[derive(State)]
struct Exponential {
    #[state(skip = "from the configuration")]
    config: Config,
    random: Random,
}

impl Latency for Exponential {
    #[inline]
    fn draw(&mut self) -> Time {
        let spread = self.config.mean - self.config.least;
        self.config.least + spread.scaled(self.random.exponential())
    }

    fn mean_s(&self) -> f64 {
        self.config.mean.as_secs_f64()
    }
}
