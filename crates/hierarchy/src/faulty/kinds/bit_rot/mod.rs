//! Bit rot: one bit of a write is inverted on the medium.
//!
//! # Model
//! The fault inverts one random bit of the written data, and no error-correcting code detects the error. The
//! bit stays inverted until the data is written again.
//!
//! # Not modeled
//! The model omits bits that flip some time after the write: every read after the write returns the
//! inverted bit. The model also omits writes with several inverted bits.
//!
//! # Sources
//! Bairavasundaram et al., "An analysis of data corruption in the storage stack", FAST 2008.
//!
//! # Checks
//! After each affected write, exactly one stored bit differs from the written data.

#[cfg(test)]
mod tests;

use super::{Built, Decision, DecisionPoint, Fault, FaultFamily, Wrong};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Op, Random, Request, Time};

/// One bit of a write is inverted on the medium.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
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
        "bit_rot",
        "one bit of a write is inverted on the medium",
        &["bairavasundaram-2008"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = BitRot { random: builder.random(&format!("{}.bit", slot.path())) };
        Ok(Built {
            when: config.when,
            touchable: WRITES,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct BitRot {
    random: Random,
}

impl Fault for BitRot {
    fn arrives(&mut self, _now: Time, _until: Time, request: &Request) -> Decision {
        Decision::Write(Wrong::Rotten { bit: self.random.below(u64::from(request.bytes) * 8) })
    }
}
