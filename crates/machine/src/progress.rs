//! How far work has come, for who watches it.

use nacre_kernel::Time;
use std::ops::ControlFlow;

/// Requests fetched from the workload at a time.
pub(crate) const BATCH: usize = 4096;

/// Is told how far work has come, and breaks to end it.
pub type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Whether simulated time has yet to begin; what is counted are then the writes of preconditioning.
    pub preconditioning: bool,
    /// Requests served.
    pub done: u64,
    /// Requests there will be, if known.
    pub expected: Option<u64>,
    /// Simulated time reached.
    pub simulated: Time,
}
