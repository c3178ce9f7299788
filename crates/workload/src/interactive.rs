//! Workloads whose requests depend on when earlier ones complete.

use crate::{WorkloadError, keep_writes};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Request, Status, Time};

/// Interface of a workload that is notified of each completion, in time order.
///
/// Its times count from the start of the workload. The driver merges its next event with those of the device:
/// the earlier one happens first. `now` never decreases over calls.
pub trait Interactive {
    /// Time of its next action if nothing completes earlier; [`Time::MAX`] if it only waits for completions
    /// or has ended. Never before the time of the last call.
    fn next_event(&self) -> Time;

    /// Performs the actions due at `now`, its next event, and appends the requests issued at that time.
    ///
    /// Their arrival is `now`. Errors are user errors: a bad trace, or times past the maximum.
    fn step(&mut self, now: Time, issued: &mut Vec<Issued>) -> Result<(), WorkloadError>;

    /// Notifies it that request `tag` completed at `now`. Consequences follow in the next step, which may be
    /// due at `now`.
    fn complete(&mut self, now: Time, tag: u32, status: Status);
}

/// A request that an interactive workload issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Issued {
    /// The request; it arrives at the time of the step.
    pub request: Request,
    /// Names it until it completes. No two outstanding requests have the same tag.
    pub tag: u32,
    /// Time waiting for a slot among other tenants before its arrival; part of its latency.
    pub waited: Time,
}

/// Runs an interactive workload without a device: each request completes when it is issued.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Unheard {
    /// Issued requests not yet returned, the next one last.
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

    /// Appends up to `limit` of its next writes, without times.
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
