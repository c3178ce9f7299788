//! Host reads suspend the program or erase in progress on their die.
//!
//! # Model
//! Reads go before all other waiting operations of their die, as with `read_priority`. If a read finds a program
//! or an erase in progress, it suspends it on arrival. An operation is suspended at most `suspensions` times;
//! then reads wait for its end. It resumes when no read waits. A suspension applies to all planes of the die, and
//! the operation resumes when none of them reads.
//!
//! # Not modeled
//! Limits by the remaining time of an operation; different times for erases and programs.
//!
//! # Sources
//! wu-he-2012 (suspension of programs and erases).
//!
//! # Checks
//! The law of suspension; a suspending die with independent planes against a step-by-step simulation.

#[cfg(test)]
mod tests;

use super::{FlashSchedulingFamily, Scheduling};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::Time;

/// Reads suspend programs and erases.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Time to suspend a program or an erase for a read.
    #[config(max = "1 s")]
    pub suspend: Time,
    /// Time to resume it.
    #[config(default = "0 s", max = "1 s", source = "assumed: included in `suspend`")]
    pub resume: Time,
    /// Maximum suspensions of one program or erase.
    #[config(default = 8, min = 1, max = 65536, source = "assumed: a limit, so that every program ends")]
    pub suspensions: u32,
    /// Whether the planes of a die serve host reads independently (asynchronous independent plane reads).
    #[config(default = false, source = "assumed: only dies from about 2020 on support it")]
    pub independent_planes: bool,
}

/// The component's descriptor and constructor.
pub const ROOM: Room<FlashSchedulingFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "suspension",
        "host reads also suspend programs and erases",
        &["wu-he-2012"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Scheduling::Suspension(slot.config(none))),
};
