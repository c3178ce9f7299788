//! A die performs its operations in the order in which they were issued.
//!
//! # Model
//! A host read waits for all operations that were issued to its die before it. If an operation waits for another
//! one, later operations may go first. A read occupies the whole die, with all its planes.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! wu-he-2012, which compares with it.
//!
//! # Checks
//! A read after three programs.

#[cfg(test)]
mod tests;

use super::{FlashSchedulingFamily, Scheduling};
use nacre_config::{Configuration, Descriptor, Room};

/// Turns in the order of issue have no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const ROOM: Room<FlashSchedulingFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "in_order",
        "operations in issue order; reads wait for programs and erases",
        &["wu-he-2012"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Scheduling::InOrder(slot.config(none))),
};
