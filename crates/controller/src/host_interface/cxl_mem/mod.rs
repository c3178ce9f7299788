//! CXL.mem: the host accesses the device as memory, in cache lines.
//!
//! # Model
//! The host reads and writes cache lines of 64 B. A CPU has at most `lines` outstanding line reads and
//! writes. The device replies to the read of a line with the data. The device acknowledges the write of a
//! line when the data has arrived. After the last acknowledgement, all data of a write is therefore in the
//! device. The link transfers data in slots of 16 B. A flit consists of four slots and 4 B of overhead. A
//! request or a reply without data takes one slot. A message with the data of a line takes five slots.
//!
//! # Not modeled
//! - CPU caches, including the read-for-ownership (RFO) that precedes a store to an uncached line.
//! - Back-invalidation, flow-control credits, and empty slots.
//! - Service by line: `ssd` and `onyx` process a request of several lines as one operation. A read starts
//!   when its first line is requested, and a write starts when all of its lines have arrived. Both devices
//!   reply to the last line of a request when the operation completes, and to the other lines immediately.
//!
//! # Sources
//! The format of flits and slots is from cxl-2.0, and the latencies are from li-2023.
//!
//! # Checks
//! The latency of a single line equals the sum of its delays, calculated slot by slot. The rate of line
//! reads and writes equals the number of outstanding lines divided by the round-trip time. With a drive
//! behind the interface, the expected latency includes the latency of the drive.

use super::HostInterfaceFamily;
use super::express::ExpressConfig;
use super::lines::Lines;
use super::rules::{Crossing, Rules};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Time;

#[cfg(test)]
mod tests;

/// CXL.mem: the host accesses the device as memory, in cache lines.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// PCI Express generation of the link.
    #[config(default = 5, min = 5, max = 5, source = "standard: cxl-2.0")]
    pub generation: u32,
    /// Number of lanes: 1, 2, 4, 8, or 16.
    #[config(default = 8, min = 1, max = 16, source = "assumed: the lanes of the card")]
    pub lanes: u32,
    /// One-way delay of an idle link, without transfer time.
    #[config(
        default = "35 ns",
        max = "1 ms",
        source = "assumed: half of the 70 ns round trip of a port in li-2023"
    )]
    pub flight: Time,
    /// CPU time per line.
    #[config(default = "5 ns", max = "1 s", source = "assumed: a dozen instructions")]
    pub issue: Time,
    /// Maximum number of outstanding lines per CPU.
    #[config(default = 10, min = 1, max = 1024, source = "assumed: the line-fill buffers of a core")]
    pub lines: u32,
    /// Number of CPUs that load and store.
    #[config(default = 20, min = 1, max = 1024, source = "paper: zuolo-2017 table 1, two Xeon E5-2680 v2")]
    pub cpus: u32,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<HostInterfaceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "cxl_mem",
        "CXL.mem: the host accesses the device as memory",
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
    /// Settings of the link.
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

/// Size of a cache line, in bytes.
const LINE: u64 = 64;
/// Size of a slot on the link, in bytes: a quarter of a flit of 68 B.
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
