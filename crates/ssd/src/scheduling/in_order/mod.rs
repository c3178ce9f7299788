//! Operations of a die take their turns in the order in which they were issued.
//!
//! # Models
//! A read of the host waits for everything that was issued to its die before it. What waits for something else lets others
//! go first. A read has the whole die, with all its planes.
//!
//! # Leaves out
//! Nothing.
//!
//! # Sources
//! wu-he-2012, which compares with it.
//!
//! # Checks
//! The read behind three programs.

#[cfg(test)]
mod tests;

use super::{FlashSchedulingFamily, Scheduling};
use nacre_config::{Configuration, Descriptor, Room};

/// Turns in the order of issue have no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// This room.
pub const ROOM: Room<FlashSchedulingFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "in_order",
        "what was issued first; reads wait for programs and erases",
        &["wu-he-2012"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Scheduling::InOrder(slot.config(none))),
};
