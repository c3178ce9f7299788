//! Two threads: while requests are served on one, the next are drawn on the other, which also sums up what became of
//! those before. The results of a run that comes to its end are those of one thread: both do their parts in the order of
//! the requests.

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

/// Batches on their way: one that is served, and those that are drawn before their turn or summed up behind it.
const BATCHES: usize = 4;
/// Fewest requests of a run, where their number is known, for which a second thread is worth starting.
const REQUESTS_MIN: u64 = 16 * BATCH as u64;

/// Runs work in parallel to the simulation, on another processor. The machine starts no threads; the caller
/// provides this.
pub trait Beside: Sync {
    /// Runs `work` on another thread and `here`, once, on this one, both at the same time; returns when both are done, and
    /// passes a panic of either on. False: there is no other thread to be had, and neither was run.
    fn both(&self, work: Box<dyn FnOnce() + Send + '_>, here: &mut dyn FnMut()) -> bool;
}

/// What goes around between the two threads.
#[derive(Default)]
struct Batch {
    /// Requests to be served.
    requests: Vec<Request>,
    /// What became of the requests that it held before.
    notes: Notes,
}

/// What drawing a batch came to.
type Drawn = Result<Batch, WorkloadError>;

impl Driver<'_> {
    /// Whether requests may be drawn before those ahead of them are served: nothing but their number may end the run, so
    /// that none is drawn which is not served unless the run is stopped or fails, and nobody looks at workload or sums on
    /// the way.
    pub(super) fn may_go_ahead(&self) -> bool {
        let run = &self.serving.checked.run;
        self.workload.pacing() != Pacing::CompletionDriven
            && self.workload.units(self.served()).is_none()
            && self.rest.is_empty()
            && (run.until.is_none() && self.serving.over_at == Time::MAX)
            && self.expected().is_none_or(|count| count >= REQUESTS_MIN)
    }

    /// As [`Driver::drive_all`]. `None`: there is no other thread to be had, and nothing was drawn.
    pub(super) fn drive_beside(
        &mut self,
        beside: &dyn Beside,
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
        // The other thread ends when these ends of the channels are dropped, also where an assertion fails here.
        let mut ends = Some((drawn, give_back));
        let mut ending = None;
        let mut here = || {
            let (drawn, give_back) = ends.take().expect("it is run once");
            ending = Some(serve(serving, &drawn, &give_back, expected, watch));
        };
        if !beside.both(work, &mut here) {
            return None;
        }
        assert!(is_summed_up, "the other thread came to its end");
        ending
    }
}

/// Draws up to `limit` requests, and adds what became of those before to the sums, as long as batches come back.
fn draw(
    workload: &mut dyn Workload,
    meter: &mut Meter,
    limit: u64,
    served: &Receiver<Batch>,
    give: &SyncSender<Drawn>,
) {
    let mut left = limit;
    while let Ok(mut batch) = served.recv() {
        meter.settle(&mut batch.notes);
        batch.requests.clear();
        let want = BATCH.min(usize::try_from(left).unwrap_or(BATCH));
        let filled = if want > 0 { workload.fill(&mut batch.requests, want) } else { Ok(()) };
        left -= batch.requests.len() as u64;
        // Behind an error or the end there is nothing to draw.
        if filled.is_err() || batch.requests.is_empty() {
            left = 0;
        }
        if give.send(filled.map(|()| batch)).is_err() {
            // Nobody serves any more.
            left = 0;
        }
    }
}

/// Serves what is drawn, up to the first batch without a request.
fn serve(
    serving: &mut Serving<'_>,
    drawn: &Receiver<Drawn>,
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
        // Nobody is there to take it only if drawing failed an assertion, which the other thread tells.
        _ = give_back.send(batch);
    }
    serving.ended()
}

#[cfg(test)]
mod tests;
