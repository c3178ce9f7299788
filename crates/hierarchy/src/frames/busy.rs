//! Busy frames: pages being fetched or written, and the request parts that wait for them.

use nacre_kernel::event::{Payload, Ticket};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Span, Time};
use std::collections::VecDeque;

/// Reason why a frame is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Why {
    /// The page is being fetched.
    #[default]
    Fetching,
    /// The page has arrived and is being written. Its data is available.
    Filling,
    /// A whole page is written as soon as the previous page has left the frame.
    Placing,
    /// The rest of the page is read before a portion is written.
    Merging,
    /// The host is writing the page.
    Writing,
}

/// A busy frame.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Busy {
    pub(super) why: Why,
    pub(super) frame: u32,
    pub(super) key: u64,
    /// The operation that writes back the previous page, until the previous page has left the frame, or
    /// [`NONE`](super::operation::NONE) afterwards.
    pub(super) behind: u32,
    /// Number of the fetch that supplies the page.
    pub(super) fetch: u32,
    /// Whether the fetched data has arrived and waits for the frame.
    pub(super) has_arrived: bool,
    /// The fetched data, or the whole page to write.
    pub(super) page: Payload,
    /// Request part whose data is being written to the page.
    pub(super) write: Waiter,
    /// Whether the frame contained no older data of the page when the write started.
    pub(super) is_new: bool,
    /// Start time of the memory write.
    pub(super) began: Time,
    pub(super) waiters: VecDeque<Waiter>,
}

/// A waiting part of a request: a read, a write, or a trim.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Waiter {
    pub(super) visit: u32,
    pub(super) key: u64,
    pub(super) is_write: bool,
    /// Operation number of the trim that waits until the page can be dropped; `None` for a read or a write.
    pub(super) trim: Option<u32>,
    /// Time at which the look-up of the part ended.
    pub(super) since: Time,
    /// Condition that the part waited for.
    pub(super) waited: Wait,
    /// Whether this part requested the fetch. If so, the part fails if the fetch fails.
    pub(super) asked: bool,
    /// Whether the part's page was unreadable before. If so, the fetched data overwrites the rest of the
    /// page, because this rest may never become readable in its frame.
    pub(super) is_unreadable: bool,
    /// Whether the part was counted as a hit or miss.
    pub(super) is_counted: bool,
    /// Ticket that orders a write relative to flushes.
    pub(super) ticket: Ticket,
    /// Data that the host writes to the page.
    pub(super) data: Payload,
    /// Latency breakdown so far, without waiting.
    pub(super) spans: Vec<Span>,
}

/// Condition that a part of a request waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Wait {
    /// A free frame, or a slot for a write-back.
    #[default]
    Model,
    /// A page that is being fetched or written.
    Page,
}

impl Wait {
    pub(super) fn activity(self) -> Activity {
        match self {
            Wait::Model => Activity::Queue,
            Wait::Page => Activity::Merge,
        }
    }
}

/// A fetch of adjacent pages from the backing.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Fetch {
    /// Number of the read request that requested the pages, or [`NONE`](super::operation::NONE).
    pub(super) visit: u32,
    pub(super) since: Time,
    pub(super) first: u64,
    /// Number of pages.
    pub(super) pages: u64,
    /// The busy frame of each page.
    pub(super) frames: Vec<u32>,
    /// Number of pages that are not in their frames yet.
    pub(super) left: u32,
    /// Latency breakdown in the backing.
    pub(super) spans: Vec<Span>,
    pub(super) data: Payload,
}
