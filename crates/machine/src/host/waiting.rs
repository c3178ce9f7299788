//! Requests that wait in a host for a slot, and the selection of the request that gets the next slot.

use super::{Deadline, HostScheduler};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Numbers of the requests in one queue that wait for a slot.
#[derive(Debug, State)]
pub(super) enum Waiting {
    /// First come, first served.
    FirstCome(VecDeque<u32>),
    /// Batches in address order, or by deadline.
    Deadline(ByDeadline),
}

/// The data structures of Linux's mq-deadline.
#[derive(Debug, State)]
pub(super) struct ByDeadline {
    #[state(skip = "from the configuration")]
    config: Deadline,
    /// Flushes, which precede other requests as in Linux, where they bypass the scheduler.
    flushes: VecDeque<u32>,
    /// Waiting reads, and waiting writes and trims.
    directions: [Direction; 2],
    /// Number of arrivals so far. A request gets this number when it arrives.
    arrivals: u64,
    /// Direction of the current batch.
    current: u32,
    /// Number of requests that the current batch has served so far.
    batch: u32,
    /// Number of read batches that started while writes waited, since the last write batch.
    passed_over: u32,
}

/// Waiting requests of one direction.
#[derive(Debug, Default, State)]
struct Direction {
    by_arrival: BTreeMap<u64, Entry>,
    /// Waiting requests, ordered by address and arrival.
    by_address: BTreeSet<(u64, u64)>,
    /// Address of the last request that got a slot.
    position: u64,
}

#[derive(Clone, Copy, Debug, Value)]
struct Entry {
    number: u32,
    address: u64,
    deadline: Time,
}

impl Waiting {
    pub(super) fn new(scheduler: &HostScheduler) -> Waiting {
        match scheduler {
            HostScheduler::FirstCome => Waiting::FirstCome(VecDeque::new()),
            HostScheduler::Deadline(config) => Waiting::Deadline(ByDeadline {
                config: config.clone(),
                flushes: VecDeque::new(),
                directions: Default::default(),
                arrivals: 0,
                current: 0,
                batch: 0,
                passed_over: 0,
            }),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Waiting::FirstCome(waiting) => waiting.len(),
            Waiting::Deadline(waiting) => {
                let of = |direction: &Direction| direction.by_arrival.len();
                waiting.flushes.len() + waiting.directions.iter().map(of).sum::<usize>()
            }
        }
    }

    /// Adds request `number`, which arrived at `now`.
    pub(super) fn push(&mut self, now: Time, number: u32, request: &Request) {
        match self {
            Waiting::FirstCome(waiting) => waiting.push_back(number),
            Waiting::Deadline(waiting) => waiting.push(now, number, request),
        }
    }

    /// Removes and returns the request that gets a slot at `now`, and whether its deadline has passed.
    /// Returns `None` if no request waits.
    pub(super) fn pop(&mut self, now: Time) -> Option<(u32, bool)> {
        match self {
            Waiting::FirstCome(waiting) => waiting.pop_front().map(|number| (number, false)),
            Waiting::Deadline(waiting) => waiting.pop(now),
        }
    }
}

impl ByDeadline {
    fn push(&mut self, now: Time, number: u32, request: &Request) {
        let expire = match request.op {
            Op::Flush => return self.flushes.push_back(number),
            Op::Read => self.config.read_expire,
            Op::Write | Op::Trim => self.config.write_expire,
        };
        let entry = Entry { number, address: request.address, deadline: now + expire };
        let direction = &mut self.directions[usize::from(request.op != Op::Read)];
        direction.by_address.insert((entry.address, self.arrivals));
        direction.by_arrival.insert(self.arrivals, entry);
        self.arrivals += 1;
    }

    fn pop(&mut self, now: Time) -> Option<(u32, bool)> {
        if let Some(flush) = self.flushes.pop_front() {
            return Some((flush, false));
        }
        let arrival = match self.directions[self.current as usize].next() {
            Some(next) if self.batch < self.config.fifo_batch => next,
            _ => self.begin_batch(now)?,
        };
        self.batch += 1;
        let Entry { number, deadline, .. } = self.directions[self.current as usize].take(arrival);
        Some((number, now >= deadline))
    }

    /// Selects the direction of a new batch. Returns the arrival number of its first request.
    fn begin_batch(&mut self, now: Time) -> Option<u64> {
        let [reads, writes] = self.directions.each_ref().map(|direction| !direction.by_arrival.is_empty());
        let is_writing = writes && (!reads || self.passed_over >= self.config.writes_starved);
        match (is_writing, writes) {
            (true, _) => self.passed_over = 0,
            (false, true) => self.passed_over += 1,
            (false, false) => {}
        }
        (self.current, self.batch) = (u32::from(is_writing), 0);
        let direction = &self.directions[self.current as usize];
        let (&oldest, Entry { deadline, .. }) = direction.by_arrival.first_key_value()?;
        Some(direction.next().filter(|_| now < *deadline).unwrap_or(oldest))
    }
}

impl Direction {
    /// Returns the arrival number of the request with the lowest address at or above `position`.
    fn next(&self) -> Option<u64> {
        self.by_address.range((self.position, 0)..).next().map(|&(_, arrival)| arrival)
    }

    fn take(&mut self, arrival: u64) -> Entry {
        let entry = self.by_arrival.remove(&arrival).expect("it waits");
        self.by_address.remove(&(entry.address, arrival));
        self.position = entry.address;
        entry
    }
}
