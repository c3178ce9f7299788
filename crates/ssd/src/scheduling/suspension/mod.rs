//! Reads of the host suspend the program or the erase that their die has begun.
//!
//! # Models
//! Reads go before everything that waits for their die, as with `read_priority`. A read that finds its die at a program or
//! an erase suspends it when it comes, `suspensions` times at most; otherwise it waits for its end. What was suspended is
//! resumed when no read waits any more. What suspends a program or an erase suspends it for all planes, and it is resumed
//! when none of them reads.
//!
//! # Leaves out
//! Limits by the time that an operation has left; other times for erases than for programs.
//!
//! # Sources
//! wu-he-2012 (suspension of programs and erases).
//!
//! # Checks
//! The law of suspension; a die with independent planes that suspends, against one that is stepped.

#[cfg(test)]
mod tests;

use super::{FlashSchedulingFamily, Scheduling};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::Time;

/// Reads suspend programs and erases.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// What it takes to suspend a program or an erase for a read.
    #[config(max = "1 s")]
    pub suspend: Time,
    /// What it takes to resume it.
    #[config(default = "0 s", max = "1 s", source = "assumed: a part of `suspend`")]
    pub resume: Time,
    /// How often one program or erase may be suspended.
    #[config(default = 8, min = 1, max = 65536, source = "assumed: so that every program ends")]
    pub suspensions: u32,
    /// Whether planes of a die read for the host each by itself, while others do: asynchronous independent plane reads.
    #[config(default = false, source = "assumed: a command for dies that have it, from about 2020 on")]
    pub independent_planes: bool,
}

/// This room.
pub const ROOM: Room<FlashSchedulingFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "suspension",
        "reads of the host also suspend programs and erases",
        &["wu-he-2012"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Scheduling::Suspension(slot.config(none))),
};
