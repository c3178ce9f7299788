//! Periodic arrivals: equal gaps between requests (open loop).
//!
//! # Model
//! Requests arrive in an open loop with equal gaps of 1 / rate. The first request arrives at time zero. D/G/1
//! queues have this deterministic arrival process. Samplers, cameras, and periodic checkpoints generate such
//! arrivals.
//!
//! # Not modeled
//! The model omits jitter, and several sources with different phases.
//!
//! # Sources
//! kleinrock-1975: Kleinrock, "Queueing Systems I", which defines D in Kendall's notation.
//!
//! # Checks
//! Request n arrives at n / rate, exact to the picosecond, even after a billion requests.

use super::{Arrival, ArrivalClock, ArrivalFamily};
use crate::error::WorkloadError;
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;
use nacre_kernel::{Rate, Request, Time};

/// Periodic arrivals with equal gaps.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Request rate.
    #[config(min = "0.000001 /s", max = "1000 GHz")]
    pub rate: Rate,
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<ArrivalFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "periodic",
        "equal gaps between arrivals (open loop)",
        &["kleinrock-1975"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        Ok(Box::new(Periodic::new(config.rate, slot.path())))
    },
};

/// Number of bits for fractions of a picosecond. The process accumulates fractions, so that arrivals do not
/// drift.
const FRACTION_BITS: u32 = 32;

#[derive(State)]
struct Periodic {
    /// Gap in picoseconds, with `FRACTION_BITS` fraction bits.
    #[state(same)]
    gap: u128,
    /// Next arrival in picoseconds, with `FRACTION_BITS` fraction bits.
    next: u128,
    clock: ArrivalClock,
}

impl Periodic {
    fn new(rate: Rate, path: &str) -> Periodic {
        let gap = (1e12 / rate.0 * (1u64 << FRACTION_BITS) as f64 + 0.5) as u128;
        Periodic { gap, next: 0, clock: ArrivalClock::new(path) }
    }
}

impl Arrival for Periodic {
    fn stamp(&mut self, requests: &mut [Request]) -> Result<(), WorkloadError> {
        for request in requests {
            let rounded = (self.next + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
            let now = Time::from_ps(u64::try_from(rounded).unwrap_or(u64::MAX));
            request.arrival = self.clock.at(now)?;
            self.next += self.gap;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
