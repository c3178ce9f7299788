//! Blocks being fetched from the backing.

use nacre_kernel::event::Payload;
use nacre_kernel::state::Value;
use nacre_kernel::{Span, Time};

/// Maximum blocks being fetched. Beyond it, misses bypass the cache until some have arrived.
pub(super) const IN_FLIGHT_MAX: usize = 1 << 16;

/// Adjacent blocks that are fetched with one request.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Fetch {
    /// The read, or [`NONE`](super::ops::NONE) after its end.
    pub(super) operation: u32,
    pub(super) first: u64,
    pub(super) blocks: u64,
    /// Whether the blocks were offered to the levels.
    pub(super) is_admitted: bool,
    /// Writes into levels that the reader waits for.
    pub(super) fills: u32,
    /// The waiters, and their blocks.
    pub(super) waiting: Vec<Waiting>,
    /// Writes to parts of the blocks since the read started: address and data.
    pub(super) patches: Vec<(u64, Payload)>,
    /// Arrival time of the data, latency breakdown up to then, and the data, if reads wait for fills.
    pub(super) arrived: Time,
    pub(super) spans: Vec<Span>,
    pub(super) data: Payload,
}

/// A request that waits for blocks being fetched.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Waiting {
    pub(super) visit: u32,
    pub(super) first: u64,
    pub(super) blocks: u64,
    pub(super) since: Time,
    /// Whether it initiated the fetch.
    pub(super) is_reader: bool,
}
