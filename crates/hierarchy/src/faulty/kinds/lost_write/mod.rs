//! Lost write: a write is acknowledged but not performed.
//!
//! # Model
//! The device does not receive the write. The host receives an acknowledgement after the time `after`. Later
//! reads return the old data without an error.
//!
//! # Not modeled
//! The model omits the service time of a lost write.
//!
//! # Sources
//! Bairavasundaram et al., "An analysis of data corruption in the storage stack", FAST 2008.
//!
//! # Checks
//! After a lost write, reads return the old data. All bytes of the write count as silently corrupted.

#[cfg(test)]
mod tests;

use super::{Built, Decision, DecisionPoint, Fault, FaultFamily, Wrong};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Op, Request, Time};

/// A write is acknowledged but not performed.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Time until the write is acknowledged.
    #[config(default = "10 us", max = "1 h", source = "assumed: the time of a buffered write")]
    pub after: Time,
    /// Selects the affected requests and times.
    #[config(flatten)]
    pub when: When,
}

/// Operations that the fault can affect.
const WRITES: &[Op] = &[Op::Write];

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, WRITES);
}

/// The component's descriptor and constructor.
pub const MODEL: Model<FaultFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "lost_write",
        "writes are acknowledged but not performed",
        &["bairavasundaram-2008"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = LostWrite { after: config.after };
        Ok(Built {
            when: config.when,
            touchable: WRITES,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct LostWrite {
    #[state(skip = "from the configuration")]
    after: Time,
}

impl Fault for LostWrite {
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        Decision::Write(Wrong::Lost { after: self.after })
    }
}
