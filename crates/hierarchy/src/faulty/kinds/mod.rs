//! Faults of a device: one component per kind.
//!
//! A fault decides about requests on arrival ([`Fault::arrives`]) or about replies of the device
//! ([`Fault::answers`]). It receives only requests that its common settings select. The fault itself
//! changes no request. The faulty device applies the decision of the fault.

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
pub static MODELS: &Table<FaultFamily> = &[
    delay::MODEL,
    slow::MODEL,
    stall::MODEL,
    limit::MODEL,
    error::MODEL,
    failing_flush::MODEL,
    disconnect::MODEL,
    lost_write::MODEL,
    torn_write::MODEL,
    misdirected_write::MODEL,
    bit_rot::MODEL,
    stale_read::MODEL,
];

/// A fault, and the settings that determine when and how the device consults it.
pub struct Built {
    /// Selects the affected requests and times.
    pub when: When,
    /// Operations that the fault can affect.
    pub touchable: &'static [Op],
    /// Time at which the fault makes its decision.
    pub decision_point: DecisionPoint,
    /// The fault.
    pub fault: Box<dyn Fault>,
}

impl std::fmt::Debug for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Built").field("when", &self.when).field("touchable", &self.touchable).finish()
    }
}

/// Time at which a fault makes its decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionPoint {
    /// The fault decides when the request arrives.
    OnArrival,
    /// The fault decides when the device replies.
    OnAnswer,
    /// The fault decides both when the request arrives and when the device replies.
    OnBoth,
}

/// All operations.
pub(crate) const ALL: &[Op] = &[Op::Read, Op::Write, Op::Trim, Op::Flush];

/// A fault.
pub trait Fault: State + Send {
    /// Decides about an affected request that arrives at `now`. The current activation of the fault ends at
    /// `until`.
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        Decision::None
    }

    /// Decides about an affected request to which the device replies at `now`. The current activation of the
    /// fault ends at `until`.
    fn answers(&mut self, _now: Time, _until: Time) -> Decision {
        Decision::None
    }

    /// Records a write or trim with this data, even if the fault is not active.
    fn writes(&mut self, _request: &Request, _data: &Payload) {}

    /// Replaces the data of a read with old data, if known. Returns the number of corrupted bytes.
    fn reads(&mut self, _request: &Request, _data: &mut Payload) -> u64 {
        0
    }

    /// Handles a power loss, after which no request is outstanding.
    fn power_failed(&mut self) {}
}

/// Decision of a fault about a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// The request is not affected and not counted.
    None,
    /// The request waits until this time.
    Hold(Time),
    /// The reply is delayed.
    Later(Later),
    /// The request does not reach the device, and the fault replies to it.
    Instead {
        /// Time from the request to its reply.
        after: Time,
        /// Status of the reply.
        status: Status,
    },
    /// The device performs the request, but the fault replaces its reply with a delayed error.
    AnswerLost {
        /// Time from the reply to the error.
        after: Time,
    },
    /// The device receives a corrupted write.
    Write(Wrong),
    /// A read returns old data, if known.
    Stale,
}

/// Delay of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
pub enum Later {
    /// Constant delay.
    By(Time),
    /// Delay equal to this multiple of the time that the request spent in the device.
    Times(f64),
}

/// Corruption of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// No data is written, but the write is acknowledged.
    Lost {
        /// Time from the request to its reply.
        after: Time,
    },
    /// Only the first bytes are written.
    Torn {
        /// Number of bytes written.
        bytes: u32,
    },
    /// The data is written at the requested address plus this distance. If this location is past the end of
    /// the device, the data is written at the requested address minus this distance.
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
