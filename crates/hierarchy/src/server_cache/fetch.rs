//! Blocks on their way from the backing.

use nacre_kernel::event::Payload;
use nacre_kernel::state::Value;
use nacre_kernel::{Span, Time};

/// Most blocks on their way at one time. Past it, misses pass the cache by until some have arrived.
pub(super) const IN_FLIGHT_MAX: usize = 1 << 16;

/// Adjacent blocks that are fetched with one request.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Fetch {
    /// The read; [`NONE`](super::ops::NONE) when it has ended.
    pub(super) operation: u32,
    pub(super) first: u64,
    pub(super) blocks: u64,
    /// Whether the blocks were offered to the levels.
    pub(super) is_admitted: bool,
    /// Writes into levels that the reader waits for.
    pub(super) fills: u32,
    /// Who waits for which blocks.
    pub(super) waiting: Vec<Waiting>,
    /// What was written to parts of the blocks since the read began: address and bytes.
    pub(super) patches: Vec<(u64, Payload)>,
    /// When the data arrived, where the time before that went, and the data, if the fills are waited for.
    pub(super) arrived: Time,
    pub(super) spans: Vec<Span>,
    pub(super) data: Payload,
}

/// A request that waits for blocks on their way.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Waiting {
    pub(super) visit: u32,
    pub(super) first: u64,
    pub(super) blocks: u64,
    pub(super) since: Time,
    /// Whether it asked for them first.
    pub(super) is_reader: bool,
}
