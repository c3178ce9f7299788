//! Requests that a test draws.

use nacre_kernel::{Op, Random, Request, Time};

/// Addresses used of a device without a limit.
pub(crate) const UNLIMITED_BYTES: u64 = 1 << 30;
/// Requests start at multiples of this.
pub(crate) const BLOCK: u64 = 4096;

/// One request of any kind to a device of `size` bytes.
pub(crate) fn any_request(random: &mut Random, size: u64, arrival: Time) -> Request {
    let op = match random.below(20) {
        0 => Op::Flush,
        1 => Op::Trim,
        2..10 => Op::Write,
        _ => Op::Read,
    };
    let blocks = size / BLOCK;
    let first = random.below(blocks);
    let count = (1 + random.below(8)).min(blocks - first);
    let bytes = if op == Op::Flush { 0 } else { (count * BLOCK) as u32 };
    Request { arrival, address: first * BLOCK, bytes, volume: 0, op }
}
