//! The virtual-time driver: issues requests as the workload says, as fast as the host computes.

use crate::meter::Meter;
use crate::progress::{BATCH, Progress};
use crate::record::{Ending, Findings, Steadiness, WornOut};
use crate::scenario::Checked;
use crate::stack::Built;
use nacre_config::{Problem, Problems};
use nacre_kernel::{Activity, Breakdown, ComponentId, Data, Device, Request, Time};
use nacre_workload::{Clock, Pacing, Units, WorkloadError};
use std::ops::ControlFlow;

/// How much longer a run is at each look at how well its means are known: looking often finds an interval that is
/// narrow by chance.
const LOOKS: u64 = 8;
/// Requests served between two looks at who watches, and two calls of `advance`.
const GROUP: usize = 64;
/// Requests whose memory is asked for at once before they are served.
const PREFETCHED: usize = 16;
/// The component whose queues hold what waits before the stack: its top.
const TOP: ComponentId = ComponentId(0);
/// Simulated time a run may reach; `Time` itself ends a little later, so that no sum of a device wraps.
const HORIZON: Time = Time::from_s(200 * 86_400);

pub(crate) struct Driver<'a> {
    pub(crate) checked: &'a Checked,
    pub(crate) device: Box<dyn Device>,
    pub(crate) workload: Box<dyn nacre_workload::Workload>,
    pub(crate) meter: Meter,
    components: usize,
    breakdown: Breakdown,
    capacity: u64,
    /// When the run is over.
    over_at: Time,
    pub(crate) clock: Clock,
    /// Requests that the workload gave and that were not served, since the run was over.
    pub(crate) rest: Vec<Request>,
    /// Requests of this workload in the runs before this one.
    before: u64,
    /// Requests given to the device.
    issued: u64,
    /// Of them, those since measuring began.
    measured: u64,
    /// Units of the workload that were done by then.
    units_before: u64,
    /// When the first block or row was worn out, where the run asks for that.
    pub(crate) worn_out: Option<WornOut>,
    /// Writes of preconditioning, those of a fill and of the search for a steady state left out.
    pub(crate) prepared_writes: u64,
    /// How a steady state was looked for.
    pub(crate) steadiness: Option<Steadiness>,
    /// When the last request came, in an open loop.
    last_arrival: Option<Time>,
    /// Measured requests at which it is looked next how well the means are known.
    next_look: u64,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(checked: &'a Checked, built: Built) -> Driver<'a> {
        let tenants = built.workload.tenants().len();
        Driver {
            checked,
            capacity: built.device.capacity().map_or(u64::MAX, |bytes| bytes.0),
            over_at: checked.run.duration.unwrap_or(Time::MAX),
            clock: Clock::new(built.workload.pacing(), Time::ZERO),
            rest: Vec::new(),
            before: 0,
            device: built.device,
            workload: built.workload,
            meter: Meter::new(built.components, tenants, Time::ZERO),
            components: built.components,
            breakdown: Breakdown::new(),
            issued: 0,
            measured: 0,
            units_before: 0,
            worn_out: None,
            prepared_writes: checked.run.first_writes(),
            steadiness: None,
            last_arrival: None,
            next_look: BATCH as u64,
        }
    }

    pub(crate) fn drive(
        &mut self,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Ending, Problems> {
        let ending = self.drive_all(watch)?;
        self.last_arrival = (self.workload.pacing() == Pacing::Open).then(|| self.clock.last());
        Ok(ending)
    }

    fn drive_all(&mut self, watch: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<Ending, Problems> {
        let limit = self.checked.run.requests.unwrap_or(u64::MAX);
        let left = self.workload.expected().map(|count| count.saturating_sub(self.before));
        let expected = left.map(|count| count.min(limit)).or(self.checked.run.requests);
        let expected = expected.filter(|&count| count < u64::MAX);
        let told = self.workload.pacing() == Pacing::CompletionDriven;
        let mut batch: Vec<Request> = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            if self.is_known() {
                return self.ended();
            }
            let want = BATCH.min(usize::try_from(limit - self.issued).unwrap_or(BATCH));
            if told {
                if self.converse(&mut batch, want.min(GROUP))?.is_break() {
                    return self.ended();
                }
                if watch(self.progress(expected)).is_break() {
                    return Ok(Ending::Stopped);
                }
                continue;
            }
            self.fill(&mut batch, want)?;
            if batch.is_empty() {
                return self.ended();
            }
            let first = self.issued;
            for group in batch.chunks(GROUP) {
                if self.serve(group)?.is_break() {
                    self.rest = batch.split_off((self.issued - first) as usize);
                    return self.ended();
                }
                if watch(self.progress(expected)).is_break() {
                    return Ok(Ending::Stopped);
                }
            }
        }
    }

    /// Whether the run may end, since its mean latencies are known as well as was asked.
    fn is_known(&mut self) -> bool {
        let Some(share) = self.checked.run.until else { return false };
        if self.measured < self.next_look {
            return false;
        }
        self.next_look = self.measured + (self.measured / LOOKS).max(BATCH as u64);
        self.meter.settle();
        self.meter.reads.is_known(share) && self.meter.writes.is_known(share)
    }

    /// Up to `limit` requests: those that were left over, or else the next ones.
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), Problems> {
        if !self.rest.is_empty() {
            batch.extend(self.rest.drain(..self.rest.len().min(limit)));
        } else if limit > 0 {
            self.workload.fill(batch, limit).map_err(|error| self.workload_problem(&error))?;
        }
        Ok(())
    }

    fn progress(&self, expected: Option<u64>) -> Progress {
        Progress { preconditioning: false, done: self.issued, expected, simulated: self.meter.end }
    }

    /// Serves `count` requests of a workload that is told when each one is done; breaks at the end of the
    /// workload, of the duration, or when there are none to serve.
    fn converse(&mut self, batch: &mut Vec<Request>, count: usize) -> Result<ControlFlow<()>, Problems> {
        if count == 0 {
            return Ok(ControlFlow::Break(()));
        }
        for _ in 0..count {
            batch.clear();
            self.fill(batch, 1)?;
            let [request] = &batch[..] else { return Ok(ControlFlow::Break(())) };
            self.check_reach(batch, "request", self.issued)?;
            let waited = self.workload.waited();
            let Some(done) = self.serve_one(request, waited)? else {
                self.rest.clone_from(batch);
                return Ok(ControlFlow::Break(()));
            };
            self.workload.complete(done - self.clock.origin());
        }
        self.device.advance(self.clock.last());
        Ok(ControlFlow::Continue(()))
    }

    /// Serves a few requests; breaks when the duration is over.
    fn serve(&mut self, group: &[Request]) -> Result<ControlFlow<()>, Problems> {
        self.check_reach(group, "request", self.issued)?;
        for group in group.chunks(PREFETCHED) {
            self.device.prefetch(group);
            for request in group {
                if self.serve_one(request, Time::ZERO)?.is_none() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        self.device.advance(self.clock.last());
        Ok(ControlFlow::Continue(()))
    }

    /// Serves a request that waited so long for its turn, and says when it is done; none if the duration is over.
    #[inline(always)]
    fn serve_one(&mut self, request: &Request, waited: Time) -> Result<Option<Time>, Problems> {
        let now = self.clock.issue(request);
        if now >= self.over_at {
            self.clock.take_back(now);
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
        self.clock.complete(completion.done);
        if !waited.is_zero() {
            self.breakdown.add(TOP, Activity::Queue, waited);
        }
        self.meter.record(request, now - waited, completion, &self.breakdown);
        self.issued += 1;
        self.measured += 1;
        Ok(Some(completion.done))
    }

    /// The warm-up is over: what was counted so far does not count.
    fn begin_measuring(&mut self, now: Time) {
        self.meter = Meter::new(self.components, self.meter.tenants.len(), now);
        self.measured = 0;
        self.units_before = self.workload.units(self.served()).map_or(0, |units| units.done);
        self.device.restart_ledger();
    }

    /// Whole units of the workload since measuring began, where it has any.
    fn units(&self) -> Option<Units> {
        let units = self.workload.units(self.served())?;
        Some(Units { done: units.done - self.units_before, ..units })
    }

    /// What was measured in a run that ended so.
    pub(crate) fn found(mut self, ending: Ending) -> Findings {
        let (device, workload) = (&*self.device, &*self.workload);
        let mut findings = Findings::of(device, workload, &self.meter, self.measured, self.units(), ending);
        findings.notes.notes.extend(self.beginning());
        let (worn_out, steadiness) = (self.worn_out.take(), self.steadiness.take());
        let (last_arrival, until) = (self.last_arrival, self.checked.run.until);
        Findings { worn_out, steadiness, last_arrival, until, ..findings }
    }

    /// A workload that never ends needs a run that does.
    pub(crate) fn check_end(&self) -> Result<(), Problems> {
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

mod span;
#[cfg(test)]
mod tests;
