//! The virtual-time driver: issues requests as the workload says, as fast as the host computes.

use crate::clock::Clock;
use crate::meter::Meter;
use crate::record::{Ending, Findings, Outcome, Steadiness, WornOut, outcome};
use crate::scenario::Checked;
use crate::stack::{Built, Files, build_watched};
use nacre_config::{Problem, Problems};
use nacre_kernel::{Breakdown, Data, Device, Request, Time};
use nacre_workload::{Pacing, Units, WorkloadError};
use std::ops::ControlFlow;

/// Requests fetched from the workload at a time.
pub(crate) const BATCH: usize = 4096;
/// Requests served between two looks at who watches, and two calls of `advance`.
const GROUP: usize = 64;
/// Requests whose memory is asked for at once before they are served.
const PREFETCHED: usize = 32;
/// Simulated time a run may reach; `Time` itself ends a little later, so that no sum of a device wraps.
const HORIZON: Time = Time::from_s(200 * 86_400);

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

/// Runs `checked` and returns its record and columns.
///
/// `watch` is called every few dozen requests; when it breaks, the run stops and the record says
/// that it is not complete. Errors are the user's: the scenario or its input is wrong.
pub fn run(
    checked: &Checked,
    files: &dyn Files,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Problems> {
    Ok(outcome(checked, &findings(checked, files, watch)?))
}

/// As [`run`], up to what the record is made of.
pub(crate) fn findings(
    checked: &Checked,
    files: &dyn Files,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Findings, Problems> {
    let mut built = build_watched(checked, files, watch)?;
    let preconditioning = built.preconditioning.take();
    let mut driver = Driver::new(checked, built);
    driver.check_end()?;
    let prepared = match preconditioning {
        Some(mut workload) => driver.precondition(&mut *workload, watch)?,
        None => ControlFlow::Continue(()),
    };
    let mut ending = if prepared.is_break() { Ending::Stopped } else { driver.drive(watch)? };
    driver.device.check_invariants();
    driver.meter.settle();
    if checked.run.wear_out && ending == Ending::Complete {
        ending = driver.wear_out(watch)?;
    }
    let Driver { device, workload, meter, measured, .. } = &driver;
    let findings = Findings::of(&**device, &**workload, meter, *measured, driver.units(), ending);
    let last_arrival = driver.last_arrival;
    Ok(Findings { worn_out: driver.worn_out.take(), steadiness: driver.steadiness, last_arrival, ..findings })
}

pub(crate) struct Driver<'a> {
    pub(crate) checked: &'a Checked,
    pub(crate) device: Box<dyn Device>,
    pub(crate) workload: Box<dyn nacre_workload::Workload>,
    pub(crate) meter: Meter,
    components: usize,
    breakdown: Breakdown,
    capacity: u64,
    duration: Time,
    /// Requests given to the device.
    issued: u64,
    /// Of them, those since measuring began.
    measured: u64,
    /// Units of the workload that were done by then.
    units_before: u64,
    /// When the first block or row was worn out, where the run asks for that.
    pub(crate) worn_out: Option<WornOut>,
    /// How a steady state was looked for.
    pub(crate) steadiness: Option<Steadiness>,
    /// When the last request came, in an open loop.
    last_arrival: Option<Time>,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(checked: &'a Checked, built: Built) -> Driver<'a> {
        Driver {
            checked,
            capacity: built.device.capacity().map_or(u64::MAX, |bytes| bytes.0),
            duration: checked.run.duration.unwrap_or(Time::MAX),
            device: built.device,
            workload: built.workload,
            meter: Meter::new(built.components, Time::ZERO),
            components: built.components,
            breakdown: Breakdown::new(),
            issued: 0,
            measured: 0,
            units_before: 0,
            worn_out: None,
            steadiness: None,
            last_arrival: None,
        }
    }

    pub(crate) fn drive(
        &mut self,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Ending, Problems> {
        let mut clock = Clock::new(self.workload.pacing());
        let ending = self.drive_by(&mut clock, watch)?;
        self.last_arrival = (self.workload.pacing() == Pacing::Open).then(|| clock.last());
        Ok(ending)
    }

    fn drive_by(
        &mut self,
        clock: &mut Clock,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Ending, Problems> {
        let limit = self.checked.run.requests.unwrap_or(u64::MAX);
        let expected = self.workload.expected().map(|count| count.min(limit)).or(self.checked.run.requests);
        let expected = expected.filter(|&count| count < u64::MAX);
        let told = self.workload.pacing() == Pacing::CompletionDriven;
        let mut batch: Vec<Request> = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            let want = BATCH.min(usize::try_from(limit - self.issued).unwrap_or(BATCH));
            if told {
                if self.converse(&mut batch, want.min(GROUP), clock)?.is_break() {
                    return self.ended();
                }
                if watch(self.progress(expected)).is_break() {
                    return Ok(Ending::Stopped);
                }
                continue;
            }
            if want > 0 {
                self.workload.fill(&mut batch, want).map_err(|error| self.workload_problem(&error))?;
            }
            if batch.is_empty() {
                return self.ended();
            }
            for group in batch.chunks(GROUP) {
                if self.serve(group, clock)?.is_break() {
                    return self.ended();
                }
                if watch(self.progress(expected)).is_break() {
                    return Ok(Ending::Stopped);
                }
            }
        }
    }

    fn progress(&self, expected: Option<u64>) -> Progress {
        Progress { preconditioning: false, done: self.issued, expected, simulated: self.meter.end }
    }

    /// Serves `count` requests of a workload that is told when each one is done; breaks at the end of the
    /// workload, of the duration, or when there are none to serve.
    fn converse(
        &mut self,
        batch: &mut Vec<Request>,
        count: usize,
        clock: &mut Clock,
    ) -> Result<ControlFlow<()>, Problems> {
        for _ in 0..count {
            batch.clear();
            self.workload.fill(batch, 1).map_err(|error| self.workload_problem(&error))?;
            let [request] = &batch[..] else { return Ok(ControlFlow::Break(())) };
            self.check_reach(batch, "request", self.issued)?;
            let Some(done) = self.serve_one(request, clock)? else { return Ok(ControlFlow::Break(())) };
            self.workload.complete(done);
        }
        self.device.advance(clock.last());
        Ok(if count > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    /// Serves a few requests; breaks when the duration is over.
    fn serve(&mut self, group: &[Request], clock: &mut Clock) -> Result<ControlFlow<()>, Problems> {
        self.check_reach(group, "request", self.issued)?;
        for group in group.chunks(PREFETCHED) {
            self.device.prefetch(group);
            for request in group {
                if self.serve_one(request, clock)?.is_none() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        self.device.advance(clock.last());
        Ok(ControlFlow::Continue(()))
    }

    /// Serves a request and says when it is done; none if the duration is over.
    #[inline]
    fn serve_one(&mut self, request: &Request, clock: &mut Clock) -> Result<Option<Time>, Problems> {
        let now = clock.issue(request);
        if now >= self.duration {
            return Ok(None);
        }
        if self.issued == self.checked.run.warm_up {
            self.begin_measuring(now);
        }
        self.breakdown.clear();
        let completion = self.device.submit(now, request, Data::None, &mut self.breakdown);
        assert!(completion.done >= now, "a request was done before it was issued");
        if completion.done > HORIZON {
            return Err(self.horizon_problem());
        }
        debug_assert_eq!(self.breakdown.total_from(0), completion.done - now, "the breakdown of {request:?}");
        clock.complete(completion.done);
        self.meter.record(request, now, completion, &self.breakdown);
        self.issued += 1;
        self.measured += 1;
        Ok(Some(completion.done))
    }

    /// The warm-up is over: what was counted so far does not count.
    fn begin_measuring(&mut self, now: Time) {
        self.meter = Meter::new(self.components, now);
        self.measured = 0;
        self.units_before = self.workload.units(self.issued).map_or(0, |units| units.done);
        self.device.restart_ledger();
    }

    /// Whole units of the workload since measuring began, where it has any.
    fn units(&self) -> Option<Units> {
        let units = self.workload.units(self.issued)?;
        Some(Units { done: units.done - self.units_before, ..units })
    }

    /// A workload that never ends needs a run that does.
    fn check_end(&self) -> Result<(), Problems> {
        let run = &self.checked.run;
        if self.workload.expected() != Some(u64::MAX) || run.requests.is_some() || run.duration.is_some() {
            return Ok(());
        }
        let problem = "the workload never ends, and nothing ends the run".to_string();
        Err(self.run_problem("run.requests", problem, "give run.requests or run.duration"))
    }

    /// The workload, the duration or the request limit has come to its end.
    fn ended(&self) -> Result<Ending, Problems> {
        let warm_up = self.checked.run.warm_up;
        if warm_up > 0 && self.issued <= warm_up {
            let problem = format!("the run ended after {} requests, all of them warm-up", self.issued);
            return Err(self.run_problem("run.warm_up", problem, "lower it, or run more requests"));
        }
        Ok(Ending::Complete)
    }

    /// All of `requests` end within the stack; before them came `before` of what `what` calls them.
    #[inline]
    pub(crate) fn check_reach(&self, requests: &[Request], what: &str, before: u64) -> Result<(), Problems> {
        let reaches_past = |request: &Request| {
            let end = request.address.checked_add(u64::from(request.bytes));
            end.is_none_or(|end| end > self.capacity)
        };
        match requests.iter().position(reaches_past) {
            None => Ok(()),
            Some(index) => Err(self.reach_problem(&requests[index], what, before + index as u64 + 1)),
        }
    }

    #[cold]
    fn reach_problem(&self, request: &Request, what: &str, number: u64) -> Problems {
        let end = u128::from(request.address) + u128::from(request.bytes);
        let problem =
            format!("{what} {number} reaches to byte {end}, and the stack ends at byte {}", self.capacity);
        // Only what has to be read to be known, a trace, gets this far: see `stack::build`.
        let remedy = "use a larger device, or placement = \"compact\"";
        self.run_problem(self.checked.scenario.workload.path(), problem, remedy)
    }

    fn horizon_problem(&self) -> Problems {
        let problem =
            format!("request {} would be done after {HORIZON}, where simulated time ends", self.issued + 1);
        self.run_problem("stack", problem, "use a faster device, a lower rate or fewer requests")
    }

    pub(crate) fn run_problem(&self, path: &str, problem: String, remedy: &str) -> Problems {
        let resolved = self.checked.resolved.iter().find(|resolved| resolved.path == path);
        Problem::new(path, resolved.map(|resolved| &resolved.node.origin), problem).remedy(remedy).into()
    }

    pub(crate) fn workload_problem(&self, error: &WorkloadError) -> Problems {
        self.run_problem(error.path(), error.problem(), &error.remedy())
    }
}

#[cfg(test)]
mod tests;
