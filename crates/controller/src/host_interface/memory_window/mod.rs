//! A memory window: host CPUs load and store data through a PCI Express base address register (BAR).
//!
//! # Model
//! *Writes* are stores. With `write_combining`, a CPU collects 64 B and sends this data as one packet.
//! Without `write_combining`, each store of 8 B is a packet. Stores are posted, so the CPU does not wait for
//! them. After the last store, the CPU issues a read to the device. This read cannot overtake the stores on
//! the link. When the read returns, all stores have arrived, and the write is complete.
//!
//! *Reads* are loads of 8 B each. If the window is write-combining, the CPU uses streaming loads of 64 B. A
//! CPU has at most `loads` outstanding loads. A read or write occupies one CPU.
//!
//! # Not modeled
//! - CPU stalls because of full store buffers, and reordered stores.
//! - CPU caches. In real systems, CPUs do not cache the data of such a window.
//! - The effect of a stalled CPU on other CPUs.
//! - The time of trims.
//! - Service by load or store: `ssd` and `onyx` process a request as one operation. A read starts when its
//!   first load arrives, and a write starts when all of its stores have arrived.
//!
//! # Sources
//! The link latencies are from neugebauer-2018. The packets are modeled in `kernel::pcie`, and the behavior
//! of the CPUs is assumed.
//!
//! # Checks
//! The latencies of a single store and of a single load equal the sums of their delays, calculated byte by
//! byte. A read takes one round trip per `loads` loads. With a drive behind the interface, the expected
//! latency includes the latency of the drive.

use super::HostInterfaceFamily;
use super::express::ExpressConfig;
use super::lines::Lines;
use super::rules::{Crossing, Rules};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Time;

#[cfg(test)]
mod tests;

/// A memory window: loads and stores of host CPUs through a base address register (BAR).
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Settings of the link.
    #[config(flatten)]
    pub express: ExpressConfig,
    /// Combine stores into packets of 64 B. If off, each packet has 8 B.
    #[config(default = true, source = "assumed: such windows are usually mapped in this way")]
    pub write_combining: bool,
    /// CPU time per packet, for loads and for stores.
    #[config(
        default = "10 ns",
        max = "1 s",
        source = "assumed: eight stores of 8 B and a flush of their buffer"
    )]
    pub issue: Time,
    /// Maximum number of outstanding loads per CPU.
    #[config(default = 1, min = 1, max = 1024, source = "assumed: uncached loads are serialized")]
    pub loads: u32,
    /// Number of CPUs that issue loads and stores.
    #[config(default = 20, min = 1, max = 1024, source = "paper: zuolo-2017 table 1, two Xeon E5-2680 v2")]
    pub cpus: u32,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<HostInterfaceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "memory_window",
        "loads and stores through a PCI Express memory window, with write combining",
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
