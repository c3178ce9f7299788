//! Requests end with an error.
//!
//! # Models
//! A medium error means that the request is not done: the device does not get it, and the error is reported after the time
//! `after`. A read returns no bytes, a write changes none, a flush saves nothing. A transport error means that the device
//! does the request and its answer is lost: the error is reported `after` later, and a write that failed is on the medium.
//!
//! # Leaves out
//! Retries of the host. Writes that are done in part: use `torn_write`.
//!
//! # Sources
//! Linux dm-flakey (error_reads, error_writes) and dm-error; the fail_make_request fault of Linux.
//!
//! # Checks
//! With `every`, exactly every n-th request fails. A failed write changes nothing or, with a transport error, everything.

#[cfg(test)]
mod tests;

use super::{ALL, Asked, Built, Decision, Fault, FaultFamily};
use crate::faulty::when::When;
use nacre_config::{Choice, Configuration, Descriptor, Reader, Room};
use nacre_kernel::state::State;
use nacre_kernel::{Request, Status, Time};

/// Requests end with an error.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Where the request fails.
    #[config(default = "medium", source = "assumed: what most errors of devices are")]
    pub at: At,
    /// Time until the error is reported.
    #[config(default = "0 s", max = "1 h", source = "assumed: as dm-flakey, at once")]
    pub after: Time,
    /// Which requests it touches, and when.
    #[config(flatten)]
    pub when: When,
}

/// Where a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum At {
    /// On the medium: the request is not done.
    Medium,
    /// On the way back: the request is done, and its answer is lost.
    Transport,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, ALL);
}

/// This room.
pub const ROOM: Room<FaultFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "error",
        "requests end with an error of the medium or of the transport",
        &["linux-dm"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = Error { at: config.at, after: config.after };
        Ok(Built { when: config.when, touchable: ALL, asked: Asked::OnArrival, fault: Box::new(fault) })
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
