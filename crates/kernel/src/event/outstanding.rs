//! Numbers of outstanding requests, and their cancellation.

use crate::state::Value;

/// Number of an outstanding request, chosen by the submitter. Outstanding requests of a device must have
/// different numbers. A number may be reused after its request has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Value)]
pub struct RequestId(pub u32);

/// Result of [`Device::cancel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canceled {
    /// The request was canceled. It does not complete and has written nothing.
    Yes,
    /// The request can no longer be canceled and completes normally.
    TooLate,
}
