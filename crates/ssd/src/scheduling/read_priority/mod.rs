//! Host reads go before all other operations that wait for their die.
//!
//! # Model
//! A read waits until its die has finished the operation in progress. It then goes before waiting programs,
//! erases, and copies. All other operations of a die are performed in issue order. If an operation waits for
//! another one, later operations may go first, but commands of one superblock keep their order. The planes of a
//! die read one after the other. With `independent_planes`, each plane reads independently: one senses while
//! others do. Programs, erases, and copies occupy the whole die.
//!
//! # Not modeled
//! - Priorities among reads.
//! - Starvation limits: writes do not overtake reads, however long they wait.
//!
//! # Sources
//! cobham-1954 (waiting times under priority); wu-he-2012.
//!
//! # Checks
//! Waits of reads, programs, copies, and erases under non-preemptive priority. A die with independent plane reads
//! against a step-by-step simulation.

#[cfg(test)]
mod tests;

use super::{FlashSchedulingFamily, Scheduling};
use nacre_config::{Configuration, Descriptor, Room};

/// Reads first.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Whether the planes of a die serve host reads independently (asynchronous independent plane reads).
    #[config(default = false, source = "assumed: only dies from about 2020 on support it")]
    pub independent_planes: bool,
}

/// The component's descriptor and constructor.
pub const ROOM: Room<FlashSchedulingFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "read_priority",
        "host reads go before all other waiting operations",
        &["cobham-1954", "wu-he-2012"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Scheduling::ReadPriority(slot.config(none))),
};
