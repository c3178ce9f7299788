//! Torn write: only the first sectors of a write are written.
//!
//! # Model
//! For a write of several 512 B sectors, only the sectors before a random sector boundary are written. The
//! write is acknowledged as complete. The fault does not affect a write of one sector.
//!
//! # Not modeled
//! The model omits devices that write the sectors of a request out of order.
//!
//! # Sources
//! Bairavasundaram et al., "An analysis of data corruption in the storage stack", FAST 2008.
//!
//! # Checks
//! The sectors before the boundary have new data. The other sectors have old data and count as silently
//! corrupted.

#[cfg(test)]
mod tests;

use super::{Built, Decision, DecisionPoint, Fault, FaultFamily, Wrong};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Op, Random, Request, Time};

/// Only the first sectors of a write are written.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Selects the affected requests and times.
    #[config(flatten)]
    pub when: When,
}

/// Operations that the fault can affect.
const WRITES: &[Op] = &[Op::Write];

/// Atomic unit in bytes.
const SECTOR: u64 = 512;

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, WRITES);
}

/// The component's descriptor and constructor.
pub const MODEL: Model<FaultFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "torn_write",
        "only the first sectors of a write are written",
        &["bairavasundaram-2008"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = TornWrite { random: builder.random(&format!("{}.sector", slot.path())) };
        Ok(Built {
            when: config.when,
            touchable: WRITES,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct TornWrite {
    random: Random,
}

impl Fault for TornWrite {
    fn arrives(&mut self, _now: Time, _until: Time, request: &Request) -> Decision {
        // The tear is at a sector boundary within the write.
        let (first, count) = request.blocks(SECTOR);
        if count < 2 {
            return Decision::None;
        }
        let sector = first + 1 + self.random.below(count - 1);
        Decision::Write(Wrong::Torn { bytes: (sector * SECTOR - request.address) as u32 })
    }
}
