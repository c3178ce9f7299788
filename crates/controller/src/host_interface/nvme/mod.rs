//! NVMe: queue pairs in host memory, over PCI Express.
//!
//! # Model
//! 1. The driver spends CPU time to build a command, writes the command to a submission queue, and rings
//!    the doorbell with a posted write.
//! 2. The device fetches the 64 B command from host memory.
//! 3. For a *write*, the device reads each page of data from host memory. The read requests have at most
//!    `read_request` bytes, and the host replies with packets of at most `payload` bytes. For a *read*, the
//!    device writes each page to host memory.
//! 4. The device writes a 16 B completion to host memory and sends an interrupt. If `coalescing` is set,
//!    the device delays the interrupt by this time after the first completion, so that one interrupt can
//!    cover several completions. The host uses CPU time to handle the interrupt and rings the doorbell of
//!    the completion queue.
//! 5. With polling instead of interrupts, the host detects the completion immediately and uses CPU time to
//!    handle it. A CPU that polls performs no other work.
//!
//! Every packet, including a packet without data, takes transfer time on the link. `credits` limits the
//! data packets in flight in each direction, and `tags` limits the outstanding reads of host memory. Data
//! packets cross the link in the order in which they become ready. The host replies to reads of its memory
//! in the order of their arrival.
//!
//! *Queue pairs*: with `queue_pairs`, the driver distributes commands over the pairs in round-robin order.
//! The device fetches one command of each pair at a time. A fetch therefore waits only for earlier commands
//! of the same pair. `queue_depth` and `coalescing` apply to each pair separately. The CPUs handle
//! submissions and completions in the order of arrival, and no CPU is idle while a submission or a completion
//! waits.
//!
//! # Not modeled
//! - Physical page lists: in real NVMe, a request of more than two pages needs an additional read of host
//!   memory.
//! - Several commands per fetch, weighted arbitration, and unevenly loaded queue pairs.
//! - An aggregation threshold: in real NVMe, a certain number of completions triggers an interrupt
//!   immediately.
//! - Full queues: instead, `queue_depth` limits the number of outstanding commands.
//! - Acknowledgements on the link, and all properties of host memory except its latency.
//!
//! # Sources
//! Commands and completions are from nvme-1.1, and the link latencies are from neugebauer-2018. The packets
//! are modeled in `kernel::pcie`.
//!
//! # Checks
//! - The latency of a single request equals the sum of its delays, calculated byte by byte. The data rates
//!   are within 1 % of the link bandwidth after packet overhead.
//! - With `coalescing`, one interrupt covers many completions. The commands of one pair are fetched one at a
//!   time, and commands of different pairs are fetched in parallel.
//! - The request rate equals a closed form in a closed loop, and also if CPU time, credits, or tags limit
//!   the rate.

mod queues;

use super::HostInterfaceFamily;
use super::express::ExpressConfig;
use nacre_config::{Choice, Configuration, Descriptor, Model};
use nacre_kernel::Time;
use queues::Nvme;

#[cfg(test)]
mod tests;

/// Method by which the host learns of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Notice {
    /// An interrupt from the device.
    Interrupt,
    /// Polling of the completion queue by the host.
    Polling,
}

/// NVMe: queue pairs in host memory, over PCI Express.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Settings of the link.
    #[config(flatten)]
    pub express: ExpressConfig,
    /// CPU time to build a command and submit it.
    #[config(default = "1 us", max = "1 s", source = "assumed: a few thousand instructions")]
    pub driver: Time,
    /// CPU time to handle a completion.
    #[config(default = "500 ns", max = "1 s", source = "assumed: half of the submission time")]
    pub reap: Time,
    /// CPU time for an interrupt and for waking the waiting program, in addition to `reap`.
    #[config(default = "1.5 us", max = "1 s", source = "assumed: one context switch")]
    pub interrupt: Time,
    /// Number of CPUs that run the driver.
    #[config(default = 20, min = 1, max = 1024, source = "paper: zuolo-2017 table 1, two Xeon E5-2680 v2")]
    pub cpus: u32,
    /// Method by which the host learns of a completion.
    #[config(default = "interrupt", source = "assumed: drivers of 2017")]
    pub notice: Notice,
    /// Time that an interrupt waits for more completions after the first completion.
    #[config(default = "0 s", max = "1 s", source = "standard: nvme-1.1, off unless the host sets it")]
    pub coalescing: Time,
    /// Host memory latency, from the arrival of a read to its reply.
    #[config(
        default = "240 ns",
        max = "1 ms",
        source = "assumed: together with flight, it gives the 550 ns that neugebauer-2018 measures for a read of 64 B by a device"
    )]
    pub host_memory: Time,
    /// Maximum number of outstanding reads of data from host memory. A read has at most `read_request` bytes.
    /// Unlimited by default.
    #[config(min = 1, max = 1048576)]
    pub tags: Option<u32>,
    /// Maximum number of outstanding commands per queue pair. Unlimited by default.
    #[config(min = 1, max = 1048576)]
    pub queue_depth: Option<u32>,
    /// Number of queue pairs. Commands are distributed over the pairs in turn, and the device fetches one
    /// command of each pair at a time. By default, no command waits for the fetch of another command, and
    /// all commands share one queue depth and one interrupt.
    #[config(min = 1, max = 65535)]
    pub queue_pairs: Option<u32>,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<HostInterfaceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "nvme",
        "NVMe: queue pairs in host memory, over PCI Express",
        &["nvme-1.1", "neugebauer-2018"],
        4,
        include_str!("mod.rs"),
    ),
    build: |slot, host| Ok(Box::new(Nvme::new(slot.config(host.families)))),
};

/// Size of a doorbell write or an interrupt message, in bytes.
const REGISTER: u64 = 4;
/// Size of a command, in bytes.
const COMMAND: u64 = 64;
/// Size of a completion, in bytes.
const COMPLETION: u64 = 16;
