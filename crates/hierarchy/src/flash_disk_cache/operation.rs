//! Operations on the flash and requests to the backing. Each starts when its wait count reaches zero.

use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, ComponentId, Request, Span, Stage, Status, Time};
use std::collections::VecDeque;

/// Marks an absent number.
pub(super) const NONE: u32 = u32::MAX;

/// Purpose of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Purpose {
    /// Reads a flash page and decodes it.
    #[default]
    Sense,
    /// Takes a page from the controller's memory.
    Look,
    /// Encodes and programs a flash page.
    Program,
    /// Programs a journal page.
    Journal,
    /// Erases a block.
    Erase,
    /// Reads adjacent pages from the backing.
    Fetch,
    /// Writes adjacent pages to the backing.
    Back,
    /// Flushes the backing after a write-back.
    Safe,
    /// Writes a page of the host to the backing. The page does not enter the flash.
    Through,
    /// Flushes the backing after a write that did not enter the flash.
    ThroughSafe,
    /// Performs a host trim.
    Trim,
    /// Performs a host flush.
    Flush,
}

/// Version of a page before a host write. If a power loss interrupts the write, this version is restored.
#[derive(Clone, Debug, Default, Value)]
pub(super) enum Before {
    /// The version is in the backing.
    #[default]
    Elsewhere,
    /// The version was only in the cache. Contains its data.
    Dirty(Payload),
    /// No version exists, because the data was lost or unreadable.
    Lost,
}

/// One operation.
#[derive(Clone, Debug, Value)]
pub(super) struct Operation {
    pub(super) purpose: Purpose,
    /// Number of conditions that the operation waits for.
    pub(super) waits: u32,
    /// Operations that wait for this operation.
    pub(super) dependents: Vec<u32>,
    /// Creation time.
    pub(super) created: Time,
    /// Time at which the operation's last wait ended.
    pub(super) began: Time,
    /// Number of the flash page.
    pub(super) page: u32,
    /// Block that contains the flash page.
    pub(super) block: u32,
    /// Block of the page that this operation replaces or writes back. The block is not erased before the
    /// operation has ended.
    pub(super) supersedes: u32,
    /// Number of operations that were created earlier.
    pub(super) serial: u64,
    /// Time that the operation occupies its die.
    pub(super) time: Time,
    pub(super) activity: Activity,
    /// Number of the page's code.
    pub(super) code: u8,
    /// Number of bit errors of the page.
    pub(super) wrong: u32,
    /// Whether the operation reads a page for a host request that hits.
    pub(super) is_hit: bool,
    /// Operation that supplies the data of a program, or [`NONE`] if the data is available.
    pub(super) source: u32,
    /// Time at which the block of a program was erased, if the program waited for the erase.
    pub(super) erased: Time,
    pub(super) before: Before,
    /// First page of the backing that the operation accesses.
    pub(super) key: u64,
    /// Number of pages of the backing.
    pub(super) pages: u64,
    pub(super) request: Request,
    pub(super) data: Payload,
    /// Data of the older version of a page that left the flash while a newer version is being written to the
    /// backing, if any.
    pub(super) keeps: Option<Payload>,
    /// Request part that ends with this operation, if any.
    pub(super) part: Option<Waiter>,
    /// Status with which the request part ends.
    pub(super) status: Status,
}

impl Default for Operation {
    fn default() -> Operation {
        Operation {
            purpose: Purpose::Sense,
            waits: 1,
            dependents: Vec::new(),
            created: Time::ZERO,
            began: Time::ZERO,
            page: NONE,
            block: NONE,
            supersedes: NONE,
            serial: 0,
            time: Time::ZERO,
            activity: Activity::Read,
            code: 0,
            wrong: 0,
            is_hit: false,
            source: NONE,
            erased: Time::ZERO,
            before: Before::Elsewhere,
            key: 0,
            pages: 0,
            request: Request::default(),
            data: Payload::NONE,
            keeps: None,
            part: None,
            status: Status::Done,
        }
    }
}

/// A part of a request: a read or write of one page, or a trim that waits for a page.
#[derive(Clone, Debug, Value)]
pub(super) struct Waiter {
    pub(super) visit: u32,
    pub(super) key: u64,
    pub(super) is_write: bool,
    /// Number of the trim operation that waits; [`NONE`] for a read or a write.
    pub(super) trim: u32,
    /// Time at which the look-up of the request ended.
    pub(super) since: Time,
    /// Latency breakdown so far.
    pub(super) spans: Vec<Span>,
    /// Data that the host writes to the page.
    pub(super) data: Payload,
    /// Whether the part was counted as an access and, for a write, as a hit or miss.
    pub(super) is_counted: bool,
}

impl Default for Waiter {
    fn default() -> Waiter {
        Waiter {
            visit: NONE,
            key: 0,
            is_write: false,
            trim: NONE,
            since: Time::ZERO,
            spans: Vec::new(),
            data: Payload::NONE,
            is_counted: false,
        }
    }
}

impl Waiter {
    /// Charges time to `activity` of `component`.
    pub(super) fn add(&mut self, component: ComponentId, activity: Activity, time: Time) {
        if !time.is_zero() {
            self.spans.push(Span { component, activity, stage: Stage::Untold, time });
        }
    }

    /// Charges to `rest` the portion of the time from the look-up to `now` that the breakdown does not cover
    /// yet.
    pub(super) fn fill_up(&mut self, component: ComponentId, now: Time, rest: Activity) {
        let told = total(&self.spans);
        self.add(component, rest, (now - self.since) - told);
    }
}

/// A page that is being fetched to the controller, or written to the backing without entering the flash, and
/// the parts that wait for it.
#[derive(Clone, Debug, Value)]
pub(super) struct Busy {
    /// Operation that writes the page to the backing without entering the flash, or [`NONE`].
    pub(super) through: u32,
    pub(super) waiters: VecDeque<Waiter>,
}

/// A request during look-up.
#[derive(Clone, Debug, Value)]
pub(super) struct Arrival {
    pub(super) begins: Time,
    /// Arrival time.
    pub(super) came: Time,
    pub(super) id: RequestId,
    pub(super) request: Request,
    pub(super) data: Payload,
}

/// An event at a known time.
#[derive(Clone, Copy, Debug, Value)]
pub(super) enum Event {
    /// The operation of a die ends.
    Die(u32),
    /// The encoding of an operation's page has ended.
    Encoded(u32),
    /// The last step of an operation ends, e.g. the decoding of its page.
    Done(u32),
    /// One of the waits of an operation has ended.
    Start(u32),
}

/// Total time of all spans.
#[inline]
pub(super) fn total(spans: &[Span]) -> Time {
    spans.iter().fold(Time::ZERO, |sum, span| sum + span.time)
}
