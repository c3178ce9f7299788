//! Misdirected write: a write goes to the wrong address.
//!
//! # Model
//! A write goes to its address plus `distance` and is acknowledged. If the shifted range extends past the
//! end of the device, the write goes to its address minus `distance`. The write overwrites the data at the
//! wrong address, and the requested address keeps the old data. If neither range is within the device, the
//! fault does not affect the write.
//!
//! # Not modeled
//! The model omits random errors in address bits.
//!
//! # Sources
//! Bairavasundaram et al., "An analysis of data corruption in the storage stack", FAST 2008.
//!
//! # Checks
//! The requested address holds the old data, and the wrong address holds the new data. Both ranges count as
//! silently corrupted.

#[cfg(test)]
mod tests;

use super::{Built, Decision, DecisionPoint, Fault, FaultFamily, Wrong};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Bytes, Op, Request, Time};

/// A write goes to the wrong address.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Distance from the requested address.
    #[config(default = "64 KiB", min = "512 B", source = "assumed: the distance to another track or page")]
    pub distance: Bytes,
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
        "misdirected_write",
        "writes go to a wrong address",
        &["bairavasundaram-2008"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = MisdirectedWrite { distance: config.distance.0 };
        Ok(Built {
            when: config.when,
            touchable: WRITES,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct MisdirectedWrite {
    #[state(skip = "from the configuration")]
    distance: u64,
}

impl Fault for MisdirectedWrite {
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        Decision::Write(Wrong::Misdirected { distance: self.distance })
    }
}
