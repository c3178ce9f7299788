//! Outstanding requests: how they are named, and what becomes of one that is withdrawn.

use crate::state::Value;

/// Names one outstanding request of one device. The submitter chooses it; no two outstanding requests of a device share
/// a number, and a number may be used again once its request has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Value)]
pub struct RequestId(pub u32);

/// The outcome of [`Device::cancel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canceled {
    /// The request is gone: it does not complete, and what it would have written was not written.
    Yes,
    /// The request is too far along and completes as if nothing had been asked.
    TooLate,
}
