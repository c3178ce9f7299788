//! A constant latency.
//!
//! # Model
//! Use it for a device with only a published mean. Every request takes exactly `latency`.
//!
//! # Not modeled
//! Any spread: percentiles under load show only queueing.
//!
//! # Sources
//! None needed: it holds one measured number.
//!
//! # Checks
//! With Poisson arrivals, it makes an M/D/1 queue, whose mean wait is rho S / (2 (1 - rho)).

#[cfg(test)]
mod tests;

use super::{Latency, LatencyFamily};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::Time;
use nacre_kernel::state::State;

/// A latency that is always the same.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Latency of every request.
    pub latency: Time,
}

/// The component's descriptor and constructor.
pub const ROOM: Room<LatencyFamily> = Room {
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
