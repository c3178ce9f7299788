//! First ready, first come, first served: ready banks and open rows first, and rows opened ahead.
//!
//! # Models
//! A queue of `queue` accesses: the next one enters when one of them has asked for its last burst. One whose bank is
//! ready goes before older ones that wait for theirs, wherever the constraints leave room on the bus. An access to a row
//! that is to be closed for an older one goes before that one as long as there is time (tRTP and tRAS, write recovery);
//! other accesses to a bank keep their order. None is put off by a later one, so that none starves and there is no age
//! from which on it would go first. Of accesses that come together those to open rows go first.
//!
//! # Leaves out
//! An access to an open row that puts an older one to another row of its bank off: what a request takes is known when it
//! comes. Where banks go on in their rows half of the time, a scheduler that does serves a tenth more from one rank. One that takes rows of several groups of banks in turn goes before none of its banks. For the same reason room that is left between others is not closed up: of small requests at random a
//! scheduler that looks at every clock serves up to a tenth more, from one rank, and a fifth more from four.
//!
//! # Sources
//! rixner-2000.
//!
//! # Checks
//! Requests of 64 B at random against a scheduler that looks at every clock, for queues of one, four and 32; rows of
//! many banks are opened as often as four at a time allow; an open row goes first; a row is read up to the last clock
//! before it is closed for an older access, which keeps its time; reads that go on in their rows against a scheduler that
//! puts older ones off for them.

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
        3,
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

    fn passes(&self) -> bool {
        true
    }
}
