//! Completions of requests.

use crate::state::Value;
use crate::time::Time;

/// Status of a completed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub enum Status {
    /// The request succeeded.
    #[default]
    Done,
    /// The medium could not return or store the data. Errors of a simulated device are results, not errors of
    /// the simulator.
    MediaError,
    /// The device rejected the write. Its medium is worn out, and part of the write may have been stored. Or it has
    /// zones and rejects this write or zone command; a [`ZoneRefusal`](crate::ZoneRefusal) has the reason.
    WriteRefused,
    /// The device did not complete the request in time: whether it took effect is unknown.
    TransportError,
}

/// The completion of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Time at which the host may continue.
    pub done: Time,
    /// Status of the request.
    pub status: Status,
}
