//! What a host is answered.

use crate::state::Value;
use crate::time::Time;

/// Status of a completed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub enum Status {
    /// The device did what was asked.
    #[default]
    Done,
    /// The medium could not return the data, take it or save it. Misbehavior of a device is data, not an error.
    MediaError,
    /// The device takes no writes any more, since its medium is worn out: of a write of several units it may have taken
    /// some. Or it has zones, and takes this write nowhere: its zone is full or is written elsewhere, or too many are
    /// active.
    WriteRefused,
    /// The device gave no answer in time: whether it did what was asked is not known.
    TransportError,
}

/// The answer to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// When the host may continue.
    pub done: Time,
    /// Status of the request.
    pub status: Status,
}
