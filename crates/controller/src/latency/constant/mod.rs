//! A constant latency.
//!
//! # Model
//! The latency of every request is exactly `latency`. Use this distribution if only the mean latency of a
//! device is published.
//!
//! # Not modeled
//! The latency does not vary. Under load, differences between percentiles are therefore due to queueing only.
//!
//! # Sources
//! None: the only parameter is a latency that the user provides.
//!
//! # Checks
//! With Poisson arrivals, a device with the latency S is an M/D/1 queue. At the utilization rho, its mean
//! wait is rho S / (2 (1 - rho)).

#[cfg(test)]
mod tests;

use super::{Latency, LatencyFamily};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Time;
use nacre_kernel::state::State;

/// A constant latency.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Latency of every request.
    pub latency: Time,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<LatencyFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "constant",
        "a constant latency",
        &["definition"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        Ok(Box::new(Constant { latency: config.latency }))
    },
};

#[derive(State)]
struct Constant {
    #[state(skip = "from the configuration")]
    latency: Time,
}

impl Latency for Constant {
    #[inline]
    fn draw(&mut self) -> Time {
        self.latency
    }

    fn mean_s(&self) -> f64 {
        self.latency.as_secs_f64()
    }
}
