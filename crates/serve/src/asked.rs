//! Requests of clients to a device, and replies.

use nacre_image::ImageError;
use nacre_kernel::event::Payload as Bytes;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Op, Span, Status, Time};
use std::time::Instant;

/// Timing of replies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// At the modeled time, with every duration multiplied by `dilation`.
    Emulated {
        /// At least one.
        dilation: f64,
        /// Start of a duration.
        since: Since,
    },
    /// Immediately; no device is modeled.
    None,
}

/// Start of the modeled time of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Its arrival at the server: no reply is early, and the transport delay is added.
    Arrival,
    /// Its sending, as estimated by the server: a client usually sees the modeled time. A client with a
    /// shorter transport delay sees less.
    Sending,
}

impl Timing {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Timing::Emulated { since: Since::Arrival, .. } => "emulated",
            Timing::Emulated { since: Since::Sending, .. } => "compensated",
            Timing::None => "none",
        }
    }
}

/// A request for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRequest {
    /// The operation.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u32,
    /// Whether it completes only when it is durable (FUA).
    pub forced: bool,
}

/// Request kinds with latency histograms, in order. A forced write (FUA) also counts as a write; the flush
/// after it does not count separately.
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
    /// No data.
    None,
    /// Data to write.
    Write(&'a [u8]),
    /// Zeroes are written.
    Zeroes,
}

/// A request that was submitted to the device, for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    /// Arrival of its request.
    pub(crate) arrived: Instant,
    /// Arrival in simulated time; later if it is ordered after something else.
    pub(crate) came: Time,
}

/// Reply of a device.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) said: Outcome,
    /// Data of a read.
    pub(crate) data: Bytes,
    /// Latency breakdown, if requested.
    pub(crate) spans: Vec<Span>,
    /// Failure of the image: an unreadable page was read as other data.
    pub(crate) failure: Option<ImageError>,
}

/// Result of the model for one request.
#[derive(Clone, Copy, Debug)]
pub struct TimedReply {
    /// Estimated time at which the client sent it: the whole transport delay, in both directions, is before
    /// it.
    pub sent: Instant,
    /// Deadline of the reply.
    pub deadline: Instant,
    /// The result in simulated time.
    pub said: Outcome,
}

/// Result of the model for one request, in simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Submission time.
    pub now: Time,
    /// Completion time.
    pub done: Time,
    /// Whether the device performed it.
    pub status: Status,
}
