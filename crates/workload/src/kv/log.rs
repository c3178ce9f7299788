//! The write-ahead log: where records end, how far they are on storage, and who writes them.
//!
//! A place in the log is the number of bytes of records before it since the start. One thread at a time writes
//! and flushes; what others append meanwhile goes out with the next write, all of it at once: group commit.

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Time};
use std::collections::VecDeque;

/// A log that runs round and round through its region, which begins at address 0.
#[derive(Clone, Debug, State)]
pub(super) struct Log {
    /// Bytes of the region, a whole number of blocks.
    #[state(same)]
    size: u64,
    #[state(same)]
    block: u64,
    appended: u64,
    /// Handed to the device and acknowledged; known to survive.
    written: u64,
    durable: u64,
    /// What recovery needs: nothing before it.
    start: u64,
    /// The write or flush under way.
    #[state(varies)]
    work: Option<Work>,
    /// The ends of commits that are not durable, in their order.
    commits: VecDeque<u64>,
}

/// A client that makes the log durable.
#[derive(Clone, Copy, Debug, Value)]
struct Work {
    leader: u32,
    /// The place that has to become durable.
    goal: u64,
    /// How far what is under way comes, and whether it is the flush.
    to: u64,
    flushes: bool,
}

/// What a client that needs the log durable has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// Nothing.
    Durable,
    /// Look again when the leader of the write or flush under way has continued.
    Wait,
    /// Make this request.
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

    /// Adds a record of `bytes` and returns where it ends.
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

    /// Whether `bytes` more of records leave everything that recovery needs.
    #[inline]
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.appended + bytes <= self.start / self.block * self.block + self.size
    }

    /// Whether more than half of the region holds what recovery needs.
    #[inline]
    pub(super) fn is_half_full(&self) -> bool {
        self.appended - self.start > self.size / 2
    }

    /// Recovery needs nothing before `start`.
    pub(super) fn drop_before(&mut self, start: u64) {
        assert!(self.start <= start && start <= self.appended, "the log's start only moves on");
        self.start = start;
    }

    /// What `client` has to do so that the log becomes durable up to `lsn`.
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

    /// Whether `client` has a write or flush under way.
    #[inline]
    pub(super) fn is_led_by(&self, client: u32) -> bool {
        self.work.is_some_and(|work| work.leader == client)
    }

    /// The leader's write or flush completed: its next request, if there is one.
    #[inline]
    pub(super) fn go_on(&mut self) -> Option<Request> {
        let work = self.work.take().expect("somebody leads");
        if work.flushes {
            self.durable = work.to;
            return None;
        }
        self.written = work.to;
        Some(self.step(work))
    }

    /// The request under way completed; returns how many transactions end with it.
    #[inline]
    pub(super) fn complete(&mut self) -> u64 {
        let work = self.work.expect("it is the leader's");
        let waiting = self.commits.len();
        while work.flushes && self.commits.front().is_some_and(|&end| end <= work.to) {
            self.commits.pop_front();
        }
        (waiting - self.commits.len()) as u64
    }

    /// The flush if all up to the goal is written. Else the write of every block that records were added to
    /// since they were written last, as far as the end of the region; what lies behind takes another write.
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
