//! What can be wrong with a device: one room per kind of fault.
//!
//! A fault decides about requests when they arrive ([`Fault::arrives`]) or about answers when the device gives them
//! ([`Fault::answers`]). It sees only requests that its common settings pick. It changes nothing itself: the device of
//! faults does what it decides.

pub mod bit_rot;
pub mod delay;
pub mod disconnect;
pub mod error;
pub mod failing_flush;
pub mod limit;
pub mod lost_write;
pub mod misdirected_write;
pub mod slow;
pub mod stale_read;
pub mod stall;
pub mod torn_write;

use super::when::When;
use nacre_config::{Family, Table};
use nacre_device::Builder;
use nacre_kernel::event::Payload;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Status, Time};

/// The family of faults.
#[derive(Debug)]
pub struct FaultFamily;

impl Family for FaultFamily {
    const NAME: &'static str = "fault";
    type Built = Built;
    type Context<'a> = dyn Builder + 'a;
}

/// The faults, in the order users see them.
pub static ROOMS: &Table<FaultFamily> = &[
    delay::ROOM,
    slow::ROOM,
    stall::ROOM,
    limit::ROOM,
    error::ROOM,
    failing_flush::ROOM,
    disconnect::ROOM,
    lost_write::ROOM,
    torn_write::ROOM,
    misdirected_write::ROOM,
    bit_rot::ROOM,
    stale_read::ROOM,
];

/// A fault as built by its component.
pub struct Built {
    /// Selects the affected requests and times.
    pub when: When,
    /// Kinds of requests that it can touch.
    pub touchable: &'static [Op],
    /// When the fault is applied.
    pub asked: Asked,
    /// The fault.
    pub fault: Box<dyn Fault>,
}

impl std::fmt::Debug for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Built").field("when", &self.when).field("touchable", &self.touchable).finish()
    }
}

/// When a fault is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// When a request arrives.
    OnArrival,
    /// When the device answers.
    OnAnswer,
    /// At both times.
    OnBoth,
}

/// All kinds of requests.
pub(crate) const ALL: &[Op] = &[Op::Read, Op::Write, Op::Trim, Op::Flush];

/// A fault.
pub trait Fault: State + Send {
    /// A request that the fault touches gets to it at `now`. The fault ends at `until`.
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        Decision::None
    }

    /// The device answers a request that the fault touches at `now`. The fault ends at `until`.
    fn answers(&mut self, _now: Time, _until: Time) -> Decision {
        Decision::None
    }

    /// A write or trim goes to the device with this data, whether or not the fault is active.
    fn writes(&mut self, _request: &Request, _data: &Payload) {}

    /// A read that it decided to answer with old data is answered with this data; bytes that it made wrong.
    fn reads(&mut self, _request: &Request, _data: &mut Payload) -> u64 {
        0
    }

    /// Power is lost: nothing is outstanding.
    fn power_failed(&mut self) {}
}

/// Decision of a fault about a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// It leaves the request alone, which then does not count as touched.
    None,
    /// The request continues then, not earlier.
    Hold(Time),
    /// Its answer comes later.
    Later(Later),
    /// The device is not asked: the answer comes `after` so long.
    Instead {
        /// Time from the request to its answer.
        after: Time,
        /// How the request ends.
        status: Status,
    },
    /// The device does what is asked, and its answer is replaced by an error `after` so long.
    AnswerLost {
        /// Time from the answer to the error.
        after: Time,
    },
    /// The device gets a write that is not the one that was asked for.
    Write(Wrong),
    /// A read is answered with old data, where any is known.
    Stale,
}

/// Delay of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
pub enum Later {
    /// By this time.
    By(Time),
    /// By this many times the time that the device took.
    Times(f64),
}

/// Corruption of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Nothing is written, and it is acknowledged `after` so long.
    Lost {
        /// Time from the request to its answer.
        after: Time,
    },
    /// Only its first bytes are written.
    Torn {
        /// How many.
        bytes: u32,
    },
    /// It is written so far behind its address, or as far before if the device ends.
    Misdirected {
        /// How far, in bytes.
        distance: u64,
    },
    /// One bit of it is inverted.
    Rotten {
        /// Which, counted from the first.
        bit: u64,
    },
}
