//! Progress of preconditioning and of a run.

use nacre_kernel::Time;
use std::ops::ControlFlow;

/// Number of requests fetched from the workload at a time.
pub(crate) const BATCH: usize = 4096;

/// A callback that receives the progress. If it returns `Break`, the work stops.
pub type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Progress of preconditioning or of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Whether preconditioning is in progress. In this case, `done` and `expected` are numbers of
    /// preconditioning writes.
    pub preconditioning: bool,
    /// Number of requests served so far.
    pub done: u64,
    /// Expected number of requests, if known.
    pub expected: Option<u64>,
    /// Simulated time reached so far.
    pub simulated: Time,
}
