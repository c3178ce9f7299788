//! Nothing answers for a while, then everything does.
//!
//! # Models
//! An answer that the device gives during the stall comes when the stall ends, all of them at once. Requests that were in
//! progress when it started are held back, too. The device works on meanwhile.
//!
//! # Leaves out
//! A device that does nothing while it stalls: use a `limit` for one that has to catch up.
//!
//! # Sources
//! Linux dm suspend and resume; Amazon EBS "pause I/O" in AWS Fault Injection Service.
//!
//! # Checks
//! No answer comes during the stall; a request is held until its end to the picosecond.

#[cfg(test)]
mod tests;

use super::{ALL, Asked, Built, Decision, Fault, FaultFamily};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Reader, Room};
use nacre_kernel::Time;
use nacre_kernel::state::State;

/// Nothing answers for a while, then everything does.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Which requests it touches, and when.
    #[config(flatten)]
    pub when: When,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, ALL);
    if config.when.duration.is_none() {
        reader.conflict("duration", "none", "a stall that never ends answers nothing", "give a duration");
    }
}

/// This room.
pub const ROOM: Room<FaultFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "stall",
        "nothing answers for a while, then everything does",
        &["linux-dm", "aws-fis"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault = Stall;
        Ok(Built { when: config.when, touchable: ALL, asked: Asked::OnAnswer, fault: Box::new(fault) })
    },
};

#[derive(State)]
struct Stall;

impl Fault for Stall {
    fn answers(&mut self, _now: Time, until: Time) -> Decision {
        Decision::Hold(until)
    }
}
