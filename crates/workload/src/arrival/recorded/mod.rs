//! Recorded arrivals: the recorded times of a trace in an open loop, optionally accelerated or slowed down.
//!
//! # Model
//! Each request arrives at its recorded time, relative to the first request. The model divides all times by
//! `scale`.
//!
//! # Not modeled
//! The simulated device does not influence the arrival times. The recorded times depend on the speed of the
//! recorded system: with a faster device, some requests would have arrived earlier. To let the device
//! determine the rate, use `closed`. A scale other than 1 also changes the length of the daily rhythm.
//!
//! # Sources
//! snia-traces: the SNIA I/O trace repository, whose traces are replayed in this way. Old traces are often
//! replayed at a higher speed (fio, `replay_time_scale`).
//!
//! # Checks
//! With scale 1, arrival times equal the recorded times to the picosecond. Scale 10 divides every time by
//! ten.

use super::{Arrival, ArrivalClock, ArrivalFamily, RECORDED_TIMES};
use crate::error::WorkloadError;
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;
use nacre_kernel::{Request, Time};

/// Requests arrive at the recorded times of a trace.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Speedup relative to the recorded times, e.g. 10 replays one hour in six minutes.
    #[config(default = 1.0, min = 0.000001, max = 1000000.0, source = "assumed: as recorded")]
    pub scale: f64,
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<ArrivalFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "recorded",
        "recorded times of a trace, optionally accelerated or slowed (open loop)",
        &["snia-traces", "fio"],
        1,
        include_str!("mod.rs"),
    )
    .needing(RECORDED_TIMES),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        Ok(Box::new(Recorded { scale: config.scale, clock: ArrivalClock::new(slot.path()) }))
    },
};

#[derive(State)]
struct Recorded {
    #[state(skip = "from the configuration")]
    scale: f64,
    clock: ArrivalClock,
}

impl Arrival for Recorded {
    fn stamp(&mut self, requests: &mut [Request]) -> Result<(), WorkloadError> {
        if self.scale == 1.0 {
            return Ok(());
        }
        for request in requests {
            // A time after the end saturates at `Time::MAX`, which the clock rejects.
            let scaled = (request.arrival.as_ps() as f64 / self.scale + 0.5) as u64;
            request.arrival = self.clock.at(Time::from_ps(scaled))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
