//! Busy frames: pages being fetched or written, and their waiters.

use nacre_kernel::event::{Payload, Ticket};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Span, Time};
use std::collections::VecDeque;

/// Why a frame is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Why {
    /// Its page is being fetched.
    #[default]
    Fetching,
    /// Its page has arrived and is being written; its data is available.
    Filling,
    /// Its page is written as a whole as soon as the previous one has left.
    Placing,
    /// The rest of its page is read before a part is written.
    Merging,
    /// Its page is being written by the host.
    Writing,
}

/// A frame that is busy.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Busy {
    pub(super) why: Why,
    pub(super) frame: u32,
    pub(super) key: u64,
    /// The operation that writes back the previous page, until it has left; or
    /// [`NONE`](super::operation::NONE).
    pub(super) behind: u32,
    /// The fetch that brings its page.
    pub(super) fetch: u32,
    /// Whether the fetched data has arrived and waits for the frame.
    pub(super) has_arrived: bool,
    /// The fetched data, or the whole page as written.
    pub(super) page: Payload,
    /// The write in progress.
    pub(super) write: Waiter,
    /// Whether the frame had no older data of the page.
    pub(super) is_new: bool,
    /// Start of the memory write.
    pub(super) began: Time,
    pub(super) waiters: VecDeque<Waiter>,
}

/// A waiting part of a request: a read, a write, or a trim.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Waiter {
    pub(super) visit: u32,
    pub(super) key: u64,
    pub(super) is_write: bool,
    /// The trim that waits until the page can leave.
    pub(super) trim: Option<u32>,
    /// When the look-up of the part ended.
    pub(super) since: Time,
    /// Condition that it waited for.
    pub(super) waited: Wait,
    /// Whether it requested the fetch itself: it fails with that.
    pub(super) asked: bool,
    /// Whether its page was unreadable before. It is then written with the fetched data, since it may never
    /// become readable.
    pub(super) is_unreadable: bool,
    /// Whether it was counted as a hit or miss.
    pub(super) is_counted: bool,
    /// Order of a write relative to flushes.
    pub(super) ticket: Ticket,
    /// Data that the host writes to the page.
    pub(super) data: Payload,
    /// Latency breakdown so far, without waiting.
    pub(super) spans: Vec<Span>,
}

/// Condition that a part of a request waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Wait {
    /// A frame, or a slot.
    #[default]
    Room,
    /// A page being fetched or written.
    Page,
}

impl Wait {
    pub(super) fn activity(self) -> Activity {
        match self {
            Wait::Room => Activity::Queue,
            Wait::Page => Activity::Merge,
        }
    }
}

/// Adjacent pages being fetched from the backing.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Fetch {
    /// The read that requested them, or [`NONE`](super::operation::NONE).
    pub(super) visit: u32,
    pub(super) since: Time,
    pub(super) first: u64,
    /// The busy frame of each page.
    pub(super) frames: Vec<u32>,
    /// Pages that are not in their frames yet.
    pub(super) left: u32,
    /// Latency breakdown in the backing.
    pub(super) spans: Vec<Span>,
    pub(super) data: Payload,
}
