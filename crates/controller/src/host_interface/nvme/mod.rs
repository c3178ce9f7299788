//! NVMe: queue pairs in host memory, over PCI Express.
//!
//! # Model
//! 1. The driver takes CPU time, writes a command to a submission queue, and rings the doorbell with a posted
//!    write.
//! 2. The device fetches the command of 64 B from host memory.
//! 3. *Write*: the device reads each page of data from host memory. It sends requests of at most
//!    `read_request`, and the host replies with packets of at most `payload`. *Read*: the device writes each
//!    page to host memory.
//! 4. The device writes a completion of 16 B and sends an interrupt. The interrupt is delayed until
//!    `coalescing` has passed since the first completion that it covers. The host takes CPU time for the
//!    interrupt and rings the doorbell of the completion queue.
//! 5. With polling instead of interrupts, the host sees the completion immediately and takes CPU time to
//!    handle it. While a CPU polls, it performs no other work.
//!
//! Each of these packets takes transfer time on the link. `credits` limits the data packets in flight in each
//! direction, and `tags` limits the reads. Data crosses the link in the order in which it is ready. The host
//! answers reads in request order.
//!
//! *Queue pairs*: with `queue_pairs`, commands are distributed over the pairs in round-robin order. The
//! device fetches one command of each pair at a time. A command waits only for earlier commands of its pair.
//! `queue_depth` and interrupt coalescing apply to each pair. CPUs handle submissions and completions in the
//! order of arrival. No CPU is idle while work is waiting.
//!
//! # Not modeled
//! - Physical page lists: a request of more than two pages needs one more read.
//! - Several commands per fetch, weighted arbitration, and unevenly loaded pairs.
//! - A threshold on the number of completions at which an interrupt is sent immediately.
//! - Queues that become full: `queue_depth` limits the outstanding requests instead.
//! - Properties of host memory other than its latency. Acknowledgements on the link.
//!
//! # Sources
//! nvme-1.1 for commands and completions; neugebauer-2018 for link latencies; `kernel::pcie` for packets.
//!
//! # Checks
//! - The latency of a single request is exact, byte by byte. Data rates are within 1 % of the closed form for
//!   packets.
//! - One interrupt covers many completions. Fetches are serial within a pair and parallel across pairs.
//! - Rates equal their closed forms: the closed-loop throughput formula, the limit set by CPU time, and the
//!   limits set by credits and tags.

mod queues;

use super::HostInterfaceFamily;
use super::express::ExpressConfig;
use nacre_config::{Choice, Configuration, Descriptor, Room};
use nacre_kernel::Time;
use queues::Nvme;

#[cfg(test)]
mod tests;

/// How the host is notified of a completion.
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
    /// How the host is notified of a completion.
    #[config(default = "interrupt", source = "assumed: drivers of 2017")]
    pub notice: Notice,
    /// Time that an interrupt waits for more completions after the first one.
    #[config(default = "0 s", max = "1 s", source = "standard: nvme-1.1, off unless the host sets it")]
    pub coalescing: Time,
    /// Host memory latency, from the arrival of a read to its reply.
    #[config(
        default = "240 ns",
        max = "1 ms",
        source = "assumed: with flight, the 550 ns that neugebauer-2018 measures for a device's read of 64 B"
    )]
    pub host_memory: Time,
    /// Maximum outstanding reads of host memory for data, each of at most `read_request`; absent means no
    /// limit.
    #[config(min = 1, max = 1048576)]
    pub tags: Option<u32>,
    /// Maximum outstanding commands per queue pair; absent means no limit.
    #[config(min = 1, max = 1048576)]
    pub queue_depth: Option<u32>,
    /// Number of queue pairs. Commands are distributed over them in turn, and each pair fetches one command
    /// at a time. If absent, no command waits for the fetch of another, and all commands share one queue
    /// depth and interrupt.
    #[config(min = 1, max = 65535)]
    pub queue_pairs: Option<u32>,
}

/// The component's descriptor and constructor.
pub const ROOM: Room<HostInterfaceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "nvme",
        "NVMe: queue pairs in host memory, over PCI Express",
        &["nvme-1.1", "neugebauer-2018"],
        4,
        include_str!("mod.rs"),
    ),
    build: |slot, host| Ok(Box::new(Nvme::new(slot.config(host.families)))),
};

/// Bytes of a doorbell write or an interrupt message.
const REGISTER: u64 = 4;
/// Bytes of a command.
const COMMAND: u64 = 64;
/// Bytes of a completion.
const COMPLETION: u64 = 16;
