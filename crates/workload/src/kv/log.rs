//! The write-ahead log: ends of records, durable position, and writers.
//!
//! A log position is the number of bytes of records before it. One thread at a time writes and flushes;
//! records appended meanwhile are all written by the next write: group commit.

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Time};
use std::collections::VecDeque;

/// A circular log in a region that starts at address 0.
#[derive(Clone, Debug, State)]
pub(super) struct Log {
    /// Size of the region in bytes, a whole number of blocks.
    #[state(same)]
    size: u64,
    #[state(same)]
    block: u64,
    appended: u64,
    /// Position acknowledged by the device, and position known to be durable.
    written: u64,
    durable: u64,
    /// Position from which recovery starts.
    start: u64,
    /// The write or flush in progress.
    #[state(varies)]
    work: Option<Work>,
    /// The ends of commits that are not durable, in their order.
    commits: VecDeque<u64>,
}

/// A client that makes the log durable.
#[derive(Clone, Copy, Debug, Value)]
struct Work {
    leader: u32,
    /// The position that must become durable.
    goal: u64,
    /// End position of the request in progress, and whether it is the flush.
    to: u64,
    flushes: bool,
}

/// Next action of a client that needs the log to be durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// Nothing.
    Durable,
    /// Try again when the current leader has continued.
    Wait,
    /// Submit this request.
    Ask(Request),
}

impl Log {
    pub(super) fn new(size: u64, block: u64) -> Log {
        assert!(size.is_multiple_of(block) && size > 0, "a log is of whole blocks");
        Log {
            size,
            block,
            appended: 0,
            written: 0,
            durable: 0,
            start: 0,
            work: None,
            commits: VecDeque::new(),
        }
    }

    /// Appends a record of `bytes` and returns its end position.
    #[inline]
    pub(super) fn append(&mut self, bytes: u64) -> u64 {
        self.appended += bytes;
        self.appended
    }

    /// Adds a record of `bytes` that ends a transaction.
    #[inline]
    pub(super) fn commit(&mut self, bytes: u64) -> u64 {
        let end = self.append(bytes);
        self.commits.push_back(end);
        end
    }

    pub(super) fn end(&self) -> u64 {
        self.appended
    }

    /// Whether `bytes` more of records do not overwrite what recovery needs.
    #[inline]
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.appended + bytes <= self.start / self.block * self.block + self.size
    }

    /// Whether recovery needs more than half of the region.
    #[inline]
    pub(super) fn is_half_full(&self) -> bool {
        self.appended - self.start > self.size / 2
    }

    /// Moves the start of recovery to `start`.
    pub(super) fn drop_before(&mut self, start: u64) {
        assert!(self.start <= start && start <= self.appended, "the log's start only moves on");
        self.start = start;
    }

    /// Next action of `client` to make the log durable up to `lsn`.
    #[inline]
    pub(super) fn force(&mut self, lsn: u64, client: u32) -> Force {
        if lsn <= self.durable {
            return Force::Durable;
        }
        if let Some(work) = self.work {
            debug_assert!(work.leader != client, "a leader waits for itself");
            return Force::Wait;
        }
        Force::Ask(self.step(Work { leader: client, goal: lsn, to: self.written, flushes: false }))
    }

    /// Whether `client` has a write or flush in progress.
    #[inline]
    pub(super) fn is_led_by(&self, client: u32) -> bool {
        self.work.is_some_and(|work| work.leader == client)
    }

    /// Handles completion of the leader's write or flush: returns its next request, if any.
    #[inline]
    pub(super) fn go_on(&mut self) -> Option<Request> {
        let work = self.work.take().expect("a client leads");
        if work.flushes {
            self.durable = work.to;
            return None;
        }
        self.written = work.to;
        Some(self.step(work))
    }

    /// Handles completion of the request in progress; returns the number of transactions that end with it.
    #[inline]
    pub(super) fn complete(&mut self) -> u64 {
        let work = self.work.expect("it is the leader's");
        let waiting = self.commits.len();
        while work.flushes && self.commits.front().is_some_and(|&end| end <= work.to) {
            self.commits.pop_front();
        }
        (waiting - self.commits.len()) as u64
    }

    /// The flush if everything up to the goal is written. Otherwise a write of every block with new records,
    /// up to the end of the region; the rest takes another write.
    #[inline]
    fn step(&mut self, work: Work) -> Request {
        if self.written >= work.goal {
            self.work = Some(Work { to: self.written, flushes: true, ..work });
            return request(Op::Flush, 0, 0);
        }
        let from = self.written / self.block * self.block;
        let end = (from / self.size + 1) * self.size;
        let to = self.appended.next_multiple_of(self.block).min(end);
        self.work = Some(Work { to: self.appended.min(to), ..work });
        request(Op::Write, from % self.size, (to - from) as u32)
    }
}

/// A request whose time is not known yet.
#[inline]
pub(super) fn request(op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
}
