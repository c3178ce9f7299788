//! Faults of a device: one component per kind.
//!
//! A fault decides about requests on arrival ([`Fault::arrives`]) or about replies of the device
//! ([`Fault::answers`]). It sees only requests that its common settings select. It changes nothing itself:
//! the faulty device applies its decision.

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

/// The faults, in documentation order.
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

/// All operations.
pub(crate) const ALL: &[Op] = &[Op::Read, Op::Write, Op::Trim, Op::Flush];

/// A fault.
pub trait Fault: State + Send {
    /// Decides about an affected request that arrives at `now`. The fault ends at `until`.
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        Decision::None
    }

    /// Decides about an affected request that the device answers at `now`. The fault ends at `until`.
    fn answers(&mut self, _now: Time, _until: Time) -> Decision {
        Decision::None
    }

    /// Notes a write or trim with this data, whether or not the fault is active.
    fn writes(&mut self, _request: &Request, _data: &Payload) {}

    /// Replaces the data of a read by old data; returns the corrupted bytes.
    fn reads(&mut self, _request: &Request, _data: &mut Payload) -> u64 {
        0
    }

    /// Handles a power loss: nothing is outstanding.
    fn power_failed(&mut self) {}
}

/// Decision of a fault about a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Does not affect the request, which is not counted.
    None,
    /// The request continues then, not earlier.
    Hold(Time),
    /// Delays the reply.
    Later(Later),
    /// Bypasses the device: replies after this delay.
    Instead {
        /// Time from the request to its reply.
        after: Time,
        /// Status of the request.
        status: Status,
    },
    /// The device performs the request, and its reply is replaced by an error after this delay.
    AnswerLost {
        /// Time from the reply to the error.
        after: Time,
    },
    /// The device receives a corrupted write.
    Write(Wrong),
    /// A read is answered with old data, if known.
    Stale,
}

/// Delay of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
pub enum Later {
    /// Adds this time.
    By(Time),
    /// Multiplies the time in the device.
    Times(f64),
}

/// Corruption of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Nothing is written; the write is acknowledged after this delay.
    Lost {
        /// Time from the request to its reply.
        after: Time,
    },
    /// Only its first bytes are written.
    Torn {
        /// Number of bytes.
        bytes: u32,
    },
    /// It is written at this distance after its address, or before it at the end of the device.
    Misdirected {
        /// Distance in bytes.
        distance: u64,
    },
    /// One bit is inverted.
    Rotten {
        /// Index of the bit.
        bit: u64,
    },
}
