//! First ready, first come, first served: ready banks and open rows first, and rows opened ahead.
//!
//! # Models
//! A queue of `queue` accesses, the oldest that wait; the next one is seen when one of them has asked for its last burst.
//! Each clock one command is given, the first of these that the constraints allow: the read or write of the oldest access
//! whose row is open (a row hit); else, from the oldest access to the newest, the command that opens its row, or the one
//! that closes another row in its bank. A row is not closed while an access wants it that is seen and has all its rows
//! open, nor while an older one does. Reads and writes are served alike.
//!
//! # Leaves out
//! A limit of starvation: an access waits as long as hits of its bank keep coming. Writes that are gathered. An access that
//! takes rows of several groups of banks in turn is a hit when all of them are open.
//!
//! # Sources
//! rixner-2000.
//!
//! # Checks
//! Completion times of requests of 64 B at random equal, to the picosecond, those of an independent simulation that looks
//! at every clock: queues of 1 to 64, 1 to 64 clients and three arrival rates, rows closed and open, 25 % row hits, and 70 % reads
//! of open rows. Of several ranks, rates against a scheduler that looks at every clock, within 1.5 %.

use super::{MemoryScheduler, MemorySchedulingFamily};
use nacre_config::{Configuration, Descriptor, Room};

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
        "ready banks and open rows first, and rows opened ahead",
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
