//! Compares every completion time of the tiers with a naive simulation of their rules in steps of one
//! microsecond.

use super::request;
use super::scripted::{CHUNK, EXTENT, Scripted, tiers};
use crate::placement::Exchange;
use crate::workbench::MODELS;
use nacre_kernel::{Op, Request, Time};
use nacre_testkit::Host;
use nacre_testkit::Workbench;
use proptest::prelude::*;
use std::collections::VecDeque;

/// Adjacent chunks that are served together. The first field is `None` if the device serves them,
/// `Some(false)` if the memory serves them, and `Some(true)` if they wait. The other fields are their
/// device, their numbers on the device, and their numbers in the extent.
type Group = (Option<bool>, usize, std::ops::Range<u64>, std::ops::Range<usize>);

/// For each device, the number of servers and the read and write latencies in microseconds.
const DEVICES: [(usize, u64, u64); 2] = [(2, 7, 19), (1, 31, 23)];
/// Number of extents in each tier.
const EXTENTS: u32 = 3;
const EPOCH: u64 = 500;
/// Migration bandwidth in bytes per microsecond. A chunk takes a whole number of microseconds.
const BANDWIDTH: u64 = 128;
/// Length of a simulation in microseconds.
const LAST: u64 = 12_000;

/// Purpose of a device operation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Why {
    Host(usize),
    Moving,
}

/// A request to a device: its purpose, whether it changes data, its range of chunks within a location, and
/// its duration.
#[derive(Clone, Debug)]
struct Job {
    why: Why,
    changes: bool,
    chunks: std::ops::Range<u64>,
    takes: u64,
}

#[derive(Default)]
struct Device {
    queue: VecDeque<Job>,
    busy: Vec<(u64, Job)>,
}

/// Condition that the chunk in progress waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Chunk {
    None,
    HostWrites,
    Reads,
    HostReads,
    Writes,
}

struct Naive {
    devices: [Device; 2],
    /// For each chunk of each extent, its device and its number on that device.
    at: Vec<Vec<(usize, u64)>>,
    queue: Vec<Exchange>,
    /// The exchange in progress, if any, and the number of its next or current chunk.
    active: Option<(Exchange, usize)>,
    chunk: Chunk,
    began: u64,
    next: u64,
    /// For each host request, the number of its parts in progress, and the end of its last part in
    /// microseconds.
    requests: Vec<(usize, u64)>,
    waiting: Vec<(usize, usize, std::ops::Range<usize>)>,
    script: VecDeque<Vec<Exchange>>,
    asked: bool,
    epoch_end: u64,
    moved: u64,
}

impl Naive {
    fn new(script: &[Vec<Exchange>]) -> Naive {
        let chunks = EXTENT / CHUNK;
        let at = |extent: u64| {
            let (device, number) = ((extent / u64::from(EXTENTS)) as usize, extent % u64::from(EXTENTS));
            (0..chunks).map(|chunk| (device, number * chunks + chunk)).collect()
        };
        Naive {
            devices: Default::default(),
            at: (0..2 * u64::from(EXTENTS)).map(at).collect(),
            queue: Vec::new(),
            active: None,
            chunk: Chunk::None,
            began: 0,
            next: 0,
            requests: Vec::new(),
            waiting: Vec::new(),
            script: script.iter().cloned().collect(),
            asked: false,
            epoch_end: EPOCH,
            moved: 0,
        }
    }

    fn submit(&mut self, now: u64, device: usize, job: Job) {
        self.devices[device].queue.push_back(job);
        self.start(now);
    }

    fn start(&mut self, now: u64) {
        for (device, (servers, _, _)) in self.devices.iter_mut().zip(DEVICES) {
            while device.busy.len() < servers
                && let Some(job) = device.queue.pop_front()
            {
                device.busy.push((now + job.takes, job));
            }
        }
    }

    fn jobs(&self, device: usize) -> impl Iterator<Item = &Job> {
        let of = &self.devices[device];
        of.queue.iter().chain(of.busy.iter().map(|(_, job)| job))
    }

    /// The two locations of the chunk in progress.
    fn moving(&self) -> [(usize, u64); 2] {
        let (exchange, chunk) = self.active.expect("a chunk is in progress");
        [exchange.extent, exchange.partner].map(|extent| self.at[extent as usize][chunk])
    }

    fn is_held_up(&self, changes: bool) -> bool {
        self.moving().iter().any(|&(device, number)| {
            let is_it = |job: &Job| job.chunks.contains(&number) && job.changes == changes;
            self.jobs(device).any(|job| matches!(job.why, Why::Host(_)) && is_it(job))
        })
    }

    fn moves(&self) -> bool {
        (0..2).any(|device| self.jobs(device).any(|job| job.why == Why::Moving))
    }

    fn move_chunks(&mut self, now: u64, changes: bool) {
        for (device, number) in self.moving() {
            let (_, read, write) = DEVICES[device];
            let takes = if changes { write } else { read };
            self.submit(now, device, Job { why: Why::Moving, changes, chunks: number..number + 1, takes });
        }
    }

    /// Performs as many stages of the chunk in progress as possible at `now`.
    fn advance(&mut self, now: u64) {
        if self.chunk == Chunk::HostWrites && !self.is_held_up(true) {
            self.chunk = Chunk::Reads;
            self.move_chunks(now, false);
        }
        if self.chunk == Chunk::Reads && !self.moves() {
            self.chunk = Chunk::HostReads;
        }
        if self.chunk == Chunk::HostReads && !self.is_held_up(false) {
            self.chunk = Chunk::Writes;
            self.move_chunks(now, true);
        }
        if self.chunk == Chunk::Writes && !self.moves() {
            self.chunk = Chunk::None;
            let (exchange, chunk) = self.active.expect("a chunk was written");
            let [one, other] = self.moving();
            self.at[exchange.extent as usize][chunk] = other;
            self.at[exchange.partner as usize][chunk] = one;
            self.moved += 2 * CHUNK;
            self.next = now.max(self.began + 2 * CHUNK / BANDWIDTH);
            let is_last = chunk + 1 == (EXTENT / CHUNK) as usize;
            self.active = (!is_last).then_some((exchange, chunk + 1));
            for (request, extent, chunks) in std::mem::take(&mut self.waiting) {
                self.requests[request].0 -= 1;
                self.serve(now, request, extent, chunks, true);
            }
        }
    }

    fn serve(
        &mut self,
        now: u64,
        request: usize,
        extent: usize,
        chunks: std::ops::Range<usize>,
        changes: bool,
    ) {
        // Adjacent chunks that are served in the same way form one group.
        let mut groups: Vec<Group> = Vec::new();
        for chunk in chunks {
            let (device, number) = self.at[extent][chunk];
            let is_it = |(exchange, of): (Exchange, usize)| {
                [exchange.extent, exchange.partner].contains(&(extent as u32)) && of == chunk
            };
            let is_moving = self.chunk != Chunk::None && self.active.is_some_and(is_it);
            let in_memory = matches!(self.chunk, Chunk::HostReads | Chunk::Writes);
            let how = if is_moving && changes {
                Some(true)
            } else if is_moving && in_memory {
                Some(false)
            } else {
                None
            };
            match groups.last_mut() {
                Some((last, on, numbers, of))
                    if how.is_none() && last.is_none() && *on == device && numbers.end == number =>
                {
                    (numbers.end, of.end) = (number + 1, chunk + 1);
                }
                _ => groups.push((how, device, number..number + 1, chunk..chunk + 1)),
            }
        }
        for (how, device, numbers, of) in groups {
            match how {
                Some(false) => self.requests[request].1 = self.requests[request].1.max(now),
                Some(true) => {
                    self.requests[request].0 += 1;
                    self.waiting.push((request, extent, of));
                }
                None => {
                    self.requests[request].0 += 1;
                    let (_, read, write) = DEVICES[device];
                    let takes = if changes { write } else { read };
                    self.submit(
                        now,
                        device,
                        Job { why: Why::Host(request), changes, chunks: numbers, takes },
                    );
                }
            }
        }
    }

    fn ask(&mut self, now: u64, of: &Request) {
        let (first, count) = of.blocks(CHUNK);
        let number = self.requests.len();
        self.requests.push((0, now));
        self.asked = true;
        let each = EXTENT / CHUNK;
        let mut at = first;
        while at < first + count {
            let end = (first + count).min((at / each + 1) * each);
            let chunks = (at % each) as usize..((end - 1) % each + 1) as usize;
            self.serve(now, number, (at / each) as usize, chunks, of.op == Op::Write);
            at = end;
        }
    }

    fn tick(&mut self, now: u64) {
        for device in 0..2 {
            while let Some(at) = self.devices[device].busy.iter().position(|(end, _)| *end == now) {
                let (_, job) = self.devices[device].busy.remove(at);
                if let Why::Host(request) = job.why {
                    let of = &mut self.requests[request];
                    *of = (of.0 - 1, of.1.max(now));
                }
            }
        }
        self.start(now);
        self.advance(now);
        if self.chunk == Chunk::None && self.next <= now {
            if self.active.is_none() && !self.queue.is_empty() {
                self.active = Some((self.queue.remove(0), 0));
            }
            if self.active.is_some() {
                (self.chunk, self.began) = (Chunk::HostWrites, now);
                self.advance(now);
            }
        }
        if self.epoch_end == now {
            self.epoch_end += EPOCH;
            if std::mem::take(&mut self.asked) {
                let busy = self.active.map(|(of, _)| [of.extent, of.partner]).unwrap_or([u32::MAX; 2]);
                let is_free = |of: &Exchange| !busy.contains(&of.extent) && !busy.contains(&of.partner);
                self.queue =
                    self.script.pop_front().unwrap_or_default().into_iter().filter(is_free).collect();
                self.next = self.next.max(now);
            }
            // Decisions take effect immediately.
            if self.chunk == Chunk::None && self.next <= now {
                self.epoch_end -= EPOCH;
                let end = std::mem::replace(&mut self.epoch_end, u64::MAX);
                self.tick(now);
                self.epoch_end = end + EPOCH;
            }
        }
    }
}

fn step() -> impl Strategy<Value = (u64, Request)> {
    let gap = prop_oneof![Just(0), 1..30u64, 30..400u64];
    let op = prop_oneof![Just(Op::Read), Just(Op::Write)];
    let chunks = u64::from(2 * EXTENTS) * (EXTENT / CHUNK);
    (gap, op, 0..chunks, 1..7u64).prop_map(move |(gap, op, first, count)| {
        (gap, request(op, first * CHUNK, (count.min(chunks - first) * CHUNK) as u32))
    })
}

/// Generates exchanges of an extent of the first tier with an extent of the second tier. Each extent occurs
/// once.
fn exchanges() -> impl Strategy<Value = Vec<Exchange>> {
    let order = Just((0..EXTENTS).collect::<Vec<u32>>()).prop_shuffle();
    (order.clone(), order, 0..=EXTENTS as usize).prop_map(|(one, other, count)| {
        let pairs = one.into_iter().zip(other).take(count);
        pairs.map(|(extent, partner)| Exchange { extent, partner: partner + EXTENTS }).collect()
    })
}

fn device((servers, read, write): (usize, u64, u64), path: u64) -> Box<dyn nacre_kernel::event::Device> {
    let capacity = u64::from(EXTENTS) * EXTENT;
    let toml = format!(
        "kind = \"measured\"\nread = \"{read} us\"\nwrite = \"{write} us\"\nparallelism = {servers}\n\
         unit = \"1 MiB\"\ncapacity = \"{capacity} B\"\n"
    );
    Workbench::new(MODELS, path).build(&toml).unwrap_or_else(|problems| panic!("{problems}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn completion_times_equal_those_of_a_naive_model(
        script in prop::collection::vec(exchanges(), 1..12),
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let homes = (0..2 * EXTENTS).map(|extent| (extent / EXTENTS) as u8).collect();
        let placement =
            Scripted { homes, epoch: Time::from_us(EPOCH), script: script.clone(), decided: 0 };
        let devices = DEVICES.iter().zip(1..).map(|(&of, path)| (device(of, path), EXTENTS)).collect();
        let mut host = Host::new(Box::new(tiers(devices, placement, BANDWIDTH * 1_000_000)));
        let mut naive = Naive::new(&script);
        let mut arrivals = Vec::new();
        let mut now = 0;
        for (gap, request) in &steps {
            now += gap;
            arrivals.push((now, *request));
        }
        let mut pending = arrivals.iter().peekable();
        for now in 0..LAST + now {
            while let Some((_, request)) = pending.next_if(|(at, _)| *at == now) {
                naive.ask(now, request);
                host.submit(Time::from_us(now), *request);
            }
            naive.tick(now);
        }
        host.run(Time::from_us(LAST + now));
        host.check();
        for (number, (at, request)) in arrivals.iter().enumerate() {
            let (left, end) = naive.requests[number];
            prop_assert_eq!(left, 0, "{} ends in the naive model", number);
            let found = host.done[number].as_ref().map(|done| done.latency);
            prop_assert_eq!(found, Some(Time::from_us(end - at)), "request {}: {:?} at {}", number, request, at);
        }
        prop_assert_eq!(host.count("migrated_bytes"), naive.moved);
    }
}
