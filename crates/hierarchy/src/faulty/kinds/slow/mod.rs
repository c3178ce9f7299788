//! Slow: requests take a multiple of their normal latency.
//!
//! # Model
//! The fault delays the reply to a request, so that the request takes `factor` times the latency of the
//! device, including queueing. The device can serve the next request during the delay, so the factor is the
//! same at every queue depth.
//!
//! # Not modeled
//! The fault does not lower the throughput of a device that serves many requests concurrently. To limit the
//! throughput, add the fault `limit`.
//!
//! # Sources
//! Gunawi et al., "Fail-slow at scale", FAST 2018, report devices that are several times slower for minutes
//! to months.
//!
//! # Checks
//! For integer factors, every latency is exactly `factor` times the latency without the fault.

#[cfg(test)]
mod tests;

use super::{ALL, Built, Decision, DecisionPoint, Fault, FaultFamily, Later};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Request, Time};

/// The device is slower by a factor.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Factor by which the latency of a request is multiplied.
    #[config(min = 1.0, max = 1000.0)]
    pub factor: f64,
    /// Selects the affected requests and times.
    #[config(flatten)]
    pub when: When,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, ALL);
}

/// The component's descriptor and constructor.
pub const MODEL: Model<FaultFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "slow",
        "requests take a multiple of their time",
        &["gunawi-2018"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = Slow { factor: config.factor };
        Ok(Built {
            when: config.when,
            touchable: ALL,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct Slow {
    #[state(skip = "from the configuration")]
    factor: f64,
}

impl Fault for Slow {
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        Decision::Later(Later::Times(self.factor - 1.0))
    }
}
