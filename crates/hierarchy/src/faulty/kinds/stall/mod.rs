//! Stall: replies are held and then sent together.
//!
//! # Model
//! The fault holds the replies of the device until the stall ends and then sends them together. It also
//! holds the replies to requests that were in progress when the stall started. The device continues to work
//! during the stall.
//!
//! # Not modeled
//! The model omits stalls in which the device itself stops working. To model a backlog after the stall, add
//! the fault `limit`.
//!
//! # Sources
//! Linux dm suspend and resume; Amazon EBS "pause I/O" in AWS Fault Injection Service.
//!
//! # Checks
//! No reply is sent during the stall. Replies are sent at the end of the stall, exact to the picosecond.

#[cfg(test)]
mod tests;

use super::{ALL, Built, Decision, DecisionPoint, Fault, FaultFamily};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::Time;
use nacre_kernel::state::State;

/// Replies are held and then sent together.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Selects the affected requests and times.
    #[config(flatten)]
    pub when: When,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, ALL);
    if config.when.duration.is_none() {
        reader.conflict("duration", "none", "a stall that never ends answers nothing", "give a duration");
    }
}

/// The component's descriptor and constructor.
pub const MODEL: Model<FaultFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "stall",
        "replies are held for some time and then sent together",
        &["linux-dm", "aws-fis"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = Stall;
        Ok(Built {
            when: config.when,
            touchable: ALL,
            decision_point: DecisionPoint::OnAnswer,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct Stall;

impl Fault for Stall {
    fn answers(&mut self, _now: Time, until: Time) -> Decision {
        Decision::Hold(until)
    }
}
