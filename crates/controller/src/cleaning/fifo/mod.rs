//! First in, first out: clean segments in the order in which they were filled.
//!
//! # Models
//! All places are one partition. The victim is the place cleaned longest ago, which is the one filled
//! longest ago; places never cleaned come first, in their order. A segment without an invalid page is
//! passed over.
//!
//! # Leaves out
//! Nothing.
//!
//! # Sources
//! wu-1994 section 4.4, which uses this order inside its partitions. The cost under uniform writes is that
//! of desnoyers-2012.
//!
//! # Checks
//! Cost under uniform writes against v = exp(-(1 - v) / u) at six utilisations, and under mixed hot and cold
//! writes against the same law for each kind, within 2 %.

use super::{Cleaner, CleaningFamily, Decision, View};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// Cleaning in order has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The room.
pub const ROOM: Room<CleaningFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "fifo",
        "cleans segments in the order in which they were filled",
        &["wu-1994", "desnoyers-2012"],
        1,
        include_str!("mod.rs"),
    ),
    build: |_slot, _context| Ok(Box::new(Fifo)),
};

#[derive(State)]
struct Fifo;

impl Cleaner for Fifo {
    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        Decision::clean(view.oldest(partition))
    }
}
