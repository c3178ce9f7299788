//! Counts of requests, bytes, and errors for each request type.

use nacre_nbd::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// Types of requests that are counted, in the order of the counts.
pub const KINDS: [&str; 8] = ["read", "write", "trim", "zero", "flush", "cache", "status", "unknown"];

/// Counts of the requests of all clients of an export.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counts: [Count; KINDS.len()],
}

#[derive(Debug, Default)]
struct Count {
    requests: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
}

/// Counts of requests of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counted {
    /// Number of replies, including errors.
    pub requests: u64,
    /// Number of bytes of requests that succeeded.
    pub bytes: u64,
    /// Number of replies with an error.
    pub errors: u64,
}

impl Tally {
    /// Counts a request that was served.
    pub(crate) fn served(&self, command: Command, bytes: u32) {
        let count = &self.counts[kind(command)];
        count.requests.fetch_add(1, Ordering::Relaxed);
        count.bytes.fetch_add(u64::from(bytes), Ordering::Relaxed);
    }

    /// Counts an error reply.
    pub(crate) fn failed(&self, command: Command) {
        let count = &self.counts[kind(command)];
        count.requests.fetch_add(1, Ordering::Relaxed);
        count.errors.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the counts in the order of [`KINDS`].
    pub(crate) fn counted(&self) -> [Counted; KINDS.len()] {
        std::array::from_fn(|kind| {
            let Count { requests, bytes, errors } = &self.counts[kind];
            let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
            Counted { requests: read(requests), bytes: read(bytes), errors: read(errors) }
        })
    }
}

fn kind(command: Command) -> usize {
    match command {
        Command::Read => 0,
        Command::Write => 1,
        Command::Trim => 2,
        Command::WriteZeroes => 3,
        Command::Flush => 4,
        Command::Cache => 5,
        Command::BlockStatus => 6,
        Command::Disconnect | Command::Unknown(_) => 7,
    }
}
