//! Operations of the cache on the backing.

use nacre_kernel::event::{Payload, Ticket};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Span, Time};

/// Marks an absent number.
pub(super) const NONE: u32 = u32::MAX;

/// Purpose of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Purpose {
    /// A read of adjacent pages.
    #[default]
    Fetch,
    /// A write-back of a page.
    Back,
    /// A flush after a write-back.
    Safe,
    /// A host trim.
    Trim,
    /// A host flush.
    Flush,
}

/// One operation, which is submitted when its wait count reaches zero.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Operation {
    pub(super) purpose: Purpose,
    /// Number of the fetch or the request to which the operation belongs.
    pub(super) owner: u32,
    /// The first page.
    pub(super) key: u64,
    /// Number of pages.
    pub(super) pages: u64,
    pub(super) waits: u32,
    /// Operations that wait for the end of this operation.
    pub(super) dependents: Vec<u32>,
    pub(super) since: Time,
    /// Serial number, i.e. number of operations that were created earlier.
    pub(super) serial: u64,
    pub(super) request: Request,
    pub(super) data: Payload,
    pub(super) back: Back,
}

/// Additional state of a write-back.
#[derive(Clone, Debug, Value)]
pub(super) struct Back {
    /// Whether the page was readable in its frame.
    pub(super) is_good: bool,
    /// Whether the write-back has started, i.e. holds one of the slots that limit concurrent write-backs.
    pub(super) is_under_way: bool,
    pub(super) ticket: Ticket,
    /// Busy frame whose new page waits until this write-back has a slot, or [`NONE`].
    pub(super) frame_of: u32,
    /// Host write that completes when this write-back has a slot, if any.
    pub(super) holds_up: Option<HeldUp>,
}

/// A completed part of a write that waits until write-backs start.
#[derive(Clone, Debug, Value)]
pub(super) struct HeldUp {
    pub(super) visit: u32,
    /// Time at which the memory write of the part ended.
    pub(super) written: Time,
    /// Latency breakdown up to the end of the memory write.
    pub(super) spans: Vec<Span>,
}

impl Default for Back {
    fn default() -> Back {
        Back { is_good: true, is_under_way: false, ticket: Ticket::default(), frame_of: NONE, holds_up: None }
    }
}
