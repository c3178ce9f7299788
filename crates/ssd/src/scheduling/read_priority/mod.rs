//! Reads of the host go before everything that waits for their die.
//!
//! # Models
//! A read waits for the end of what its die has begun, and goes before programs, erases and copies that wait. Everything
//! else waits at its die in the order in which it was issued; what waits for something else lets others go first, but
//! commands of one superblock keep their order. Planes of a die read one after the other, or, with `independent_planes`,
//! each by itself: a plane senses while others do. Programs, erases and copies have the whole die.
//!
//! # Leaves out
//! Priorities among reads, and reads that wait so long for others that writes have to go first.
//!
//! # Sources
//! cobham-1954 (waits under priority); wu-he-2012.
//!
//! # Checks
//! Waits of reads, programs, copies and erases under priority without preemption; a die whose planes read by themselves
//! against one that is stepped.

#[cfg(test)]
mod tests;

use super::{FlashSchedulingFamily, Scheduling};
use nacre_config::{Configuration, Descriptor, Room};

/// Reads first.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Whether planes of a die read for the host each by itself, while others do: asynchronous independent plane reads.
    #[config(default = false, source = "assumed: a command for dies that have it, from about 2020 on")]
    pub independent_planes: bool,
}

/// This room.
pub const ROOM: Room<FlashSchedulingFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "read_priority",
        "reads of the host before everything that waits for their die",
        &["cobham-1954", "wu-he-2012"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Scheduling::ReadPriority(slot.config(none))),
};
