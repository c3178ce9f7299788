//! Disconnect: the host cannot reach the device.
//!
//! # Model
//! The device does not perform a request that arrives during the disconnection. The request fails with a
//! transport error after `timeout`. The device completes a request that is already in progress, but a reply
//! that it sends during the disconnection is lost. The request then fails with a transport error after
//! `timeout`, although the data of a write is on the medium. The device stays powered.
//!
//! # Not modeled
//! The model omits the time to reconnect, and power losses that accompany the disconnection.
//!
//! # Sources
//! Linux nvme driver: io_timeout; Gunawi et al., "Fail-slow at scale", FAST 2018.
//!
//! # Checks
//! Every request that arrives during the disconnection fails, and so does a request whose reply is lost.
//! All other requests succeed. The data of writes that were in progress is on the medium.

#[cfg(test)]
mod tests;

use super::{ALL, Built, Decision, DecisionPoint, Fault, FaultFamily};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Request, Status, Time};

/// The device cannot be reached.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Time until the host stops waiting for a reply.
    #[config(default = "30 s", max = "1 h", source = "standard: nvme_core.io_timeout of Linux")]
    pub timeout: Time,
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
        "disconnect",
        "the device is unreachable but keeps its power",
        &["linux-nvme", "gunawi-2018"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = Disconnect { timeout: config.timeout };
        Ok(Built {
            when: config.when,
            touchable: ALL,
            decision_point: DecisionPoint::OnBoth,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct Disconnect {
    #[state(skip = "from the configuration")]
    timeout: Time,
}

impl Fault for Disconnect {
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        Decision::Instead { after: self.timeout, status: Status::TransportError }
    }

    fn answers(&mut self, _now: Time, _until: Time) -> Decision {
        Decision::AnswerLost { after: self.timeout }
    }
}
