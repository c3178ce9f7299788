//! Compares completion times with an independent simulation of one server and a buffer that is drained page
//! by page, without cleaning.

use super::{FewestLive, device};
use nacre_kernel::{Op, Random, Request, Streams, Time};
use nacre_media::store::Nothing;
use nacre_testkit::oracle::Load;
use nacre_testkit::visits;
use std::collections::VecDeque;

/// More flash than is ever written, and a buffer of eight pages of 64 B. The buffer is drained when it
/// holds more than four pages.
const SETTINGS: &str = "segments = 64\nsegment = \"64 KiB\"\npage = \"64 B\"\npreload = \"0 B\"\nbuffer = \"512 B\"\n\
    threshold = \"50 %\"\nmmu_entries = 3\naccess = \"160 ns\"\npage_table_access = \"160 ns\"\n\
    copy_on_write = \"100 ns\"\nprogram = \"4 us\"\nresume_after = \"1 us\"\nsuspend = \"2 us\"\n";
const SLOTS: usize = 8;
const THRESHOLD: usize = 4;

const fn ns(count: u64) -> Time {
    Time::from_ps(count * 1000)
}

/// An independent implementation of the device's rules, request by request.
#[derive(Default)]
struct Naive {
    free_at: Time,
    /// Pages with a cached mapping, most recently used last.
    known: Vec<u64>,
    /// Pages in the buffer, oldest first.
    dirty: VecDeque<u64>,
    /// Remaining time of the program in progress.
    program: Option<Time>,
}

impl Naive {
    fn slots_left(&self) -> usize {
        SLOTS - self.dirty.len() - usize::from(self.program.is_some())
    }

    /// Continues programs for `time`.
    fn drain(&mut self, mut time: Time) {
        loop {
            if self.program.is_none() && self.dirty.len() > THRESHOLD {
                self.dirty.pop_front();
                self.program = Some(ns(4000));
            }
            match self.program {
                Some(left) if left <= time => {
                    time = time - left;
                    self.program = None;
                }
                Some(left) => return self.program = Some(left - time),
                None => return,
            }
        }
    }

    fn done(&mut self, arrival: Time, request: &Request) -> Time {
        let mut at = arrival.max(self.free_at);
        if arrival > self.free_at + ns(1000) {
            self.drain(arrival - self.free_at - ns(1000));
            at += if self.program.is_some() { ns(2000) } else { Time::ZERO };
        }
        let (mut address, end) = (request.address, request.address + u64::from(request.bytes));
        while address < end {
            let page = address / 64;
            let next = end.min((page + 1) * 64);
            let was_known =
                self.known.iter().position(|&known| known == page).map(|at| self.known.remove(at));
            if was_known.is_none() {
                at += ns(160);
                if self.known.len() == 3 {
                    self.known.remove(0);
                }
            }
            self.known.push(page);
            if request.op == Op::Write && !self.dirty.contains(&page) {
                if self.slots_left() == 0 {
                    at += ns(1000) + self.make_room();
                }
                at += ns(100);
                self.dirty.push_back(page);
            }
            at += ns(160) * (next - address).div_ceil(4);
            address = next;
        }
        self.free_at = at;
        at
    }

    fn make_room(&mut self) -> Time {
        self.program.take().unwrap_or_else(|| {
            self.dirty.pop_front().expect("the buffer is full");
            ns(4000)
        })
    }
}

fn requests(random: &mut Random) -> Vec<Request> {
    let mut request = |_| {
        let op = if random.chance(0.4) { Op::Read } else { Op::Write };
        let page = if random.chance(0.5) { random.below(6) } else { random.below(200) };
        let bytes = if random.chance(0.2) { 1 + random.below(300) } else { 4 };
        Request {
            arrival: Time::ZERO,
            address: page * 64 + random.below(16) * 4,
            bytes: bytes as u32,
            volume: 0,
            op,
        }
    };
    (0..4000).map(&mut request).collect()
}

#[test]
fn completion_times_are_those_of_an_independent_simulation() {
    for seed in 0..3 {
        let mut random = Streams::new(seed).stream("requests");
        let requests = requests(&mut random);
        for pause_ns in [300, 3000, 20_000] {
            let mut now = Time::ZERO;
            let arrivals: Vec<Time> = (0..requests.len())
                .map(|_| {
                    now += ns(random.below(2 * pause_ns));
                    now
                })
                .collect();
            let seen =
                visits(&mut device(SETTINGS, Nothing, FewestLive(None)), &requests, Load::Open(&arrivals));
            let mut naive = Naive::default();
            for (number, request) in requests.iter().enumerate() {
                let done = naive.done(arrivals[number], request);
                assert_eq!(seen[number].done, done, "request {number} of seed {seed} at {pause_ns} ns");
            }
        }
        for clients in [1, 4, 16] {
            let mut envy = device(SETTINGS, Nothing, FewestLive(None));
            let seen = visits(&mut envy, &requests, Load::Closed { clients });
            let mut naive = Naive::default();
            for (number, request) in requests.iter().enumerate() {
                assert_eq!(seen[number].done, naive.done(seen[number].arrived, request), "request {number}");
            }
        }
    }
}
