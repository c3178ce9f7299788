//! Delay: replies are delayed.
//!
//! # Model
//! The fault delays the reply to a request by `latency`, which is a constant or a distribution. The device
//! can serve the next request during the delay.
//!
//! # Not modeled
//! The delay does not occupy the device. It therefore uses no energy and does not block other requests.
//!
//! # Sources
//! Linux dm-delay (Documentation/admin-guide/device-mapper/delay.rst).
//!
//! # Checks
//! With a constant `latency`, every completion is later by exactly this latency.

#[cfg(test)]
mod tests;

use super::{ALL, Built, Decision, DecisionPoint, Fault, FaultFamily, Later};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader, Slot};
use nacre_controller::latency::{self, Latency, LatencyFamily};
use nacre_kernel::state::State;
use nacre_kernel::{Request, Time};

/// Replies are delayed.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Added latency: a duration or a distribution.
    pub latency: Slot<LatencyFamily>,
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
        "delay",
        "replies are delayed by a constant or random latency",
        &["linux-dm"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = Delay { latency: latency::build(&config.latency, builder)? };
        Ok(Built {
            when: config.when,
            touchable: ALL,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct Delay {
    latency: Box<dyn Latency>,
}

impl Fault for Delay {
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        Decision::Later(Later::By(self.latency.draw()))
    }
}
