//! The virtual-time driver: issues requests as the workload says, as fast as the host computes.

use crate::meter::Meter;
use crate::record::{Ending, Outcome, outcome};
use crate::scenario::Checked;
use crate::stack::{Built, Files, build};
use nacre_config::{Problem, Problems};
use nacre_kernel::{Device, Request, Time, Trail};
use nacre_workload::{Pacing, WorkloadError};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// Requests fetched from the workload at a time.
const BATCH: usize = 4096;
/// Requests whose memory is asked for at once before they are served.
const WARMED: usize = 16;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Requests served.
    pub done: u64,
    /// Requests there will be, if known.
    pub expected: Option<u64>,
    /// Simulated time reached.
    pub simulated: Time,
}

/// Runs `checked` and returns its record and columns.
///
/// `watch` is called every few thousand requests; when it breaks, the run stops and the record says
/// that it is not complete. Errors are the user's: the scenario or its input is wrong.
pub fn run(
    checked: &Checked,
    files: &dyn Files,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Problems> {
    let built = build(checked, files)?;
    let mut driver = Driver::new(checked, built);
    let ending = driver.drive(watch)?;
    driver.device.check_invariants();
    Ok(outcome(checked, &*driver.device, &*driver.workload, &driver.meter, driver.measured, ending))
}

struct Driver<'a> {
    checked: &'a Checked,
    device: Box<dyn Device>,
    workload: Box<dyn nacre_workload::Workload>,
    meter: Meter,
    components: usize,
    trail: Trail,
    capacity: u64,
    /// Requests given to the device.
    issued: u64,
    /// Of them, those since measuring began.
    measured: u64,
}

impl<'a> Driver<'a> {
    fn new(checked: &'a Checked, built: Built) -> Driver<'a> {
        Driver {
            checked,
            capacity: built.device.capacity().map_or(u64::MAX, |bytes| bytes.0),
            device: built.device,
            workload: built.workload,
            meter: Meter::new(built.components, Time::ZERO),
            components: built.components,
            trail: Trail::new(),
            issued: 0,
            measured: 0,
        }
    }

    fn drive(&mut self, watch: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<Ending, Problems> {
        let mut clock = Clock::new(self.workload.pacing());
        let limit = self.checked.run.requests.unwrap_or(u64::MAX);
        let expected = self.workload.expected().map(|count| count.min(limit)).or(self.checked.run.requests);
        let mut batch: Vec<Request> = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            let want = BATCH.min(usize::try_from(limit - self.issued).unwrap_or(BATCH));
            if want > 0 {
                self.workload.fill(&mut batch, want).map_err(|error| self.workload_problem(&error))?;
            }
            if batch.is_empty() {
                return Ok(Ending::Complete);
            }
            if self.serve(&batch, &mut clock)?.is_break() {
                return Ok(Ending::Complete);
            }
            let progress = Progress { done: self.issued, expected, simulated: self.meter.end };
            if watch(progress).is_break() {
                return Ok(Ending::Stopped);
            }
        }
    }

    /// Serves one batch; breaks when the duration is over.
    fn serve(&mut self, batch: &[Request], clock: &mut Clock) -> Result<ControlFlow<()>, Problems> {
        let duration = self.checked.run.duration.unwrap_or(Time::MAX);
        let warm_up = self.checked.run.warm_up;
        for (index, request) in batch.iter().enumerate() {
            if index % WARMED == 0 {
                self.device.warm(&batch[index..batch.len().min(index + WARMED)]);
            }
            let now = clock.issue(request);
            if now >= duration {
                return Ok(ControlFlow::Break(()));
            }
            if request.address.checked_add(u64::from(request.bytes)).is_none_or(|end| end > self.capacity) {
                return Err(self.capacity_problem(request));
            }
            if self.issued == warm_up && warm_up > 0 {
                self.meter = Meter::new(self.components, now);
                self.measured = 0;
                self.device.restart_ledger();
            }
            if self.issued.is_multiple_of(64) {
                self.device.advance(now);
            }
            self.trail.clear();
            let completion = self.device.submit(now, request, &mut self.trail);
            assert!(completion.done >= now, "a request was done before it was issued");
            debug_assert_eq!(self.trail.total_from(0), completion.done - now, "the trail of {request:?}");
            clock.complete(completion.done);
            self.meter.record(request, now, completion, &self.trail);
            self.issued += 1;
            self.measured += 1;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn capacity_problem(&self, request: &Request) -> Problems {
        let end = u128::from(request.address) + u128::from(request.bytes);
        Problem::new(
            self.checked.scenario.workload.path(),
            None,
            format!(
                "request {} reaches to byte {end}, and the stack ends at byte {}",
                self.issued + 1,
                self.capacity
            ),
        )
        .remedy("use a larger device, a smaller footprint, or `placement = \"compact\"` for a trace")
        .into()
    }

    fn workload_problem(&self, error: &WorkloadError) -> Problems {
        Problem::new(self.checked.scenario.workload.path(), None, error.to_string()).into()
    }
}

/// When the next request is issued.
enum Clock {
    Open,
    Closed {
        /// When each free place of the queue became free.
        free: BinaryHeap<Reverse<Time>>,
        think: Time,
        last: Time,
    },
}

impl Clock {
    fn new(pacing: Pacing) -> Clock {
        match pacing {
            Pacing::Open => Clock::Open,
            Pacing::Closed { queue_depth, think } => Clock::Closed {
                free: (0..queue_depth).map(|_| Reverse(Time::ZERO)).collect(),
                think,
                last: Time::ZERO,
            },
        }
    }

    #[inline]
    fn issue(&mut self, request: &Request) -> Time {
        match self {
            Clock::Open => request.arrival,
            Clock::Closed { free, last, .. } => {
                let Reverse(at) = free.pop().expect("each request issued was completed");
                assert!(at >= *last, "the closed loop went back in time");
                *last = at;
                at
            }
        }
    }

    #[inline]
    fn complete(&mut self, done: Time) {
        if let Clock::Closed { free, think, .. } = self {
            free.push(Reverse(done + *think));
        }
    }
}
