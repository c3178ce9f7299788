//! Blocks being fetched from the backing.

use nacre_kernel::event::Payload;
use nacre_kernel::state::Value;
use nacre_kernel::{Span, Time};

/// Maximum number of blocks being fetched. At this number, misses bypass the cache until some blocks have
/// arrived.
pub(super) const IN_FLIGHT_MAX: usize = 1 << 16;

/// Adjacent blocks that are fetched with one request.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Fetch {
    /// The read operation, or [`NONE`](super::ops::NONE) after its end.
    pub(super) operation: u32,
    pub(super) first: u64,
    pub(super) blocks: u64,
    /// Whether the blocks were offered to the levels.
    pub(super) is_admitted: bool,
    /// Number of writes to levels that must end before the fetch ends.
    pub(super) fills: u32,
    /// Requests that wait for the fetch, with the blocks that they need.
    pub(super) waiting: Vec<Waiting>,
    /// Address and data of each partial write to the blocks since the read started.
    pub(super) patches: Vec<(u64, Payload)>,
    /// Time at which the data arrived.
    pub(super) arrived: Time,
    /// Latency breakdown up to the arrival.
    pub(super) spans: Vec<Span>,
    /// Fetched data, stored only if reads wait for fills.
    pub(super) data: Payload,
}

/// A request that waits for blocks being fetched.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Waiting {
    pub(super) visit: u32,
    pub(super) first: u64,
    pub(super) blocks: u64,
    pub(super) since: Time,
    /// Whether the request initiated the fetch.
    pub(super) is_reader: bool,
}
