//! Driver on two threads. One thread simulates the stack. The other thread generates further requests and
//! sums the results of completed requests. Both work in request order, so a completed run has the same
//! results as on one thread.

use super::serving::Serving;
use super::{Driver, GROUP};
use crate::meter::{Meter, Notes};
use crate::progress::{BATCH, Progress};
use crate::record::Ending;
use nacre_config::Problems;
use nacre_kernel::{Request, Time};
use nacre_workload::{Pacing, Workload, WorkloadError};
use std::mem::swap;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Number of batches in circulation: the batch that is being served, batches generated ahead, and batches
/// whose results are being summed.
const BATCHES: usize = 4;
/// Minimum expected number of requests for which a second thread is used.
const REQUESTS_MIN: u64 = 16 * BATCH as u64;

/// Executes work on another processor, in parallel with the simulation. The caller implements this trait,
/// because this crate starts no threads.
pub trait Parallel: Sync {
    /// Runs `work` on another thread and `here` on the current thread at the same time. Returns true when
    /// both have ended, and propagates a panic of either. Returns false without running either if no thread
    /// is available.
    fn both(&self, work: Box<dyn FnOnce() + Send + '_>, here: &mut dyn FnMut()) -> bool;
}

/// A batch that circulates between the two threads.
#[derive(Default)]
struct Batch {
    /// Requests to be served.
    requests: Vec<Request>,
    /// Results of the requests that the batch contained before.
    notes: Notes,
}

/// A generated batch, or the error of the workload.
type NextBatch = Result<Batch, WorkloadError>;

impl Driver<'_> {
    /// Returns whether requests may be generated before earlier requests are served. This requires that only
    /// the number of requests may end the run, so that every generated request is served unless the run is
    /// stopped or fails. The run must also not need the workload or the sums before its end.
    pub(super) fn may_go_ahead(&self) -> bool {
        let run = &self.serving.checked.run;
        self.workload.pacing() != Pacing::CompletionDriven
            && self.workload.units(self.served()).is_none()
            && self.rest.is_empty()
            && (run.until.is_none() && self.serving.over_at == Time::MAX)
            && self.expected().is_none_or(|count| count >= REQUESTS_MIN)
    }

    /// Like [`Driver::drive_all`], with a second thread. Returns `None`, before any request is generated, if
    /// no thread is available.
    pub(super) fn drive_on_two_threads(
        &mut self,
        second_thread: &dyn Parallel,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Option<Result<Ending, Problems>> {
        let (limit, expected) = (self.limit(), self.expected());
        let (give, drawn) = sync_channel(BATCHES);
        let (give_back, served) = sync_channel(BATCHES);
        let (workload, meter, serving) = (&mut *self.workload, &mut self.meter, &mut self.serving);
        let mut is_summed_up = false;
        let summed_up = &mut is_summed_up;
        let work = Box::new(move || {
            draw(workload, meter, limit, &served, &give);
            *summed_up = true;
        });
        // The other thread ends when these ends of the channels are dropped, even if an assertion fails here.
        let mut ends = Some((drawn, give_back));
        let mut ending = None;
        let mut here = || {
            let (drawn, give_back) = ends.take().expect("it is run once");
            ending = Some(serve(serving, &drawn, &give_back, expected, watch));
        };
        if !second_thread.both(work, &mut here) {
            return None;
        }
        assert!(is_summed_up, "the other thread came to its end");
        ending
    }
}

/// Generates up to `limit` requests and sums the results of completed requests, until the simulating thread
/// returns no more batches.
fn draw(
    workload: &mut dyn Workload,
    meter: &mut Meter,
    limit: u64,
    served: &Receiver<Batch>,
    give: &SyncSender<NextBatch>,
) {
    let mut left = limit;
    while let Ok(mut batch) = served.recv() {
        meter.settle(&mut batch.notes);
        batch.requests.clear();
        let want = BATCH.min(usize::try_from(left).unwrap_or(BATCH));
        let filled = if want > 0 { workload.fill(&mut batch.requests, want) } else { Ok(()) };
        left -= batch.requests.len() as u64;
        // After an error or the end of the workload, there are no more requests.
        if filled.is_err() || batch.requests.is_empty() {
            left = 0;
        }
        if give.send(filled.map(|()| batch)).is_err() {
            // The serving thread has stopped.
            left = 0;
        }
    }
}

/// Serves batches until an empty batch arrives.
fn serve(
    serving: &mut Serving<'_>,
    drawn: &Receiver<NextBatch>,
    give_back: &SyncSender<Batch>,
    expected: Option<u64>,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Ending, Problems> {
    (0..BATCHES).for_each(|_| _ = give_back.send(Batch::default()));
    while let Ok(batch) = drawn.recv() {
        let mut batch = batch.map_err(|error| serving.workload_problem(&error))?;
        if batch.requests.is_empty() {
            break;
        }
        for group in batch.requests.chunks(GROUP) {
            let served = serving.serve(group)?;
            assert!(served.is_continue(), "only the number of requests ends this run");
            if watch(serving.progress(expected)).is_break() {
                return Ok(Ending::Stopped);
            }
        }
        swap(&mut batch.notes, &mut serving.noted.notes);
        // The channel is closed only if an assertion failed in the other thread, which reports it.
        _ = give_back.send(batch);
    }
    serving.ended()
}

#[cfg(test)]
mod tests;
