//! A memory window: loads and stores of the host's CPUs through a base address register.
//!
//! # Models
//! A write is stores. With `write_combining` a CPU gathers 64 B before it sends them as one packet, without it each
//! store of 8 B is a packet. Stores are posted: the CPU continues at once. To know that they have arrived it reads
//! from the device after the last of them, and that read stays behind them on the link; then the write is done. A
//! read is loads, of 8 B each, or of 64 B where the window is combined and the CPU streams; the CPU has at most
//! `loads` of them under way. Reads and writes keep one CPU each.
//!
//! # Leaves out
//! Buffers of the CPU that fill and stores that it puts in another order; caches, which hold nothing of a window;
//! a CPU that stands still meanwhile takes no time of the others. Trims take no time. `ssd` and `onyx` serve a read as a
//! whole when its first load is there, and a write when all of it is.
//!
//! # Sources
//! neugebauer-2018 for latencies of the link; `kernel::pcie` for packets; what CPUs do is assumed.
//!
//! # Checks
//! A store and a load alone, byte by byte; a read takes a round trip for as many lines as are under way; the same before
//! drives, on top of what these take.

use super::HostInterfaceFamily;
use super::express::ExpressConfig;
use super::lines::Lines;
use super::rules::{Crossing, Rules};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::Time;

#[cfg(test)]
mod tests;

/// A memory window: loads and stores of the host's CPUs through a base address register.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// The link.
    #[config(flatten)]
    pub express: ExpressConfig,
    /// Whether 64 B cross together; otherwise 8 B.
    #[config(default = true, source = "assumed: how such windows are mapped")]
    pub write_combining: bool,
    /// CPU time of the loads or stores of a packet.
    #[config(
        default = "10 ns",
        max = "1 s",
        source = "assumed: eight stores of 8 B and a flush of their buffer"
    )]
    pub issue: Time,
    /// Outstanding loads per CPU.
    #[config(
        default = 1,
        min = 1,
        max = 1024,
        source = "assumed: loads that are not cached wait for each other"
    )]
    pub loads: u32,
    /// CPUs that load and store.
    #[config(default = 20, min = 1, max = 1024, source = "paper: zuolo-2017 table 1, two Xeon E5-2680 v2")]
    pub cpus: u32,
}

/// This room.
pub const ROOM: Room<HostInterfaceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "memory_window",
        "loads and stores through a window of PCI Express, with write combining",
        &["neugebauer-2018"],
        3,
        include_str!("mod.rs"),
    ),
    build: |slot, host| {
        let config: Config = slot.config(host.families);
        Ok(Box::new(Lines::new(&config.express, config.cpus, rules(&config))))
    },
};

fn rules(config: &Config) -> Rules {
    let pcie = config.express.pcie();
    let line = if config.write_combining { 64 } else { 8 };
    Rules {
        line,
        issue: config.issue,
        outstanding: config.loads,
        read: Crossing { down: pcie.read_request_bytes(line), up: pcie.completion_bytes(line) },
        write: Crossing { down: pcie.write_bytes(line), up: 0 },
        is_answered: false,
    }
}
