//! First ready, first come, first served: open rows first, and rows opened ahead.
//!
//! # Models
//! Of accesses that come together those to open rows go first. Rows of up to `queue` accesses are closed and opened
//! while the first of them moves its data.
//!
//! # Leaves out
//! An access to an open row that goes before older ones of earlier requests: what a request takes is known when it
//! comes. With requests of 4 KiB at random it would be one in thousands. For the same reason an access to a free bank
//! waits behind an earlier one to a busy bank, which costs requests of 64 B at random more than half of their rate.
//!
//! # Sources
//! rixner-2000.
//!
//! # Checks
//! Rows of many banks are opened as often as four at a time allow; an open row goes first.

use super::{Access, MemoryScheduler, MemorySchedulingFamily};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_media::dram::Place;

#[cfg(test)]
mod tests;

/// First ready, first come, first served.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Accesses that the controller sees at one time.
    #[config(
        default = 32,
        min = 1,
        max = 1024,
        source = "assumed: usual in simulators of memory controllers"
    )]
    pub queue: u32,
}

/// This room.
pub const ROOM: Room<MemorySchedulingFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "fr_fcfs",
        "open rows first, and rows opened ahead",
        &["rixner-2000"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, controller| Ok(Box::new(FrFcfs { config: slot.config(controller.families) })),
};

struct FrFcfs {
    config: Config,
}

impl MemoryScheduler for FrFcfs {
    fn order(&self, accesses: &mut [Access], is_open: &dyn Fn(Place) -> bool) {
        if accesses.len() > 1 && accesses.iter().any(|access| is_open(access.place)) {
            accesses.sort_by_key(|access| !is_open(access.place));
        }
    }

    fn ahead(&self) -> u32 {
        self.config.queue
    }
}
