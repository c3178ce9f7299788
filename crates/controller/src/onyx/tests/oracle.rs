//! Compares completion times under load with an independent simulation of the rules. At every time at which
//! an operation could start, the simulation examines all waiting operations.

use super::{drive, request};
use nacre_kernel::{Op, Request, Streams, Time};
use nacre_testkit::oracle::Load;
use nacre_testkit::{assert_close, visits};
use std::collections::{BTreeSet, VecDeque};

const ROW: u64 = 4096;
const CHUNK: u64 = 256;
const BEAT: u64 = 64;
const READ: u64 = 410_300;
const FILL: u64 = 3_200_000;
/// Number of logical rows of a controller of 16 ranks with four chips of 64 KiB.
const ROWS: u64 = 1024;
/// Number of words per chunk.
const WORDS: u64 = 32;
const POLL: u64 = 115_000;
/// Only the medium takes time, and one controller serves all requests.
const FRONT: &str = "controllers = 1\nchip = \"64 KiB\"\ndriver = \"0 s\"\npipeline = \"0 s\"\ntags = 65536\n\
    link = \"1000000000 GB/s\"\nring = \"1000000000 GB/s\"\nprogram = \"120 us\"\n";

/// Settings of one controller as in the documentation, with times in picoseconds.
#[derive(Clone, Copy)]
struct Rules {
    row_ranks: u64,
    setup: u64,
    program: u64,
    /// Time to program zeros, and number of zero words per chunk.
    zeros: u64,
    zero_words: u64,
    /// Time between two polls, or 0 if the rank is not polled.
    poll_interval: u64,
    /// Time to decode a beat.
    decode: u64,
    is_late: bool,
    places: usize,
    refill: u64,
    /// Number of writes between two moves of a row, or 0 if rows do not move.
    interval: u64,
    in_order: bool,
}

const PLAIN: Rules = Rules {
    row_ranks: 8,
    setup: 3_000_000,
    program: 120_000_000,
    zeros: 120_000_000,
    zero_words: 0,
    poll_interval: 0,
    decode: 0,
    is_late: false,
    places: 3,
    refill: 0,
    interval: 0,
    in_order: false,
};

impl Rules {
    fn settings(&self) -> String {
        let Rules { row_ranks, setup, program, is_late, places, refill, interval, in_order, .. } = *self;
        let leveling = match interval {
            0 => "\"none\"".into(),
            _ => format!("{{ kind = \"start_gap\", interval = {interval} }}"),
        };
        let polls = match self.poll_interval {
            0 => String::new(),
            interval => format!("poll_interval = \"{interval} ps\"\npoll = \"{POLL} ps\"\n"),
        };
        // The code has codewords of 8 B, and its setting is the time for 2 KiB.
        let code = match self.decode {
            0 => String::new(),
            beat => {
                let time = beat / 8 * 256;
                format!("ecc = {{ kind = \"bch\", t = 1, codeword = \"8 B\", decode = \"{time} ps\" }}\n")
            }
        };
        format!(
            "{FRONT}row_ranks = {row_ranks}\nrow_setup = \"{setup} ps\"\nlate_writes = {places}\n\
             buffered_writes = {places}\nlate_refill = \"{refill} ps\"\nscheduling = \"{}\"\n\
             completion = \"{}\"\nwear_leveling = {leveling}\nprogram_zeros = \"{} ps\"\n\
             zero_words = \"{} %\"\n{polls}{code}",
            if in_order { "in_order" } else { "available" },
            if is_late { "late" } else { "early" },
            self.zeros,
            self.zero_words as f64 * 100.0 / WORDS as f64,
        )
        .replace("program = \"120 us\"", &format!("program = \"{program} ps\""))
    }

    /// Time of a program. Each nonzero word adds the same time.
    fn program_time(&self) -> u64 {
        self.zeros + (self.program - self.zeros) / WORDS * (WORDS - self.zero_words)
    }
}

/// Purpose of an operation: a part of a request, or a copy for the write with this number.
#[derive(Clone, Copy, PartialEq)]
enum For {
    Request(usize),
    CopyOut(u64),
    CopyIn(u64),
}

#[derive(Clone, Copy)]
struct Operation {
    purpose: For,
    is_write: bool,
    group: u64,
    /// For a write, the next chunk and the number of remaining chunks. For a read, the number of beats.
    chunk: u64,
    left: u64,
    beats: u64,
    lead: u64,
    /// For a host write, the row that is copied after the write, if any.
    copies: Option<u64>,
    end: u64,
}

/// A part of a request: its physical row, if known, and its byte range in the row.
#[derive(Clone, Copy)]
struct Piece {
    request: usize,
    row: u64,
    offset: u64,
    bytes: u64,
}

struct Naive {
    rules: Rules,
    instants: BTreeSet<u64>,
    lines: u64,
    ranks: [u64; 16],
    /// Times of the polls of each rank's last program.
    polls: [Vec<u64>; 16],
    decoder: u64,
    waiting: VecDeque<Operation>,
    running: Vec<Operation>,
    free: usize,
    for_place: VecDeque<Piece>,
    refills: Vec<u64>,
    gap: u64,
    written: u64,
    left: Vec<usize>,
    done: Vec<u64>,
    completed: usize,
}

impl Naive {
    fn new(rules: Rules, requests: usize) -> Naive {
        Naive {
            rules,
            instants: BTreeSet::new(),
            lines: 0,
            ranks: [0; 16],
            polls: Default::default(),
            decoder: 0,
            waiting: VecDeque::new(),
            running: Vec::new(),
            free: rules.places,
            for_place: VecDeque::new(),
            refills: Vec::new(),
            gap: ROWS,
            written: 0,
            left: vec![0; requests],
            done: vec![0; requests],
            completed: 0,
        }
    }

    fn operation(&self, purpose: For, is_write: bool, row: u64, offset: u64, bytes: u64) -> Operation {
        let last = offset + bytes - 1;
        Operation {
            purpose,
            is_write,
            group: row % (16 / self.rules.row_ranks),
            chunk: offset / CHUNK,
            left: last / CHUNK - offset / CHUNK + 1,
            beats: last / BEAT - offset / BEAT + 1,
            lead: self.rules.setup,
            copies: None,
            end: 0,
        }
    }

    /// Physical row of a logical row. Rows behind the gap are shifted by one. The gap never wraps around in
    /// these tests.
    fn physical(&self, row: u64) -> u64 {
        row + u64::from(self.rules.interval > 0 && row >= self.gap)
    }

    fn arrive(&mut self, now: u64, number: usize, request: &Request) {
        let (mut address, end) = (request.address, request.address + u64::from(request.bytes));
        while address < end {
            let (row, offset) = (address / ROW, address % ROW);
            let piece = Piece { request: number, row, offset, bytes: (ROW - offset).min(end - address) };
            address += piece.bytes;
            self.left[number] += 1;
            if request.op == Op::Read {
                let row = self.physical(row);
                let read = self.operation(For::Request(number), false, row, offset, piece.bytes);
                self.waiting.push_back(read);
            } else {
                self.for_place.push_back(piece);
            }
        }
        self.take_places(now);
    }

    fn take_places(&mut self, now: u64) {
        while self.free > 0 {
            let Some(Piece { request, row, offset, bytes }) = self.for_place.pop_front() else { return };
            self.free -= 1;
            let mut write = self.operation(For::Request(request), true, self.physical(row), offset, bytes);
            self.written += 1;
            if self.rules.interval > 0 && self.written.is_multiple_of(self.rules.interval) {
                write.copies = Some(self.gap);
                self.gap -= 1;
                assert!(self.gap > 0, "the gap has come round");
            }
            self.waiting.push_back(write);
            if !self.rules.is_late {
                self.part_done(now, request);
            }
        }
    }

    fn part_done(&mut self, now: u64, request: usize) {
        self.left[request] -= 1;
        if self.left[request] == 0 {
            self.done[request] = now;
            self.completed += 1;
        }
    }

    fn ended(&mut self, now: u64, operation: Operation) {
        match operation.purpose {
            For::Request(number) => {
                if !operation.is_write || self.rules.is_late {
                    self.part_done(now, number);
                }
                match operation.copies {
                    Some(to) => {
                        let read = self.operation(For::CopyOut(to), false, to - 1, 0, ROW);
                        self.waiting.push_front(read);
                    }
                    None if operation.is_write => self.release(now),
                    None => {}
                }
            }
            For::CopyOut(to) => {
                let write = self.operation(For::CopyIn(to), true, to, 0, ROW);
                self.waiting.push_front(write);
            }
            For::CopyIn(_) => self.release(now),
        }
    }

    fn release(&mut self, now: u64) {
        if self.rules.is_late && self.rules.refill > 0 {
            self.refills.push(now + self.rules.refill);
            self.instants.insert(now + self.rules.refill);
        } else {
            self.free += 1;
            self.take_places(now);
        }
    }

    /// Ranks that `operation` uses together, each with the delay from the start of the operation to the
    /// first use of the rank.
    fn needs(&self, operation: &Operation) -> Vec<(usize, u64)> {
        let row_ranks = self.rules.row_ranks;
        let rank =
            |index: u64| (operation.group * row_ranks + (operation.chunk + index) % row_ranks) as usize;
        (0..operation.left.min(row_ranks))
            .map(|index| match (operation.is_write, index) {
                (true, 1..) => (rank(index), operation.lead + FILL * index),
                _ => (rank(index), 0),
            })
            .collect()
    }

    /// End time of a transfer of duration `time`. Each poll before its end delays the end.
    fn transfer(&self, from: u64, time: u64) -> u64 {
        let mut polls: Vec<u64> = self.polls.iter().flatten().copied().filter(|&at| at >= from).collect();
        polls.sort_unstable();
        polls.into_iter().fold(from + time, |end, poll| if poll < end { end + POLL } else { end })
    }

    /// Time at which the controller detects the end of a program, computed poll by poll.
    fn program(&mut self, rank: usize, start: u64) -> u64 {
        let end = start + self.rules.program_time();
        if self.rules.poll_interval == 0 {
            return end;
        }
        let (mut poll, mut polls) = (start, Vec::new());
        while poll < end {
            poll += self.rules.poll_interval;
            polls.push(poll);
        }
        self.polls[rank] = polls;
        poll + POLL
    }

    /// Time at which the last beat of a read is decoded, computed beat by beat.
    fn decoded(&mut self, last: u64, beats: u64) -> u64 {
        for beat in 0..beats {
            let arrival = last - READ * (beats - 1 - beat);
            self.decoder = self.decoder.max(arrival) + self.rules.decode;
        }
        self.decoder
    }

    /// Index of the oldest operation that can start at `now`, if any. An operation must not overtake an
    /// older operation that needs one of the same ranks.
    fn decide(&self, now: u64) -> Option<usize> {
        let mut older = [false; 16];
        for (number, operation) in self.waiting.iter().enumerate() {
            let needs = self.needs(operation);
            let is_behind = needs.iter().any(|&(rank, _)| older[rank]) || number > 0 && self.rules.in_order;
            let is_free = needs.iter().all(|&(rank, after)| self.ranks[rank] <= now + after);
            if !is_behind && is_free && self.lines <= now {
                return Some(number);
            }
            needs.iter().for_each(|&(rank, _)| older[rank] = true);
        }
        None
    }

    fn begin(&mut self, now: u64, number: usize) {
        let mut operation = self.waiting[number];
        let needs = self.needs(&operation);
        let count = needs.len() as u64;
        if operation.is_write {
            let mut filled = now;
            for (index, &(rank, _)) in needs.iter().enumerate() {
                let lead = if index == 0 { operation.lead } else { 0 };
                filled = self.transfer(filled, lead + FILL);
                self.ranks[rank] = self.program(rank, filled);
                operation.end = operation.end.max(self.ranks[rank]);
            }
            self.lines = filled;
        } else {
            let end = self.transfer(now, self.rules.setup + READ * operation.beats);
            needs.iter().for_each(|&(rank, _)| self.ranks[rank] = end);
            self.lines = end;
            operation.end = self.decoded(end, operation.beats);
        }
        for free in self.ranks.iter().copied().chain([self.lines, operation.end]) {
            for index in 0..16 {
                self.instants.extend([
                    free.saturating_sub(FILL * index),
                    free.saturating_sub(FILL * index + self.rules.setup),
                ]);
            }
        }
        operation.left = if operation.is_write { operation.left - count } else { 0 };
        (operation.chunk, operation.lead) = (operation.chunk + count, 0);
        if operation.left > 0 {
            self.waiting[number] = operation;
        } else {
            self.waiting.remove(number);
            self.running.push(operation);
        }
    }

    /// Completion time of each request.
    fn run(mut self, requests: &[Request], load: Load<'_>) -> Vec<Time> {
        let mut next = 0;
        match load {
            Load::Open(times) => self.instants.extend(times.iter().map(|time| time.as_ps())),
            Load::Closed { .. } => _ = self.instants.insert(0),
        }
        while let Some(now) = self.instants.pop_first() {
            loop {
                while let Some(index) = self.running.iter().position(|operation| operation.end == now) {
                    let operation = self.running.remove(index);
                    self.ended(now, operation);
                }
                let before = self.refills.len();
                self.refills.retain(|&at| at > now);
                self.free += before - self.refills.len();
                self.take_places(now);
                let has_arrived = |number: usize| match load {
                    Load::Open(times) => times[number].as_ps() <= now,
                    Load::Closed { clients } => number < self.completed + clients,
                };
                if next < requests.len() && has_arrived(next) {
                    self.arrive(now, next, &requests[next]);
                    next += 1;
                } else if let Some(number) = self.decide(now) {
                    self.begin(now, number);
                } else {
                    break;
                }
            }
            let past = self.instants.range(..=now).copied().collect::<Vec<_>>();
            past.iter().for_each(|instant| _ = self.instants.remove(instant));
        }
        assert_eq!(self.completed, requests.len());
        self.done.into_iter().map(Time::from_ps).collect()
    }
}

/// Random reads and writes that cover a part of one row or several rows.
fn mixed(seed: u64, count: u64, reads: f64) -> Vec<Request> {
    let mut random = Streams::new(seed).stream("requests");
    let draw = |_| {
        let op = if random.chance(reads) { Op::Read } else { Op::Write };
        let bytes = [64, 512, 1024, 4096, 4096, 12_288][random.below(6) as usize];
        // Half of the requests go to few rows.
        let rows = if random.chance(0.5) { 12 } else { 900 };
        let address = random.below(rows) * ROW + random.below(8) * 512;
        request(op, address, bytes)
    };
    (0..count).map(draw).collect()
}

#[test]
fn every_request_is_done_when_the_rules_say() {
    let by_data = Rules { zeros: 56_000_000, zero_words: 10, ..PLAIN };
    let polled = Rules { poll_interval: 10_000_000, ..PLAIN };
    for (rules, seed) in [
        PLAIN,
        Rules { is_late: true, places: 2, refill: 45_000_000, ..PLAIN },
        Rules { is_late: true, places: 5, interval: 7, ..PLAIN },
        Rules { row_ranks: 4, places: 8, interval: 3, ..PLAIN },
        Rules { row_ranks: 2, setup: 0, places: 6, ..PLAIN },
        Rules { row_ranks: 16, interval: 11, ..PLAIN },
        Rules { in_order: true, interval: 5, ..PLAIN },
        Rules {
            row_ranks: 1,
            program: 10_000_000,
            zeros: 10_000_000,
            is_late: true,
            places: 16,
            interval: 2,
            ..PLAIN
        },
        by_data,
        Rules { zero_words: 32, is_late: true, places: 5, interval: 7, ..by_data },
        polled,
        // Every program ends between two polls. Polls of all ranks together take most of the time.
        Rules { poll_interval: 2_700_000, is_late: true, places: 4, interval: 5, ..by_data },
        Rules { poll_interval: 7_000_000, row_ranks: 4, in_order: true, ..PLAIN },
        Rules { decode: 100_000, interval: 7, ..polled },
        Rules { decode: 800_000, row_ranks: 4, places: 8, ..PLAIN },
    ]
    .into_iter()
    .zip(0..)
    {
        for reads in [0.0, 0.3, 0.7, 1.0] {
            let requests = mixed(seed, 200, reads);
            let mut random = Streams::new(seed).stream("arrivals");
            let mut now = Time::ZERO;
            let arrivals: Vec<Time> = requests
                .iter()
                .map(|_| {
                    now += Time::from_ns(random.below(120_000));
                    now
                })
                .collect();
            for load in [
                Load::Open(&arrivals),
                Load::Closed { clients: 1 },
                Load::Closed { clients: 4 },
                Load::Closed { clients: 32 },
            ] {
                let expected = Naive::new(rules, requests.len()).run(&requests, load);
                let found = visits(&mut *drive(&rules.settings()), &requests, load);
                for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
                    assert_eq!(found.done, expected, "request {number}, {load:?}, {}", rules.settings());
                }
            }
        }
    }
}

/// With three write slots and two groups of ranks, a row copy permanently shifts the schedules of the two
/// groups relative to each other. The fills of one group are then just before the second pass of the other
/// group. This costs 3 % of the bandwidth of an endless sequence of rows. With four slots, the bandwidth is
/// not reduced.
#[test]
fn three_places_are_too_few_for_two_groups_of_ranks_once_a_row_was_moved() {
    let parts = 16.0 * 256.0 / 123.2e-6;
    let rules = |places, interval| Rules { setup: 0, places, interval, ..PLAIN };
    for (places, interval, share) in
        [(3, 0, 1.0), (4, 0, 1.0), (4, 128, 128.0 / 129.0), (3, 128, 0.967), (2, 0, 246.4 / 268.8)]
    {
        let requests: Vec<Request> =
            (0..4000).map(|number| request(Op::Write, number % 800 * ROW, 4096)).collect();
        let (rules, load) = (rules(places, interval), Load::Closed { clients: 8 });
        let expected = Naive::new(rules, requests.len()).run(&requests, load);
        let found = visits(&mut *drive(&rules.settings()), &requests, load);
        let seconds = |done: Time| 4096.0 * 4000.0 / done.as_secs_f64();
        assert_eq!(found.last().map(|visit| visit.done), expected.last().copied());
        assert_close("bytes per second", seconds(found[3999].done), parts * share, 0.005);
    }
}
