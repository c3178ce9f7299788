//! Requests of clients to a device, and the replies of the device.

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
        /// Instant from which the modeled latency of a request is counted.
        since: Since,
    },
    /// Replies are sent immediately, and no device is modeled.
    None,
}

/// Instant from which the modeled latency of a request is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Arrival of the request at the server. No reply is early, and the client observes the transport delay
    /// in addition to the modeled time.
    Arrival,
    /// Time at which the client sent the request, as estimated by the server. A client usually observes the
    /// modeled time. A client with a shorter transport delay than estimated observes a shorter time.
    Sending,
}

impl Timing {
    /// Returns the name of the timing on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Timing::Emulated { since: Since::Arrival, .. } => "emulated",
            Timing::Emulated { since: Since::Sending, .. } => "compensated",
            Timing::None => "none",
        }
    }
}

/// A request to the modeled device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRequest {
    /// Operation of the request.
    pub op: Op,
    /// Offset of the first byte.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// Whether the request completes only when its data is durable (FUA).
    pub forced: bool,
}

/// Request types that have latency histograms, in the order of the histograms. A forced write (FUA) also
/// counts as a write, and its flush is not counted separately.
pub const TIMED: [&str; 4] = ["read", "write", "flush", "forced_write"];

/// Latency histograms of all types in [`TIMED`].
pub type Timed = [LatencyHistogram; TIMED.len()];

impl HostRequest {
    /// Records `latency` as the latency of this request in the histograms `into`.
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

/// Ticket for a request that was submitted to the device. The server uses the ticket to find the client of a
/// reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    /// Arrival of the request.
    pub(crate) arrived: Instant,
    /// Arrival in simulated time, or a later time if the request must follow another request.
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
    /// Error of the image, if it has failed. In this case, the data of an unreadable page may be wrong.
    pub(crate) failure: Option<ImageError>,
}

/// Reply of the modeled device, with the time at which to send the reply.
#[derive(Clone, Copy, Debug)]
pub struct TimedReply {
    /// Estimated time at which the client sent the request, i.e. the arrival minus the transport delay in
    /// both directions.
    pub sent: Instant,
    /// Time at which the reply is due.
    pub deadline: Instant,
    /// Result of the request, with times in simulated time.
    pub said: Outcome,
}

/// Result of a request to the modeled device, with times in simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Submission time.
    pub now: Time,
    /// Completion time.
    pub done: Time,
    /// Status that the device returned.
    pub status: Status,
}
