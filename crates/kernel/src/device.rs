//! The contract every storage component keeps, from a single disk to a stack of caches.
//!
//! A device is a pure state machine. It has no clock, no I/O, no threads and no globals; a driver
//! calls it with simulated time. A composite device calls its children's [`Device::submit`], so a
//! hierarchy is a chain of function calls, not of events.

use crate::ledger::{Activity, ComponentReport};
use crate::request::Request;
use crate::state::State;
use crate::time::Time;
use crate::units::Bytes;

/// A storage component under simulation.
///
/// The driver promises that the `now` of successive calls never decreases at the top of a stack.
/// A composite may call its children with a later `now` (after its own delay) and then again with an
/// earlier one, so a device reserves its resources on gap-filling timelines and not by a running clock.
pub trait Device: State + Send {
    /// Serves `request`, which reaches the device at `now`, and says when it is done and how it went.
    ///
    /// The device adds the time the request spent in it, and in its children, to `breakdown`; the added
    /// segments sum to `done - now`. The request lies within [`Device::capacity`].
    fn submit(&mut self, now: Time, request: &Request, breakdown: &mut Breakdown) -> Completion;

    /// Forgets what lies before `to`; no later call has a `now` before it.
    ///
    /// It bounds memory and never changes a completion: with and without calls of it, the same requests
    /// are done at the same times.
    fn advance(&mut self, to: Time);

    /// The bytes it can hold, or `None` where the model sets no limit.
    fn capacity(&self) -> Option<Bytes>;

    /// When the last of all its work so far ends, children included: work that no request waits for (a
    /// cache's fills, a drive's buffered writes) may outlive the last completion.
    fn busy_until(&self) -> Time;

    /// Measuring begins now: forgets every count, busy time and energy so far, children included.
    /// Its state (what is cached, where the arm stands, what is reserved) stays as it is.
    fn restart_ledger(&mut self);

    /// What it did during `elapsed` of simulated time, since it was built or
    /// [`Device::restart_ledger`] was called, children included. Idle energy and lifetime follow from
    /// `elapsed`, which reaches to [`Device::busy_until`] at least where they are to be exact.
    fn report(&self, elapsed: Time) -> ComponentReport;

    /// Panics if the device's books do not balance. Called by tests, never on the hot path.
    fn check_invariants(&self);

    /// Brings the device into the state that the writes among `requests` leave behind, before time begins:
    /// no time passes. What is counted meanwhile is forgotten with [`Device::restart_ledger`]. `false` where
    /// a device has no such state.
    fn precondition(&mut self, _requests: &[Request]) -> bool {
        false
    }

    /// Goes on with these writes, each as often as it says and one after the other, until the first block or row
    /// of the medium is programmed more often than it is made for: only wear and mapping change, no time passes.
    /// `None` where the device does not know what its medium is made for.
    fn wear_out(&mut self, _bursts: &[Burst]) -> Option<Endured> {
        None
    }

    /// Whether what was last written to these bytes, and acknowledged, survives if the power is lost at `at`, which
    /// is not before the last request. It does where writes are acknowledged when the medium, or memory that
    /// keeps its content, has them.
    fn is_durable(&self, _at: Time, _address: u64, _bytes: u32) -> bool {
        true
    }

    /// These requests come next. Reads the memory they will need, all at once, so that serving them finds
    /// it in the processor's caches. Changes no result.
    #[inline]
    fn prefetch(&self, _requests: &[Request]) {}
}

/// A write that is made again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// What is written.
    pub request: Request,
    /// How often.
    pub times: u64,
}

/// How far a medium took writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endured {
    /// It took them all.
    All,
    /// The first block or row wore out.
    WornOut {
        /// The writes up to and with the one that did it.
        writes: u64,
    },
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The device did what was asked.
    Done,
    /// The device could not return the data. Misbehaviour of a device is data, not an error.
    MediaError,
    /// The device takes no writes any more: its medium is worn out.
    WriteRefused,
}

/// The answer to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// When the host may go on.
    pub done: Time,
    /// How it ended.
    pub status: Status,
}

/// Names one component of a built stack; given out when the stack is built, parents before children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(pub u8);

/// Time one request spent in one component on one activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where.
    pub component: ComponentId,
    /// Doing what.
    pub activity: Activity,
    /// How long.
    pub time: Time,
}

/// A span that is none.
const EMPTY: Segment = Segment { component: ComponentId(0), activity: Activity::Queue, time: Time::ZERO };

/// Where one request's time went: its critical path through the stack, in the order it was walked.
///
/// Of parts served side by side only the one that finishes last is on the path.
#[derive(Clone, Debug)]
pub struct Breakdown {
    /// The first `count` are those of the request.
    segments: Vec<Segment>,
    count: usize,
}

impl Default for Breakdown {
    fn default() -> Breakdown {
        Breakdown::new()
    }
}

impl Breakdown {
    /// An empty breakdown.
    pub fn new() -> Breakdown {
        Breakdown { segments: vec![EMPTY; 32], count: 0 }
    }

    /// Adds `time` spent in `component` on `activity`. Empty spans leave no trace.
    #[inline]
    pub fn add(&mut self, component: ComponentId, activity: Activity, time: Time) {
        self.add_all(component, [(activity, time)]);
    }

    /// Adds several spans of one component, one after the other.
    #[inline(always)]
    pub fn add_all<const SPANS: usize>(&mut self, component: ComponentId, spans: [(Activity, Time); SPANS]) {
        if self.count + SPANS > self.segments.len() {
            self.grow();
        }
        let room = &mut self.segments[self.count..][..SPANS];
        let mut added = 0;
        for (activity, time) in spans {
            // Written in any case, and counted where there is something: whether a request waits is not to be
            // guessed by a processor.
            room[added] = Segment { component, activity, time };
            added += usize::from(!time.is_zero());
        }
        self.count += added;
    }

    #[cold]
    fn grow(&mut self) {
        self.segments.resize(2 * self.segments.len(), EMPTY);
    }

    /// The segments so far.
    #[inline]
    pub fn segments(&self) -> &[Segment] {
        &self.segments[..self.count]
    }

    /// How many segments there are: a mark to come back to with [`Breakdown::drop_range`].
    #[inline]
    pub fn mark(&self) -> usize {
        self.count
    }

    /// Removes the segments from mark `from` up to mark `to`: a part that was not on the critical path.
    #[inline]
    pub fn drop_range(&mut self, from: usize, to: usize) {
        if from != to {
            self.segments.copy_within(to..self.count, from);
            self.count -= to - from;
        }
    }

    /// Removes everything.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The sum of the segments from mark `from` on.
    pub fn total_from(&self, from: usize) -> Time {
        self.segments()[from..].iter().fold(Time::ZERO, |sum, segment| sum + segment.time)
    }
}
