//! First in, first out: clean segments in the order in which they were written.
//!
//! # Model
//! All segment positions are one partition. The victim is the position that was cleaned longest ago, which is
//! also the one written longest ago. Positions that were never cleaned come first, in their order. A segment
//! without an invalid page is skipped.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! wu-1994, section 4.4, which uses this order inside its partitions. The cost under uniform writes is that of
//! desnoyers-2012.
//!
//! # Checks
//! Cost under uniform writes against v = exp(-(1 - v) / u) at six utilizations, and under mixed hot and cold
//! writes against the law of each kind, within 2 %.

use super::{Cleaner, CleaningFamily, Decision, View};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// Cleaning in order has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const ROOM: Room<CleaningFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "fifo",
        "cleans segments in the order in which they were written",
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
