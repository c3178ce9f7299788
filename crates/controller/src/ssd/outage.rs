//! What is known of losses of power.

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Recovery, Time};

/// What losses of power left behind.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Outage {
    /// From when on the drive serves requests.
    pub(super) ready: Time,
    /// What the last loss of power did, until the power is back.
    pub(super) interrupted: Recovery,
    /// Erases that recovery does again.
    pub(super) erases: Erases,
    /// Units programmed in all when the mapping was last saved at the end of a recovery, and at the end of the one
    /// that may still be under way.
    pub(super) checkpoint: u64,
    pub(super) next_checkpoint: u64,
}

/// Erases that are done again, and how many on the die that has most.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Erases {
    pub(super) all: u64,
    pub(super) most: u64,
}
