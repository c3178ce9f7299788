//! Workloads whose requests depend on the completion times of earlier requests.

use crate::{WorkloadError, keep_writes};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Request, Status, Time};

/// Interface of a workload that is notified of each completion, in time order.
///
/// Times are relative to the start of the workload. The driver merges the workload's next event with those of
/// the device and processes the earlier event first. `now` never decreases from call to call.
pub trait Interactive {
    /// Time of the next action if no request completes earlier. [`Time::MAX`] means that the workload only
    /// waits for completions, or has ended. The time is never before `now` of the previous call to `step`
    /// or `complete`.
    fn next_event(&self) -> Time;

    /// Performs the actions that are due at `now`, the time of the next event. Appends the requests that the
    /// workload issues at this time.
    ///
    /// The requests arrive at `now`. All errors are user errors: an invalid trace, or a time after the
    /// maximum.
    fn step(&mut self, now: Time, issued: &mut Vec<Issued>) -> Result<(), WorkloadError>;

    /// Handles the completion of request `tag` at `now`. Requests that follow from the completion are issued
    /// by the next step, which may be due at `now`.
    fn complete(&mut self, now: Time, tag: u32, status: Status);
}

/// A request issued by an interactive workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Issued {
    /// The request, which arrives at the time of the step.
    pub request: Request,
    /// Identifies the request until its completion. Outstanding requests have distinct tags.
    pub tag: u32,
    /// Time that the request waited for a slot shared with other tenants before its arrival. This time is
    /// part of its latency.
    pub waited: Time,
}

/// Runs an interactive workload without a device, as if each request completed when it is issued.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Unheard {
    /// Issued requests that were not yet returned, in reverse order.
    #[state(varies)]
    issued: Vec<Issued>,
}

impl Unheard {
    /// Appends up to `limit` of the next requests of `workload`.
    pub(crate) fn fill(
        &mut self,
        workload: &mut dyn Interactive,
        batch: &mut Vec<Request>,
        limit: usize,
    ) -> Result<(), WorkloadError> {
        for _ in 0..limit {
            while self.issued.is_empty() {
                let due = workload.next_event();
                if due == Time::MAX {
                    return Ok(());
                }
                workload.step(due, &mut self.issued)?;
                self.issued.reverse();
            }
            if let Some(Issued { request, tag, .. }) = self.issued.pop() {
                workload.complete(request.arrival, tag, Status::Done);
                batch.push(request);
            }
        }
        Ok(())
    }

    /// Appends up to `limit` of the next writes of `workload`, without times.
    pub(crate) fn fill_writes(
        &mut self,
        workload: &mut dyn Interactive,
        batch: &mut Vec<Request>,
        limit: usize,
    ) -> Result<(), WorkloadError> {
        let full = batch.len() + limit;
        while batch.len() < full {
            let before = batch.len();
            keep_writes(batch, 1, |batch| self.fill(workload, batch, 1))?;
            if batch.len() == before {
                break;
            }
        }
        Ok(())
    }
}
