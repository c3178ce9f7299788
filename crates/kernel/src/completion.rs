//! Completions of requests.

use crate::state::Value;
use crate::time::Time;

/// Status of a completed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub enum Status {
    /// The request succeeded.
    #[default]
    Done,
    /// The medium could not return or store the data. An error of a simulated device is a result and not an
    /// error of the simulator.
    MediaError,
    /// The device rejected the write because its medium is worn out; part of the write may have been stored.
    /// A zoned device also uses this status for rejected writes and zone commands, with the reason in a
    /// [`ZoneRefusal`](crate::ZoneRefusal).
    WriteRefused,
    /// The device did not complete the request in time. Whether the request took effect is unknown.
    TransportError,
}

/// The completion of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Time from which the host may continue.
    pub done: Time,
    /// Status of the request.
    pub status: Status,
}
