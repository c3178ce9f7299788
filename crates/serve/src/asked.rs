//! What clients ask of a device, and what they are told.

use nacre_image::ImageError;
use nacre_kernel::event::Payload as Bytes;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Op, Span, Status, Time};
use std::time::Instant;

/// When requests are answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// When the model says, every duration times `dilation`.
    Emulated {
        /// At least one.
        dilation: f64,
        /// What a duration is counted from.
        since: Since,
    },
    /// At once; no device is modeled.
    None,
}

/// The moment from which a device takes its time for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Its arrival at the server: no answer is early, and the way comes on top.
    Arrival,
    /// Its sending, as far as the server can tell: a client usually sees the time of the model. One whose way is shorter
    /// than usual sees less.
    Sending,
}

impl Timing {
    /// As its user writes it.
    pub fn name(self) -> &'static str {
        match self {
            Timing::Emulated { since: Since::Arrival, .. } => "emulated",
            Timing::Emulated { since: Since::Sending, .. } => "compensated",
            Timing::None => "none",
        }
    }
}

/// What a request asks of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRequest {
    /// What.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u32,
    /// Whether it is done only when it is safe.
    pub forced: bool,
}

/// What latencies are kept of, in the order of their histograms. A forced write (FUA) is counted as a write, too; a flush
/// that makes one safe is none of its own.
pub const TIMED: [&str; 4] = ["read", "write", "flush", "forced_write"];

/// One histogram of each kind of [`TIMED`].
pub type Timed = [LatencyHistogram; TIMED.len()];

impl HostRequest {
    /// Records its latency.
    pub(crate) fn record(self, latency: Time, into: &mut Timed) {
        match self.op {
            Op::Read => into[0].record(latency),
            Op::Write => into[1].record(latency),
            Op::Flush => into[2].record(latency),
            Op::Trim => {}
        }
        if self.op == Op::Write && self.forced {
            into[3].record(latency);
        }
    }
}

/// The bytes of a request.
#[derive(Debug)]
pub(crate) enum Payload<'a> {
    /// There are none.
    None,
    /// What is written.
    Write(&'a [u8]),
    /// Zeroes are written.
    Zeroes,
}

/// A request that was given to the device, as its client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    /// When its request was there.
    pub(crate) arrived: Instant,
    /// The same in simulated time; or later, where it comes behind something else.
    pub(crate) came: Time,
}

/// What a device answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) said: Outcome,
    /// What a read returned.
    pub(crate) data: Bytes,
    /// Where its time went, if somebody looks.
    pub(crate) spans: Vec<Span>,
    /// Why it is none: a page that the image could not give was read as something else.
    pub(crate) failure: Option<ImageError>,
}

/// What the model said of one request.
#[derive(Clone, Copy, Debug)]
pub struct TimedReply {
    /// When its client sent it, as far as the server can tell: the whole way, there and back, lies before.
    pub sent: Instant,
    /// When it is to be answered.
    pub deadline: Instant,
    /// The same in simulated time.
    pub said: Outcome,
}

/// What the model says of one request, in simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When the device was asked.
    pub now: Time,
    /// When it is done.
    pub done: Time,
    /// Whether the device did it.
    pub status: Status,
}
