//! First ready, first come, first served: ready banks and open rows first, and rows opened ahead.
//!
//! # Models
//! A queue of `queue` accesses: the next one enters when one of them has asked for its last burst. One whose bank is
//! ready goes before older ones that wait for theirs, wherever the constraints leave room on the bus; accesses to a bank
//! keep their order. None is put off by a later one, so that none starves. Of accesses that come together those to open
//! rows go first.
//!
//! # Leaves out
//! An access to an open row that goes before older ones of earlier requests to another row of its bank: what a request
//! takes is known when it comes, and those would be put off. With requests of 4 KiB at random it would be one in
//! thousands. For the same reason room that is left between others is not closed up: of small requests at random a
//! scheduler that looks at every clock serves up to a tenth more, from one rank, and a fifth more from four.
//!
//! # Sources
//! rixner-2000.
//!
//! # Checks
//! Requests of 64 B at random against a scheduler that looks at every clock, for queues of one, four and 32; rows of
//! many banks are opened as often as four at a time allow; an open row goes first.

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
        "ready banks and open rows first, and rows opened ahead",
        &["rixner-2000"],
        2,
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
