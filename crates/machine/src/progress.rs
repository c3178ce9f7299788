//! Progress of work.

use nacre_kernel::Time;
use std::ops::ControlFlow;

/// Number of requests fetched from the workload at a time.
pub(crate) const BATCH: usize = 4096;

/// A function that is called with the progress. A break ends the work.
pub type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Whether preconditioning is in progress, in which case its writes are counted.
    pub preconditioning: bool,
    /// Number of requests served.
    pub done: u64,
    /// Expected number of requests, if known.
    pub expected: Option<u64>,
    /// Simulated time reached.
    pub simulated: Time,
}
