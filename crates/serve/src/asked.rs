//! Requests of clients to a device, and the replies.

use nacre_image::ImageError;
use nacre_kernel::event::Payload as Bytes;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Op, Span, Status, Time};
use std::time::Instant;

/// Timing of replies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// Replies are sent at the modeled time. Every duration is multiplied by `dilation`.
    Emulated {
        /// Factor for all durations, at least one.
        dilation: f64,
        /// Start of the modeled time of a request.
        since: Since,
    },
    /// Replies are sent immediately, and no device is modeled.
    None,
}

/// Start of the modeled time of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Arrival of the request at the server. No reply is early, and the transport delay is added.
    Arrival,
    /// Time at which the client sent the request, as estimated by the server. A client usually observes the
    /// modeled time. A client with a shorter transport delay observes less.
    Sending,
}

impl Timing {
    /// Returns the name on the command line.
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
    /// Operation of the request.
    pub op: Op,
    /// Offset of the first byte.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// Whether the request completes only when it is durable (FUA).
    pub forced: bool,
}

/// Request types that have latency histograms, in order. A forced write (FUA) also counts as a write. Its
/// flush is not counted separately.
pub const TIMED: [&str; 4] = ["read", "write", "flush", "forced_write"];

/// Latency histograms of all types in [`TIMED`].
pub type Timed = [LatencyHistogram; TIMED.len()];

impl HostRequest {
    /// Records the latency of this request in the histograms `into`.
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

/// Data of a request.
#[derive(Debug)]
pub(crate) enum Payload<'a> {
    /// No data.
    None,
    /// Data to write.
    Write(&'a [u8]),
    /// Write of zeros.
    Zeroes,
}

/// Identifies a request that was submitted to the device, so that the server can match the reply to its
/// client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    /// Arrival of the request.
    pub(crate) arrived: Instant,
    /// Arrival in simulated time. If the request must follow another request, this is a later time.
    pub(crate) came: Time,
}

/// Reply of a device.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) said: Outcome,
    /// Data of a read.
    pub(crate) data: Bytes,
    /// Latency breakdown, if it was requested.
    pub(crate) spans: Vec<Span>,
    /// Failure of the image. In this case, an unreadable page was read as other data.
    pub(crate) failure: Option<ImageError>,
}

/// Result of the model for a request.
#[derive(Clone, Copy, Debug)]
pub struct TimedReply {
    /// Estimated time at which the client sent the request, i.e. the arrival minus the transport delay in
    /// both directions.
    pub sent: Instant,
    /// Time at which the reply is due.
    pub deadline: Instant,
    /// Result in simulated time.
    pub said: Outcome,
}

/// Result of the model for a request in simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Submission time.
    pub now: Time,
    /// Completion time.
    pub done: Time,
    /// Status that the device returned.
    pub status: Status,
}
