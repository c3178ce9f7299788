//! Numbers of outstanding requests, and their cancellation.

use crate::state::Value;

/// Number of an outstanding request of a device. The submitter chooses it. Outstanding requests of a device
/// have different numbers; a number may be reused after its request has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Value)]
pub struct RequestId(pub u32);

/// The outcome of [`Device::cancel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canceled {
    /// The request was canceled: it does not complete and wrote nothing.
    Yes,
    /// The request can no longer be canceled and completes normally.
    TooLate,
}
