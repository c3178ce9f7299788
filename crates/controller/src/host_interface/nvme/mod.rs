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

use super::express::{Express, ExpressConfig, Way};
use super::processors::Processors;
use super::{HostInterface, HostInterfaceFamily, Laps, Step};
use nacre_config::{Choice, Configuration, Descriptor, Room};
use nacre_kernel::Activity::{Link, Queue, Software};
use nacre_kernel::state::State;
use nacre_kernel::{Op, Request, Resource, Stage, Time, Timeline};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    /// CPU time for an interrupt and for waking the program that waits, beside `reap`.
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
    /// Commands under way at one time, in each queue pair; absent means as many as come.
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
pub(super) const REGISTER: u64 = 4;
/// Bytes of a command.
pub(super) const COMMAND: u64 = 64;
/// Bytes of a completion.
pub(super) const COMPLETION: u64 = 16;

#[derive(State)]
struct Nvme {
    #[state(skip = "from the configuration")]
    config: Config,
    express: Express,
    #[state(skip = "from the configuration")]
    packets: Packets,
    processors: Processors,
    pairs: Vec<Pair>,
    /// The queue pair of the command that began last.
    pair: usize,
    /// When the reads under way end, where there may be so many only.
    tags: BinaryHeap<Reverse<Time>>,
    /// When the latest command was issued: what comes before it waits for no place.
    latest: Time,
    /// Whether the command that began last has a place.
    has_place: bool,
    #[state(skip = "of no meaning between two requests")]
    laps: Laps,
}

/// A submission queue and its completion queue.
#[derive(Default, State)]
struct Pair {
    /// When its commands are fetched, where they wait for each other.
    fetches: Timeline,
    /// When the commands under way end, where there may be so many only.
    under_way: BinaryHeap<Reverse<Time>>,
    /// The time that the last interrupt waited for completions: its beginning and its end.
    window: (Time, Time),
}

/// What packets of one size take on the link: every command has them.
#[derive(Clone, Copy, Debug)]
struct Packets {
    /// A doorbell, or the message of an interrupt.
    register: Time,
    /// The request for a command, and its answer.
    request: Time,
    command: Time,
    completion: Time,
}

impl Packets {
    fn of(express: &ExpressConfig) -> Packets {
        let pcie = express.pcie();
        let time = |bytes| pcie.raw().time_for(bytes);
        Packets {
            register: time(pcie.write_bytes(REGISTER)),
            request: time(pcie.read_request_bytes(COMMAND)),
            command: time(pcie.completion_bytes(COMMAND)),
            completion: time(pcie.write_bytes(COMPLETION)),
        }
    }
}

impl Nvme {
    fn new(config: Config) -> Nvme {
        Nvme {
            express: Express::new(&config.express),
            packets: Packets::of(&config.express),
            processors: Processors::new(config.cpus),
            pairs: (0..config.queue_pairs.unwrap_or(1)).map(|_| Pair::default()).collect(),
            pair: 0,
            tags: BinaryHeap::new(),
            latest: Time::ZERO,
            has_place: false,
            laps: Laps::default(),
            config,
        }
    }

    /// When a command that is issued at `now` has a place among those under way.
    fn place(&mut self, now: Time) -> Time {
        let Some(most) = self.config.queue_depth else { return now };
        self.has_place = now >= self.latest;
        if !self.has_place {
            return now;
        }
        self.latest = now;
        let under_way = &mut self.pairs[self.pair].under_way;
        let first = if under_way.len() == most as usize { under_way.pop() } else { None };
        first.map_or(now, |Reverse(first)| now.max(first))
    }

    /// The device reads a command from the host's memory.
    #[inline]
    fn fetch_command(&mut self, at: Time) -> Step {
        let (flight, memory) = (self.express.flight, self.config.host_memory);
        let Packets { request, command, .. } = self.packets;
        let at = if self.config.queue_pairs.is_some() {
            let fetches = &mut self.pairs[self.pair].fetches;
            let begin = fetches.reserve(at, request + flight + memory + command + flight);
            self.laps.note(Stage::QueuePair, Queue, begin, Time::ZERO);
            begin
        } else {
            at
        };
        let asked = self.express.post_for(Way::ToHost, at, request);
        let answered = self.express.post_for(Way::ToDevice, asked + flight + memory, command);
        self.laps.note(Stage::CommandFetch, Link, asked + flight, request + flight);
        self.laps.note(Stage::HostMemory, Link, asked + flight + memory, memory);
        self.laps.note(Stage::CommandFetch, Link, answered + flight, command + flight);
        let link = request + flight + memory + command + flight;
        Step { there: answered + flight, link, ..Step::default() }
    }

    /// The device reads `bytes` of data from there.
    fn fetch(&mut self, at: Time, bytes: u64) -> Step {
        let Express { pcie, flight, .. } = self.express;
        let (asked, asking) = self.express.post(Way::ToHost, at, pcie.read_request_bytes(bytes));
        let found = asked + flight + self.config.host_memory;
        let (answered, answer) = self.express.send(Way::ToDevice, found, pcie.completion_bytes(bytes));
        self.laps.note(Stage::DmaIn, Link, asked + flight, asking + flight);
        self.laps.note(Stage::HostMemory, Link, found, self.config.host_memory);
        self.laps.note(Stage::DmaIn, Link, answered + flight, answer + flight);
        let link = asking + flight + self.config.host_memory + answer + flight;
        Step { there: answered + flight, link, ..Step::default() }
    }

    /// The device reads `bytes` of data, with so many `tags`.
    fn fetch_with_tags(&mut self, at: Time, bytes: u64, tags: u32) -> Step {
        let Express { pcie, flight, .. } = self.express;
        let memory = self.config.host_memory;
        let mut all = Step { there: at, link: flight + memory + flight, ..Step::default() };
        let (mut left, most) = (bytes, u64::from(pcie.read_request));
        while left > 0 {
            let size = left.min(most);
            let free = if self.tags.len() == tags as usize { self.tags.pop() } else { None };
            let begin = free.map_or(at, |Reverse(free)| free.max(at));
            let (asked, asking) = self.express.post(Way::ToHost, begin, pcie.read_request_bytes(size));
            let packets = pcie.completion_bytes(size);
            let (answered, answer) = self.express.send(Way::ToDevice, asked + flight + memory, packets);
            let there = answered + flight;
            self.tags.push(Reverse(there));
            all.there = all.there.max(there);
            all.link += if left == bytes { asking + answer } else { answer };
            left -= size;
        }
        self.laps.note(Stage::DmaIn, Link, all.there, all.link);
        all
    }

    /// When the interrupt is sent that stands for a completion at `at`, and whether it is one of its own.
    fn interrupted(&mut self, at: Time) -> (Time, bool) {
        let wait = self.config.coalescing;
        let window = &mut self.pairs[self.pair].window;
        let (begin, end) = *window;
        if begin < end && begin <= at && at <= end {
            return (end, false);
        }
        if at >= begin {
            *window = (at, at + wait);
        }
        (at + wait, true)
    }
}

impl HostInterface for Nvme {
    fn piece(&self) -> u64 {
        4096
    }

    fn has_commands(&self) -> bool {
        true
    }

    fn begin(&mut self, now: Time, _request: &Request) -> Step {
        self.pair = if self.pair + 1 < self.pairs.len() { self.pair + 1 } else { 0 };
        let placed = self.place(now);
        let submitted = self.processors.work_in_parts(placed, self.config.driver);
        let (bell, flight) = (self.packets.register, self.express.flight);
        let rung = self.express.post_for(Way::ToDevice, submitted.there, bell);
        self.laps.note(Stage::QueuePair, Queue, placed, Time::ZERO);
        self.laps.note(Stage::Driver, Software, submitted.there, submitted.software);
        self.laps.note(Stage::Doorbell, Link, rung + flight, bell + flight);
        let fetched = self.fetch_command(rung + flight);
        Step { software: submitted.software, link: bell + flight + fetched.link, ..fetched }
    }

    fn bring(&mut self, at: Time, op: Op, bytes: u64) -> Step {
        match (op, self.config.tags) {
            (Op::Write, Some(tags)) => self.fetch_with_tags(at, bytes, tags),
            (Op::Write, None) => self.fetch(at, bytes),
            _ => Step::none(at),
        }
    }

    fn answer(&mut self, at: Time, op: Op, bytes: u64) -> Step {
        if op != Op::Read {
            return Step::none(at);
        }
        let packets = self.express.pcie.write_bytes(bytes);
        let (there, link) = self.express.send(Way::ToHost, at, packets);
        self.laps.note(Stage::DmaOut, Link, there, link);
        Step { there, link, ..Step::default() }
    }

    fn end(&mut self, at: Time, _op: Op) -> Step {
        // All that goes to the host is posted: one packet follows the other.
        let (Packets { register, completion: telling, .. }, flight) = (self.packets, self.express.flight);
        let told = self.express.post_for(Way::ToHost, at, telling);
        self.laps.note(Stage::Completion, Link, told, telling);
        let (noticed, work, message) = match self.config.notice {
            Notice::Polling => (told, self.config.reap, Time::ZERO),
            Notice::Interrupt => match self.interrupted(told) {
                (sent, true) => {
                    let left = self.express.post_for(Way::ToHost, sent, register);
                    (left, self.config.interrupt + self.config.reap, register)
                }
                (sent, false) => (sent, self.config.reap, Time::ZERO),
            },
        };
        let reaped = self.processors.work_in_parts(noticed + flight, work);
        self.express.post_for(Way::ToDevice, reaped.there, register);
        let notice = match self.config.notice {
            Notice::Polling => Stage::Completion,
            Notice::Interrupt => Stage::Interrupt,
        };
        self.laps.note(notice, Link, noticed + flight, message + flight);
        self.laps.note(Stage::Reap, Software, reaped.there, work);
        if self.has_place && self.config.queue_depth.is_some() {
            self.pairs[self.pair].under_way.push(Reverse(reaped.there));
        }
        Step { there: reaped.there, software: work, link: telling + message + flight, device: Time::ZERO }
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        Some(&mut self.laps)
    }

    fn advance(&mut self, to: Time) {
        self.express.advance(to);
        self.processors.advance(to);
        self.pairs.iter_mut().for_each(|pair| pair.fetches.forget_before(to));
    }

    fn power_fail(&mut self, at: Time) {
        self.express.power_fail(at);
        self.processors.power_fail(at);
        self.pairs.fill_with(Pair::default);
        self.tags.clear();
        self.latest = Time::ZERO;
    }

    fn busy_until(&self) -> Time {
        self.express.busy_until().max(self.processors.busy_until())
    }

    fn restart_ledger(&mut self) {
        self.express.restart_ledger();
        self.processors.restart_ledger();
    }

    fn resources(&self) -> Vec<Resource> {
        let [to_device, to_host] = self.express.resources();
        vec![self.processors.resource(), to_device, to_host]
    }

    fn check_invariants(&self) {
        self.express.check_invariants();
        self.processors.check_invariants();
    }
}
