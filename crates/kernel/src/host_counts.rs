//! Counters of host requests to a component.

use crate::request::{Op, Request};
use crate::state::Value;

/// Number of requests of each operation, and number of bytes read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Value)]
pub struct HostCounts {
    requests: [u64; 4],
    bytes: [u64; 2],
}

impl HostCounts {
    /// Counts `request`.
    #[inline]
    pub fn record(&mut self, request: &Request) {
        self.count(request.op, u64::from(request.bytes));
    }

    /// Counts a request with this operation and size.
    #[inline]
    pub fn count(&mut self, op: Op, bytes: u64) {
        self.requests[op as usize] += 1;
        if let Op::Read | Op::Write = op {
            self.bytes[op as usize] += bytes;
        }
    }

    /// Number of requests with operation `op`.
    pub fn requests(&self, op: Op) -> u64 {
        self.requests[op as usize]
    }

    /// Number of bytes written.
    pub fn bytes_written(&self) -> u64 {
        self.bytes[Op::Write as usize]
    }

    /// All counters, with their names in records.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let [reads, writes, trims, flushes] = self.requests;
        let [read, written] = self.bytes;
        vec![
            ("reads", reads),
            ("writes", writes),
            ("trims", trims),
            ("flushes", flushes),
            ("bytes_read", read),
            ("bytes_written", written),
        ]
    }
}
