//! NVMe: queue pairs in the host's memory, behind PCI Express.
//!
//! # Models
//! The driver takes CPU time, puts a command into a submission queue and rings the doorbell, a posted write. The
//! device fetches the command, 64 B, from the host's memory. Each page of a write it reads from there: requests of at
//! most `read_request` go up, completions in packets of at most `payload` come down. Each page of a read it writes
//! there. `credits` bound the packets of data under way each way, `tags` the reads. Then it writes a completion of 16 B, and an interrupt, which waits for `coalescing` time after the first
//! completion that it stands for; the host takes CPU time for it and rings the doorbell of the completion queue. Or
//! the host polls: it sees the completion at once, and takes CPU time for it, which is all its CPU does meanwhile.
//! Every one of these packets takes its time on the link. With `queue_pairs` commands go to the pairs in turn, and the
//! device fetches one command of each at a time, so that the pairs take turns (round robin): a command waits for those
//! of its pair that came before it, and for no others; `queue_depth` and the waiting of interrupts are of each pair.
//! CPUs take submissions and completions in the order in which they come: no CPU is idle while there is work. Data
//! crosses the link in the order in which it is ready, and the host answers reads in the order in which it is asked.
//!
//! # Leaves out
//! Lists of pages, for which requests of more than two pages have one more read; several commands in one fetch; weighted
//! arbitration and pairs of different load; the
//! number of completions after which an interrupt no longer waits; queues that are full, which `queue_depth` stands
//! for; the memory of the host beyond its latency; acknowledgements.
//!
//! # Sources
//! nvme-1.1 for commands and completions; neugebauer-2018 for latencies of the link; `kernel::pcie` for packets.
//!
//! # Checks
//! The latency of a request alone, byte by byte; its rates against the closed form of the packets within 1 %; an
//! interrupt for many; commands of a pair one fetch after the other, and pairs side by side; the closed-loop law; as many requests as the CPUs have time for; rates that credits and tags leave against their closed forms.

mod queues;

use super::HostInterfaceFamily;
use super::express::ExpressConfig;
use nacre_config::{Choice, Configuration, Descriptor, Room};
use nacre_kernel::Time;
use queues::Nvme;

#[cfg(test)]
mod tests;

/// How a host learns that a request is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Notice {
    /// The device interrupts it.
    Interrupt,
    /// It looks for completions all the time.
    Polling,
}

/// NVMe: queue pairs in the host's memory, behind PCI Express.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// The link.
    #[config(flatten)]
    pub express: ExpressConfig,
    /// CPU time to build a command and submit it.
    #[config(default = "1 us", max = "1 s", source = "assumed: a few thousand instructions")]
    pub driver: Time,
    /// CPU time to take a completion.
    #[config(default = "500 ns", max = "1 s", source = "assumed: half of what submission takes")]
    pub reap: Time,
    /// CPU time for an interrupt and for waking the program that waits, next to `reap`.
    #[config(default = "1.5 us", max = "1 s", source = "assumed: one change of context")]
    pub interrupt: Time,
    /// CPUs that run the driver.
    #[config(default = 20, min = 1, max = 1024, source = "paper: zuolo-2017 table 1, two Xeon E5-2680 v2")]
    pub cpus: u32,
    /// How the host learns that a request is done.
    #[config(default = "interrupt", source = "assumed: what drivers did in 2017")]
    pub notice: Notice,
    /// How long an interrupt waits for more completions after the first.
    #[config(default = "0 s", max = "1 s", source = "standard: nvme-1.1, off unless the host sets it")]
    pub coalescing: Time,
    /// From a read's arrival at the host to its answer.
    #[config(
        default = "240 ns",
        max = "1 ms",
        source = "assumed: with flight, the 550 ns that neugebauer-2018 measures for a device's read of 64 B"
    )]
    pub host_memory: Time,
    /// Reads of the host's memory, of at most `read_request` each, that the device has under way for data; absent means
    /// enough.
    #[config(min = 1, max = 1048576)]
    pub tags: Option<u32>,
    /// Maximum outstanding commands per queue pair; absent means no limit.
    #[config(min = 1, max = 1048576)]
    pub queue_depth: Option<u32>,
    /// Queue pairs, which take the commands in turn, with one fetch of a command under way for each; absent means that
    /// no command waits for the fetch of another, and that queue depth and interrupts are of all of them.
    #[config(min = 1, max = 65535)]
    pub queue_pairs: Option<u32>,
}

/// This room.
pub const ROOM: Room<HostInterfaceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "nvme",
        "NVMe: queue pairs in the host's memory, behind PCI Express",
        &["nvme-1.1", "neugebauer-2018"],
        4,
        include_str!("mod.rs"),
    ),
    build: |slot, host| Ok(Box::new(Nvme::new(slot.config(host.families)))),
};

/// Bytes of a doorbell, and of the message of an interrupt.
const REGISTER: u64 = 4;
/// Bytes of a command.
const COMMAND: u64 = 64;
/// Bytes of a completion.
const COMPLETION: u64 = 16;
