//! Operations of the flash and requests to the backing: each begins when it waits for nothing.

use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, ComponentId, Request, Span, Stage, Status, Time};
use std::collections::VecDeque;

/// The number of nothing.
pub(super) const NONE: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Step {
    /// Reads a page of flash, and decodes it.
    #[default]
    Sense,
    /// Takes a page out of the controller's memory.
    Look,
    /// Encodes and programs a page of flash.
    Program,
    /// Programs a page of the journal.
    Journal,
    /// Erases a block.
    Erase,
    /// Reads adjacent pages from the backing.
    Fetch,
    /// Writes adjacent pages to the backing.
    Back,
    /// Flushes the backing behind that.
    Safe,
    /// Writes a page of the host past the flash.
    Through,
    /// Flushes the backing behind that.
    ThroughSafe,
    /// A trim of the host.
    Trim,
    /// A flush of the host.
    Flush,
}

/// What a write of the host takes the place of, if it is undone.
#[derive(Clone, Debug, Default, Value)]
pub(super) enum Before {
    /// What the backing has.
    #[default]
    Elsewhere,
    /// Bytes that the cache alone had.
    Dirty(Payload),
    /// Nothing: the data is lost, or cannot be read.
    Lost,
}

/// One operation.
#[derive(Clone, Debug, Value)]
pub(super) struct Operation {
    pub(super) step: Step,
    /// For how many things it waits.
    pub(super) waits: u32,
    /// Operations that wait for it.
    pub(super) dependents: Vec<u32>,
    /// When it was decided, and when it waited for nothing any more.
    pub(super) created: Time,
    pub(super) began: Time,
    /// The page and block of flash.
    pub(super) page: u32,
    pub(super) block: u32,
    /// The block with the page that it replaces or sends back: that block is erased behind it.
    pub(super) supersedes: u32,
    /// How many operations there were before it.
    pub(super) serial: u64,
    /// What it takes of its die.
    pub(super) time: Time,
    pub(super) activity: Activity,
    /// The code of the page, and its bit errors.
    pub(super) code: u8,
    pub(super) wrong: u32,
    /// Whether it is a hit of the host.
    pub(super) is_hit: bool,
    /// The operation that brings the data of a program, while that is not at hand.
    pub(super) source: u32,
    /// When the block of a program was erased, if it waited for that.
    pub(super) erased: Time,
    pub(super) before: Before,
    /// The first page of the backing, and how many.
    pub(super) key: u64,
    pub(super) pages: u64,
    pub(super) request: Request,
    pub(super) data: Payload,
    /// Bytes of an older page that left the flash while a newer one is written past it.
    pub(super) keeps: Option<Payload>,
    /// The part of a request that ends with it, and how.
    pub(super) part: Option<Waiter>,
    pub(super) status: Status,
}

impl Default for Operation {
    fn default() -> Operation {
        Operation {
            step: Step::Sense,
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

/// A part of a request: a read or write of a page, or a trim that waits for one.
#[derive(Clone, Debug, Value)]
pub(super) struct Waiter {
    pub(super) visit: u32,
    pub(super) key: u64,
    pub(super) is_write: bool,
    /// The trim; or [`NONE`].
    pub(super) trim: u32,
    /// When the request was looked up.
    pub(super) since: Time,
    /// Where its time went so far.
    pub(super) spans: Vec<Span>,
    /// What the host writes of the page.
    pub(super) data: Payload,
    /// Whether it is among the accesses, and a write among the hits and misses.
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
    /// Time went into `activity` of `component`.
    pub(super) fn add(&mut self, component: ComponentId, activity: Activity, time: Time) {
        if !time.is_zero() {
            self.spans.push(Span { component, activity, stage: Stage::Untold, time });
        }
    }

    /// Time up to `now` that nothing explains yet went into `rest`.
    pub(super) fn fill_up(&mut self, component: ComponentId, now: Time, rest: Activity) {
        let told = total(&self.spans);
        self.add(component, rest, (now - self.since) - told);
    }
}

/// A page of the backing on its way to the controller, or written past the flash; and who waits for that.
#[derive(Clone, Debug, Value)]
pub(super) struct Busy {
    /// The operation that writes it past the flash; or [`NONE`].
    pub(super) through: u32,
    pub(super) waiters: VecDeque<Waiter>,
}

/// A request that is being looked up.
#[derive(Clone, Debug, Value)]
pub(super) struct Arrival {
    pub(super) begins: Time,
    /// When it came.
    pub(super) came: Time,
    pub(super) id: RequestId,
    pub(super) request: Request,
    pub(super) data: Payload,
}

/// What happens at a time that is known beforehand.
#[derive(Clone, Copy, Debug, Value)]
pub(super) enum Event {
    /// A die is done.
    Die(u32),
    /// An operation has its page encoded.
    Encoded(u32),
    /// An operation ends.
    Done(u32),
    /// An operation waits for one thing less.
    Start(u32),
}

/// How long all of them take.
#[inline]
pub(super) fn total(spans: &[Span]) -> Time {
    spans.iter().fold(Time::ZERO, |sum, span| sum + span.time)
}
