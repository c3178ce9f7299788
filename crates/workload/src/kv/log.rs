//! Write-ahead log: record boundaries, durable position, and the client that writes the log.
//!
//! A log position is the total number of bytes of all earlier records. One thread at a time writes and
//! flushes the log. The next write includes all records that were appended during the previous write (group
//! commit).

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
    /// Position up to which the device has acknowledged log writes.
    written: u64,
    /// Position up to which the log is durable.
    durable: u64,
    /// Position from which recovery starts.
    start: u64,
    /// Write or flush in progress, if any.
    #[state(varies)]
    work: Option<Work>,
    /// End positions of commits that are not durable, in ascending order.
    commits: VecDeque<u64>,
}

/// A write or flush by the client that makes the log durable (the leader).
#[derive(Clone, Copy, Debug, Value)]
struct Work {
    leader: u32,
    /// Position that must become durable.
    goal: u64,
    /// End position of the request in progress.
    to: u64,
    /// Whether the request in progress is a flush.
    flushes: bool,
}

/// Next action of a client that needs the log to be durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// No action: the log is durable.
    Durable,
    /// Wait for the current leader, then try again.
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

    /// Appends a record of `bytes` bytes and returns its end position.
    #[inline]
    pub(super) fn append(&mut self, bytes: u64) -> u64 {
        self.appended += bytes;
        self.appended
    }

    /// Appends a record of `bytes` bytes that ends a transaction, and returns its end position.
    #[inline]
    pub(super) fn commit(&mut self, bytes: u64) -> u64 {
        let end = self.append(bytes);
        self.commits.push_back(end);
        end
    }

    pub(super) fn end(&self) -> u64 {
        self.appended
    }

    /// Whether another `bytes` bytes of records fit into the region without overwriting records that recovery
    /// needs.
    #[inline]
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.appended + bytes <= self.start / self.block * self.block + self.size
    }

    /// Whether the records that recovery needs take more than half of the region.
    #[inline]
    pub(super) fn is_half_full(&self) -> bool {
        self.appended - self.start > self.size / 2
    }

    /// Sets the position from which recovery starts to `start`. This position never moves backward.
    pub(super) fn drop_before(&mut self, start: u64) {
        assert!(self.start <= start && start <= self.appended, "the log's start only moves on");
        self.start = start;
    }

    /// Returns the next action of `client` to make the log durable up to `lsn`.
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

    /// Whether `client` is the leader, with a write or flush in progress.
    #[inline]
    pub(super) fn is_led_by(&self, client: u32) -> bool {
        self.work.is_some_and(|work| work.leader == client)
    }

    /// Handles the completion of the leader's write or flush. Returns the leader's next request, if any.
    #[inline]
    pub(super) fn resume(&mut self) -> Option<Request> {
        let work = self.work.take().expect("a client leads");
        if work.flushes {
            self.durable = work.to;
            return None;
        }
        self.written = work.to;
        Some(self.step(work))
    }

    /// Handles the completion of the request in progress. Returns the number of transactions that this
    /// request completes.
    #[inline]
    pub(super) fn complete(&mut self) -> u64 {
        let work = self.work.expect("it is the leader's");
        let waiting = self.commits.len();
        while work.flushes && self.commits.front().is_some_and(|&end| end <= work.to) {
            self.commits.pop_front();
        }
        (waiting - self.commits.len()) as u64
    }

    /// Starts the next request of the leader. If the log is written up to the goal of `work`, the request
    /// is a flush. Otherwise, it writes every block with new records, up to the end of the region. Records
    /// beyond the end of the region need another write.
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

/// Creates a request with the arrival time zero. The issue time is not known yet.
#[inline]
pub(super) fn request(op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
}
