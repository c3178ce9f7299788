//! First ready, first come, first served (FR-FCFS): row hits and ready banks come first, and rows are opened
//! ahead of their accesses.
//!
//! # Model
//! The scheduler considers the `queue` oldest waiting accesses. When the last burst of one of these accesses
//! has been issued, the scheduler also considers the next access. In each clock cycle, the scheduler issues
//! the first command in the following list that the timing constraints allow:
//!
//! 1. The read or write of the oldest access whose row is open (a row hit).
//! 2. The command that opens the row of an access, or that closes another row in the bank of the access.
//!    Older accesses come first.
//!
//! A row stays open while an older access needs the row. If all rows of one of the considered accesses are
//! open, they also stay open until this access is served. Reads and writes have equal priority.
//!
//! # Not modeled
//! - A starvation limit: an access waits until its bank has no more row hits.
//! - Batching of writes.
//! - Partial row hits: an access that spans rows in several bank groups is a hit only when all of these rows
//!   are open.
//!
//! # Sources
//! rixner-2000.
//!
//! # Checks
//! For random 64 B requests, an independent clock-by-clock simulation computes the same completion times, to
//! the picosecond. The tests use queues of 1 to 64 accesses, closed loops of 1 to 64 clients, three arrival
//! rates, and the row policies `open` and `closed`. In one workload, 25 % of the accesses are row hits. In
//! another workload, all accesses are row hits, and 70 % are reads. With several ranks, the request rates are
//! within 1.5 % of the rates of a clock-by-clock scheduler.

use super::{MemoryScheduler, MemorySchedulingFamily};
use nacre_config::{Configuration, Descriptor, Model};

#[cfg(test)]
mod tests;

/// FR-FCFS scheduling.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Number of oldest waiting accesses from which the scheduler selects.
    #[config(
        default = 32,
        min = 1,
        max = 1024,
        source = "assumed: a usual value in simulators of memory controllers"
    )]
    pub queue: u32,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<MemorySchedulingFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "fr_fcfs",
        "row hits and ready banks come first, and rows are opened ahead",
        &["rixner-2000"],
        4,
        include_str!("mod.rs"),
    ),
    build: |slot, controller| Ok(Box::new(FrFcfs { config: slot.config(controller.families) })),
};

struct FrFcfs {
    config: Config,
}

impl MemoryScheduler for FrFcfs {
    fn ahead(&self) -> u32 {
        self.config.queue
    }
}
