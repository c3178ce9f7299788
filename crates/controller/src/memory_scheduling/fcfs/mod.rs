//! First come, first served: one access after the other.
//!
//! # Models
//! The next access begins, by closing a row or opening one, when the last burst of the one before was asked for.
//!
//! # Leaves out
//! Nothing.
//!
//! # Sources
//! rixner-2000, which compares with it.
//!
//! # Checks
//! Completion times equal those of a simulation clock by clock. Accesses to closed rows follow each other in the time of
//! opening, data and closing.

use super::{MemoryScheduler, MemorySchedulingFamily};
use nacre_config::{Configuration, Descriptor, Room};

#[cfg(test)]
mod tests;

/// First come, first served has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// This room.
pub const ROOM: Room<MemorySchedulingFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "fcfs",
        "one access after the other",
        &["rixner-2000"],
        2,
        include_str!("mod.rs"),
    ),
    build: |_slot, _controller| Ok(Box::new(Fcfs)),
};

struct Fcfs;

impl MemoryScheduler for Fcfs {
    fn ahead(&self) -> u32 {
        1
    }
}
