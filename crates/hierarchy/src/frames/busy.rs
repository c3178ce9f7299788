//! Busy frames: pages on their way in, and pages being written; and who waits for them.

use nacre_kernel::event::{Payload, Ticket};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Span, Time};
use std::collections::VecDeque;

/// Why a frame is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Why {
    /// Its page comes from the backing.
    #[default]
    Fetching,
    /// Its page has come and is being written; it is at hand.
    Filling,
    /// Its page is written as a whole as soon as the one before has left.
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
    /// The page before it, if that has not left: the operation that takes it back; or [`NONE`](super::operation::NONE).
    pub(super) behind: u32,
    /// The fetch that brings its page.
    pub(super) fetch: u32,
    /// Whether what was fetched is here and waits for the frame.
    pub(super) has_arrived: bool,
    /// What was fetched, or the whole page as it is written.
    pub(super) page: Payload,
    /// The write in progress.
    pub(super) write: Waiter,
    /// Whether the frame had no older bytes of the page.
    pub(super) is_new: bool,
    /// When the memory begins to write.
    pub(super) began: Time,
    pub(super) waiters: VecDeque<Waiter>,
}

/// A part of a request that waits: a read, a write, or a trim.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Waiter {
    pub(super) visit: u32,
    pub(super) key: u64,
    pub(super) is_write: bool,
    /// The trim that waits until the page can leave.
    pub(super) trim: Option<u32>,
    /// When the part was looked up.
    pub(super) since: Time,
    /// What it waited for.
    pub(super) waited: Wait,
    /// The fetch that it asked for itself: it fails with that.
    pub(super) asked: bool,
    /// Whether its page could not be read before. It is written with what was fetched then: it may never be readable.
    pub(super) is_unreadable: bool,
    /// Whether it is among the hits and misses.
    pub(super) is_counted: bool,
    /// When a write began, relative to flushes.
    pub(super) ticket: Ticket,
    /// What the host writes of the page.
    pub(super) data: Payload,
    /// Where its time went so far, but for waiting.
    pub(super) spans: Vec<Span>,
}

/// What a part of a request waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Wait {
    /// A frame, or a place.
    #[default]
    Room,
    /// A page that is on its way or being written.
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

/// Adjacent pages on their way from the backing.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Fetch {
    /// The read that wants them; or [`NONE`](super::operation::NONE).
    pub(super) visit: u32,
    pub(super) since: Time,
    pub(super) first: u64,
    /// The frames, page by page, as numbers of busy ones.
    pub(super) frames: Vec<u32>,
    /// Pages that are not in their frames yet.
    pub(super) left: u32,
    /// Where the time of the backing went.
    pub(super) spans: Vec<Span>,
    pub(super) data: Payload,
}
