//! Errors: requests fail.
//!
//! # Model
//! *Media error*: the device does not receive the request. The request fails after the time `after`. A read
//! returns no data, a write changes no data, and a flush makes no data durable. *Transport error*: the device
//! performs the request, but its reply is lost. The request fails when the time `after` has passed since the
//! lost reply. The data of a failed write is on the medium.
//!
//! # Not modeled
//! The model omits retries by the host. To model writes that are partly performed, use the fault
//! `torn_write`.
//!
//! # Sources
//! Linux dm-flakey (error_reads, error_writes) and dm-error; the fail_make_request fault of Linux.
//!
//! # Checks
//! With `every`, exactly every n-th request fails. A write with a media error changes no data. A write with a
//! transport error writes all of its data.

#[cfg(test)]
mod tests;

use super::{ALL, Built, Decision, DecisionPoint, Fault, FaultFamily};
use crate::faulty::when::When;
use nacre_config::{Choice, Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Request, Status, Time};

/// Requests end with an error.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Type of error.
    #[config(default = "medium", source = "assumed: the most frequent device error")]
    pub at: At,
    /// Time until the error is reported.
    #[config(default = "0 s", max = "1 h", source = "assumed: immediately, like dm-flakey")]
    pub after: Time,
    /// Selects the affected requests and times.
    #[config(flatten)]
    pub when: When,
}

/// Point at which a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum At {
    /// The request fails on the medium, before it is performed.
    Medium,
    /// The request fails on the reply path, after it is performed.
    Transport,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, ALL);
}

/// The component's descriptor and constructor.
pub const MODEL: Model<FaultFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "error",
        "requests fail with a media or transport error",
        &["linux-dm"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = Error { at: config.at, after: config.after };
        Ok(Built {
            when: config.when,
            touchable: ALL,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct Error {
    #[state(skip = "from the configuration")]
    at: At,
    #[state(skip = "from the configuration")]
    after: Time,
}

impl Fault for Error {
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        match self.at {
            At::Medium => Decision::Instead { after: self.after, status: Status::MediaError },
            At::Transport => Decision::AnswerLost { after: self.after },
        }
    }
}
