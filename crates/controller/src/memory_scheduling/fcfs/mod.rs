//! First come, first served (FCFS): the scheduler serves one access after the other.
//!
//! # Model
//! When the last burst of an access has been issued, the next access starts. If necessary, the scheduler
//! first closes or opens a row.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! rixner-2000 uses this policy as a baseline.
//!
//! # Checks
//! A clock-by-clock simulation computes the same completion times. For reads of consecutive banks, the
//! interval between two accesses is tRCD (row-to-column delay) plus one clock cycle, because no row is opened
//! ahead.

use super::{MemoryScheduler, MemorySchedulingFamily};
use nacre_config::{Configuration, Descriptor, Model};

#[cfg(test)]
mod tests;

/// FCFS scheduling has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<MemorySchedulingFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "fcfs",
        "serves one access after the other",
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
