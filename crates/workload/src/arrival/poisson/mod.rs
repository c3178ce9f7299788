//! Poisson arrivals: an open loop of many independent clients.
//!
//! # Model
//! In this open loop, the gaps between requests are independent and exponentially distributed with mean 1 /
//! rate. Many independent users together generate such arrivals. In the eNVy paper (wu-1994), TPC-A
//! transactions also arrive as a Poisson process.
//!
//! # Not modeled
//! The model omits bursts, a daily rhythm, and the self-similarity of real traffic. To include these effects,
//! use `bursts` or `rhythm`, or replay a trace.
//!
//! # Sources
//! - kleinrock-1975: Kleinrock, "Queueing Systems I", section 2.4.
//! - wu-1994, section 5.2: Poisson arrivals of TPC-A transactions.
//!
//! # Checks
//! The mean gap is 1 / rate, and the squared coefficient of variation of the gaps is 1. The index of
//! dispersion of counts is 1 for every window. A chi-square test compares the gaps with the exponential
//! distribution.

use super::{Arrival, ArrivalClock, ArrivalFamily};
use crate::error::WorkloadError;
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Rate, Request, Time};

/// Independent arrivals with a mean rate.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Mean request rate.
    #[config(min = "0.000001 /s", max = "1000 GHz")]
    pub rate: Rate,
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<ArrivalFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "poisson",
        "independent arrivals at a mean rate (open loop)",
        &["kleinrock-1975", "wu-1994"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        Ok(Box::new(Poisson {
            gap_ps: 1e12 / config.rate.0,
            random: builder.random(slot.path()),
            clock: ArrivalClock::new(slot.path()),
        }))
    },
};

#[derive(State)]
struct Poisson {
    /// Mean gap in picoseconds.
    #[state(skip = "from the configuration")]
    gap_ps: f64,
    random: Random,
    clock: ArrivalClock,
}

impl Arrival for Poisson {
    fn stamp(&mut self, requests: &mut [Request]) -> Result<(), WorkloadError> {
        for request in requests {
            let gap = Time::from_ps((self.random.exponential() * self.gap_ps + 0.5) as u64);
            request.arrival = self.clock.after(gap)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
