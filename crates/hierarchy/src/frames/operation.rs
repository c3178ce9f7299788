//! Requests of the cache to the backing.

use nacre_kernel::event::{Payload, Ticket};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Span, Time};

/// The number of nothing.
pub(super) const NONE: u32 = u32::MAX;

/// What an operation is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Step {
    /// A read of adjacent pages.
    #[default]
    Fetch,
    /// A write of a page that goes back.
    Back,
    /// A flush behind that.
    Safe,
    /// A trim of the host.
    Trim,
    /// A flush of the host.
    Flush,
}

/// One operation. It is submitted when it waits for nothing.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Operation {
    pub(super) step: Step,
    /// The fetch, or the visit.
    pub(super) owner: u32,
    /// The first page, and how many.
    pub(super) key: u64,
    pub(super) pages: u64,
    pub(super) waits: u32,
    /// Operations that wait for it.
    pub(super) dependents: Vec<u32>,
    pub(super) since: Time,
    /// How many operations there were before it.
    pub(super) serial: u64,
    pub(super) request: Request,
    pub(super) data: Payload,
    pub(super) back: Back,
}

/// What a page that goes back needs in addition.
#[derive(Clone, Debug, Value)]
pub(super) struct Back {
    /// Whether it could be read from its frame.
    pub(super) is_good: bool,
    /// Whether it is one of those on their way.
    pub(super) is_under_way: bool,
    pub(super) ticket: Ticket,
    /// The busy frame that is free for its next page when this one is on its way; or [`NONE`].
    pub(super) frame_of: u32,
    /// The write that ends when this one is on its way.
    pub(super) holds_up: Option<HeldUp>,
}

/// A part of a write that is done but for pages that have to go back.
#[derive(Clone, Debug, Value)]
pub(super) struct HeldUp {
    pub(super) visit: u32,
    /// When it was written, and where the time before that went.
    pub(super) written: Time,
    pub(super) spans: Vec<Span>,
}

impl Default for Back {
    fn default() -> Back {
        Back { is_good: true, is_under_way: false, ticket: Ticket::default(), frame_of: NONE, holds_up: None }
    }
}
