//! CXL.mem: the device is memory of the host's, cache line by cache line.
//!
//! # Models
//! Reads and writes are lines of 64 B, of which one CPU has `lines` under way. A read is a request that is answered
//! with data; a write is sent with its data and answered when the device has it: a program that waits for its last
//! answer knows that its bytes have arrived. What crosses comes in slots of 16 B, four of them and 4 B more a flit: a
//! request or an answer without data takes one, data five.
//!
//! # Leaves out
//! Lines that a cache already holds, and those it reads before it writes them; back-invalidation; credits; slots that
//! go empty. `ssd` and `onyx` serve a read as a whole when its first line is asked for, and a write when all of it is
//! there: they answer its last line when they are done, and the others at once.
//!
//! # Sources
//! cxl-2.0 for flits and slots; li-2023 for latencies.
//!
//! # Checks
//! A line alone, slot by slot; lines under way over their round trip; the same before drives, on top of what these take.

use super::HostInterfaceFamily;
use super::express::ExpressConfig;
use super::lines::Lines;
use super::rules::{Crossing, Rules};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::Time;

#[cfg(test)]
mod tests;

/// CXL.mem: the device is memory of the host's, cache line by cache line.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Generation of PCI Express whose lanes it uses.
    #[config(default = 5, min = 5, max = 5, source = "standard: cxl-2.0")]
    pub generation: u32,
    /// Lanes: 1, 2, 4, 8 or 16.
    #[config(default = 8, min = 1, max = 16, source = "assumed: as many as the card has")]
    pub lanes: u32,
    /// From one end of an idle link to the other, without the time that bytes take.
    #[config(
        default = "35 ns",
        max = "1 ms",
        source = "assumed: half of the 70 ns that li-2023 gives for a port's way there and back"
    )]
    pub flight: Time,
    /// CPU time of a line.
    #[config(default = "5 ns", max = "1 s", source = "assumed: a dozen instructions")]
    pub issue: Time,
    /// Outstanding lines per CPU.
    #[config(default = 10, min = 1, max = 1024, source = "assumed: the line-fill buffers of a core")]
    pub lines: u32,
    /// CPUs that load and store.
    #[config(default = 20, min = 1, max = 1024, source = "paper: zuolo-2017 table 1, two Xeon E5-2680 v2")]
    pub cpus: u32,
}

/// This room.
pub const ROOM: Room<HostInterfaceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "cxl_mem",
        "CXL.mem: the device is memory of the host's",
        &["cxl-2.0", "li-2023"],
        3,
        include_str!("mod.rs"),
    ),
    build: |slot, host| {
        let config: Config = slot.config(host.families);
        Ok(Box::new(Lines::new(&config.express(), config.cpus, rules(&config))))
    },
};

impl Config {
    /// The link that it uses.
    fn express(&self) -> ExpressConfig {
        ExpressConfig {
            generation: self.generation,
            lanes: self.lanes,
            payload: 256,
            read_request: 512,
            flight: self.flight,
            credits: None,
        }
    }
}

/// Bytes of a cache line.
const LINE: u64 = 64;
/// Bytes that cross for a slot: a quarter of a flit of 68 B.
const SLOT: u64 = 17;

fn rules(config: &Config) -> Rules {
    let (alone, with_data) = (SLOT, 5 * SLOT);
    Rules {
        line: LINE,
        issue: config.issue,
        outstanding: config.lines,
        read: Crossing { down: alone, up: with_data },
        write: Crossing { down: with_data, up: alone },
        is_answered: true,
    }
}
