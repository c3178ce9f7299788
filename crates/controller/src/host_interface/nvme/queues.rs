//! NVMe commands in queue pairs, and transfers of data from and to host memory.

use super::super::express::{Direction, Express, ExpressConfig};
use super::super::{Arrival, Cpus, HostPort, Lap, Leg, Part, Spent};
use super::{COMMAND, COMPLETION, Config, Notice, REGISTER};
use nacre_kernel::Activity::{Link, Queue, Software};
use nacre_kernel::event::Agenda;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Op, Request, Resource, Stage, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// NVMe: queue pairs in host memory, over PCI Express.
///
/// A pair fetches one command at a time, and all fetches take the same time. The fetches of a pair are
/// therefore in doorbell order, and their times need no events.
#[derive(State)]
pub(super) struct Nvme {
    #[state(skip = "from the configuration")]
    config: Config,
    express: Express,
    #[state(skip = "from the configuration")]
    packets: Packets,
    cpus: Cpus<Job>,
    pairs: Vec<Pair>,
    /// Index of the pair that receives the next command.
    turn: usize,
    /// Commands by request number.
    #[state(varies)]
    commands: Vec<Command>,
    /// End times of the data reads in progress, if their number is limited.
    tags: BinaryHeap<Reverse<Time>>,
    agenda: Agenda<Event>,
    #[state(skip = "set by `detail`")]
    is_detailed: bool,
}

/// A submission queue and its completion queue.
#[derive(Debug, Default, State)]
struct Pair {
    /// End time of the pair's last fetch.
    fetched: Time,
    /// Number of outstanding commands. If it has reached `queue_depth`, further commands stay in `waiting`.
    under_way: u32,
    #[state(varies)]
    waiting: VecDeque<u32>,
    /// Start and end of the coalescing time of the last interrupt.
    window: (Time, Time),
}

/// An outstanding command.
#[derive(Clone, Debug, Default, Value)]
struct Command {
    pair: u32,
    /// CPU time to submit the command.
    submission: Time,
    laps: Vec<Lap>,
    /// Link time of the completion and the interrupt.
    notice: Time,
}

/// Work of a CPU for a command.
#[derive(Clone, Copy, Debug, Value)]
enum Job {
    Submit(u32),
    Reap(u32),
}

/// Next event of a command.
#[derive(Clone, Debug, Value)]
enum Event {
    Over(Part, Leg, Spent),
    /// The host is notified of the completion. The time is the CPU time to handle the completion.
    Noticed(u32, Time),
}

/// Link times of packets with fixed sizes.
#[derive(Clone, Copy, Debug)]
struct Packets {
    /// A doorbell write or an interrupt message.
    register: Time,
    /// The read request to fetch a command.
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

/// Records the stages of a command, if stages are enabled.
struct Stages<'a>(Option<&'a mut Vec<Lap>>);

impl Stages<'_> {
    #[inline]
    fn note(&mut self, stage: Stage, activity: Activity, end: Time, alone: Time) {
        if let Some(laps) = &mut self.0 {
            laps.push(Lap { stage, activity, end, alone });
        }
    }
}

impl Nvme {
    pub(super) fn new(config: Config) -> Nvme {
        Nvme {
            express: Express::new(&config.express),
            packets: Packets::of(&config.express),
            cpus: Cpus::new(config.cpus),
            pairs: (0..config.queue_pairs.unwrap_or(1)).map(|_| Pair::default()).collect(),
            turn: 0,
            commands: Vec::new(),
            tags: BinaryHeap::new(),
            agenda: Agenda::new(),
            is_detailed: false,
            config,
        }
    }

    /// Starts command `number`, which has been assigned a slot in its pair.
    fn start(&mut self, now: Time, number: u32) {
        let command = &mut self.commands[number as usize];
        Stages(self.is_detailed.then_some(&mut command.laps)).note(Stage::QueuePair, Queue, now, Time::ZERO);
        let work = command.submission;
        if work.is_zero() { self.ring(now, number) } else { self.cpus.arrive(now, Job::Submit(number), work) }
    }

    /// Rings the doorbell for command `number`, which the driver has built. The device then starts to fetch
    /// the command.
    fn ring(&mut self, now: Time, number: u32) {
        let (flight, memory) = (self.express.flight, self.config.host_memory);
        let Packets { register, request, command: size, .. } = self.packets;
        let command = &mut self.commands[number as usize];
        let mut stages = Stages(self.is_detailed.then_some(&mut command.laps));
        self.express.post_for(Direction::ToDevice, register);
        let rung = now + register + flight;
        stages.note(Stage::Driver, Software, now, command.submission);
        stages.note(Stage::Doorbell, Link, rung, register + flight);
        let mut begin = rung;
        if self.config.queue_pairs.is_some() {
            let pair = &mut self.pairs[command.pair as usize];
            begin = rung.max(pair.fetched);
            pair.fetched = begin + request + flight + memory + size + flight;
            stages.note(Stage::QueuePair, Queue, begin, Time::ZERO);
        }
        self.express.post_for(Direction::ToHost, request);
        self.express.post_for(Direction::ToDevice, size);
        let asked = begin + request + flight;
        let there = asked + memory + size + flight;
        stages.note(Stage::CommandFetch, Link, asked, request + flight);
        stages.note(Stage::HostMemory, Link, asked + memory, memory);
        stages.note(Stage::CommandFetch, Link, there, size + flight);
        let link = register + flight + request + flight + memory + size + flight;
        let laps = std::mem::take(&mut command.laps);
        let spent = Spent { software: command.submission, link, device: Time::ZERO, laps };
        self.agenda.schedule(there, Event::Over(Part::whole(number), Leg::Begun, spent));
    }

    /// Reads `bytes` bytes of data from host memory. Returns the arrival time of the data and the link
    /// time. The host answers reads in the order of their requests.
    fn fetch(&mut self, now: Time, bytes: u64, laps: &mut Vec<Lap>) -> (Time, Time) {
        let (flight, memory) = (self.express.flight, self.config.host_memory);
        let pcie = self.express.pcie;
        // The device requests each piece before the data of the piece crosses the link. It requests later
        // pieces during the transfer.
        let asking = self.express.post(Direction::ToHost, pcie.read_request_bytes(bytes.min(PIECE)));
        self.express.post(Direction::ToHost, pcie.read_request_bytes(bytes.saturating_sub(PIECE)));
        let found = now + asking + flight + memory;
        let (left, answer) = self.express.send(Direction::ToDevice, found, pcie.completion_bytes(bytes));
        let mut stages = Stages(self.is_detailed.then_some(laps));
        stages.note(Stage::DmaIn, Link, now + asking + flight, asking + flight);
        stages.note(Stage::HostMemory, Link, found, memory);
        stages.note(Stage::DmaIn, Link, left + flight, answer + flight);
        (left + flight, asking + flight + memory + answer + flight)
    }

    /// Like [`Nvme::fetch`], with at most `tags` outstanding read requests.
    fn fetch_with_tags(&mut self, now: Time, bytes: u64, tags: u32, laps: &mut Vec<Lap>) -> (Time, Time) {
        let (flight, memory) = (self.express.flight, self.config.host_memory);
        let pcie = self.express.pcie;
        let (mut there, mut link) = (now, flight + memory + flight);
        let (mut left, most) = (bytes, u64::from(pcie.read_request));
        while left > 0 {
            let size = left.min(most);
            let free = if self.tags.len() == tags as usize { self.tags.pop() } else { None };
            let begin = free.map_or(now, |Reverse(free)| free.max(now));
            let asking = self.express.post(Direction::ToHost, pcie.read_request_bytes(size));
            let found = begin + asking + flight + memory;
            let (gone, answer) = self.express.send(Direction::ToDevice, found, pcie.completion_bytes(size));
            self.tags.push(Reverse(gone + flight));
            there = there.max(gone + flight);
            link += if left == bytes { asking + answer } else { answer };
            left -= size;
        }
        Stages(self.is_detailed.then_some(laps)).note(Stage::DmaIn, Link, there, link);
        (there, link)
    }

    /// Returns the time of the interrupt for a completion of `pair` at `at`, and whether this completion
    /// causes the interrupt.
    fn interrupted(&mut self, pair: u32, at: Time) -> (Time, bool) {
        let window = &mut self.pairs[pair as usize].window;
        let (begin, end) = *window;
        if begin < end && begin <= at && at <= end {
            return (end, false);
        }
        *window = (at, at + self.config.coalescing);
        (window.1, true)
    }

    /// Ends command `number`, which frees a slot of its pair. Returns the completed leg.
    fn ended(&mut self, at: Time, number: u32, software: Time) -> Arrival {
        self.express.post_for(Direction::ToDevice, self.packets.register);
        let command = &mut self.commands[number as usize];
        Stages(self.is_detailed.then_some(&mut command.laps)).note(Stage::Reap, Software, at, software);
        let laps = std::mem::take(&mut command.laps);
        let spent = Spent { software, link: command.notice, device: Time::ZERO, laps };
        let pair = &mut self.pairs[command.pair as usize];
        match pair.waiting.pop_front() {
            Some(next) => self.start(at, next),
            None => pair.under_way -= 1,
        }
        Arrival { at, part: Part::whole(number), leg: Leg::Ended, spent }
    }

    fn happen(&mut self, at: Time, event: Event) -> Option<Arrival> {
        match event {
            Event::Over(part, leg, spent) => Some(Arrival { at, part, leg, spent }),
            Event::Noticed(number, work) if work.is_zero() => Some(self.ended(at, number, work)),
            Event::Noticed(number, work) => {
                self.cpus.arrive(at, Job::Reap(number), work);
                None
            }
        }
    }
}

/// Size of the pieces in which data is transferred, in bytes: one page.
const PIECE: u64 = 4096;

impl HostPort for Nvme {
    fn piece(&self) -> u64 {
        PIECE
    }

    fn has_commands(&self) -> bool {
        true
    }

    fn submit(&mut self, now: Time, number: u32, _request: &Request, work: Time) -> Option<Spent> {
        let pair = self.turn;
        self.turn = (pair + 1) % self.pairs.len();
        if self.commands.len() <= number as usize {
            self.commands.resize_with(number as usize + 1, Command::default);
        }
        let submission = self.config.driver + work;
        self.commands[number as usize] = Command { pair: pair as u32, submission, ..Command::default() };
        let pair = &mut self.pairs[pair];
        if self.config.queue_depth.is_some_and(|most| pair.under_way == most) {
            pair.waiting.push_back(number);
        } else {
            pair.under_way += 1;
            self.start(now, number);
        }
        None
    }

    fn bring(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent> {
        if op != Op::Write || bytes == 0 {
            return Some(Spent::nothing());
        }
        let mut laps = Vec::new();
        let (there, link) = match self.config.tags {
            Some(tags) => self.fetch_with_tags(now, bytes, tags, &mut laps),
            None => self.fetch(now, bytes, &mut laps),
        };
        let spent = Spent { link, laps, ..Spent::default() };
        self.agenda.schedule(there, Event::Over(part, Leg::Brought, spent));
        None
    }

    fn answer(&mut self, now: Time, part: Part, op: Op, bytes: u64) -> Option<Spent> {
        if op != Op::Read || bytes == 0 {
            return Some(Spent::nothing());
        }
        let packets = self.express.pcie.write_bytes(bytes);
        let (there, link) = self.express.send(Direction::ToHost, now, packets);
        let mut laps = Vec::new();
        Stages(self.is_detailed.then_some(&mut laps)).note(Stage::DmaOut, Link, there, link);
        let spent = Spent { link, laps, ..Spent::default() };
        self.agenda.schedule(there, Event::Over(part, Leg::Answered, spent));
        None
    }

    fn end(&mut self, now: Time, request: u32, _op: Op) -> Option<Spent> {
        // All packets to the host are posted, so they follow each other without waiting.
        let (Packets { register, completion, .. }, flight) = (self.packets, self.express.flight);
        self.express.post_for(Direction::ToHost, completion);
        let told = now + completion;
        let pair = self.commands[request as usize].pair;
        let (noticed, work, message, stage) = match self.config.notice {
            Notice::Polling => (told, self.config.reap, Time::ZERO, Stage::Completion),
            Notice::Interrupt => match self.interrupted(pair, told) {
                (sent, true) => {
                    self.express.post_for(Direction::ToHost, register);
                    let work = self.config.interrupt + self.config.reap;
                    (sent + register, work, register, Stage::Interrupt)
                }
                (sent, false) => (sent, self.config.reap, Time::ZERO, Stage::Interrupt),
            },
        };
        let command = &mut self.commands[request as usize];
        command.notice = completion + message + flight;
        let mut stages = Stages(self.is_detailed.then_some(&mut command.laps));
        stages.note(Stage::Completion, Link, told, completion);
        stages.note(stage, Link, noticed + flight, message + flight);
        self.agenda.schedule(noticed + flight, Event::Noticed(request, work));
        None
    }

    fn detail(&mut self, is_detailed: bool) {
        self.is_detailed = is_detailed;
    }

    fn next(&self) -> Time {
        self.cpus.next().min(self.agenda.next())
    }

    fn pop_before(&mut self, until: Time) -> Option<Arrival> {
        loop {
            let arrival = if self.cpus.next() <= self.agenda.next() {
                match self.cpus.end_before(until)? {
                    (at, Job::Submit(number), _) => {
                        self.ring(at, number);
                        None
                    }
                    (at, Job::Reap(number), software) => Some(self.ended(at, number, software)),
                }
            } else {
                let (at, event) = self.agenda.pop_before(until)?;
                self.happen(at, event)
            };
            if arrival.is_some() {
                return arrival;
            }
        }
    }

    fn power_fail(&mut self, at: Time) {
        self.express.power_fail(at);
        self.cpus.power_fail(at);
        self.pairs.fill_with(Pair::default);
        self.commands.clear();
        self.tags.clear();
        self.agenda.clear();
    }

    fn restart_ledger(&mut self) {
        self.express.restart_ledger();
        self.cpus.restart_ledger();
    }

    fn resources(&self) -> Vec<Resource> {
        let [to_device, to_host] = self.express.resources();
        vec![self.cpus.resource("cpus"), to_device, to_host]
    }

    fn check_invariants(&self) {
        self.cpus.check_invariants();
        for pair in &self.pairs {
            let most = self.config.queue_depth.unwrap_or(u32::MAX);
            assert!(pair.under_way <= most, "{} commands are under way, {most} may be", pair.under_way);
            assert!(pair.waiting.is_empty() || pair.under_way == most, "a command waits for a place");
        }
    }
}
