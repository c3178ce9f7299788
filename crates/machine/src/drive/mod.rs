//! The virtual-time driver: issues requests as the workload says, as fast as the host computes.

mod beside;
mod serving;
mod span;
#[cfg(test)]
mod tests;

use crate::meter::Meter;
use crate::progress::{BATCH, Progress};
use crate::record::{Ending, Findings, Steadiness, WornOut};
use crate::scenario::Checked;
use crate::stack::Built;
use nacre_config::{ErrorCode, Problems};
use nacre_kernel::{Request, Time};
use nacre_workload::{Clock, Pacing, Units, Workload};
use serving::Serving;
use std::ops::ControlFlow;

pub use beside::Beside;

/// How much longer a run is at each look at how well its means are known: looking often finds an interval that is
/// narrow by chance.
const LOOKS: u64 = 8;
/// Requests served between two looks at who watches, and two calls of `advance`.
const GROUP: usize = 64;

pub(crate) struct Driver<'a> {
    pub(crate) serving: Serving<'a>,
    pub(crate) workload: Box<dyn Workload>,
    pub(crate) meter: Meter,
    /// Requests that the workload gave and that were not served, since the run was over.
    pub(crate) rest: Vec<Request>,
    /// Requests of this workload in the runs before this one.
    before: u64,
    /// Units of the workload that were done when measuring began; none before that.
    units_before: Option<u64>,
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
        let clock = Clock::new(built.workload.pacing(), Time::ZERO);
        Driver {
            serving: Serving::new(checked, built.device, built.components, clock),
            workload: built.workload,
            meter: Meter::new(tenants, Time::ZERO),
            rest: Vec::new(),
            before: 0,
            units_before: None,
            worn_out: None,
            prepared_writes: checked.run.first_writes(),
            steadiness: None,
            last_arrival: None,
            next_look: BATCH as u64,
        }
    }

    /// Serves what the workload asks for, up to the end of the run. Drawing requests and summing up what became of them
    /// are done `beside`, where that is given and nothing hangs on their order.
    pub(crate) fn drive(
        &mut self,
        beside: Option<&dyn Beside>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Ending, Problems> {
        let ahead = beside.filter(|_| self.may_go_ahead());
        let ending = match ahead.and_then(|beside| self.drive_beside(beside, watch)) {
            Some(ending) => ending?,
            None => self.drive_all(watch)?,
        };
        self.last_arrival = (self.workload.pacing() == Pacing::Open).then(|| self.serving.clock.last());
        Ok(ending)
    }

    fn drive_all(&mut self, watch: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<Ending, Problems> {
        let (limit, expected) = (self.limit(), self.expected());
        let told = self.workload.pacing() == Pacing::CompletionDriven;
        let mut batch: Vec<Request> = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            if self.is_known() {
                return self.serving.ended();
            }
            let want = BATCH.min(usize::try_from(limit - self.serving.issued).unwrap_or(BATCH));
            if told {
                if self.converse(&mut batch, want.min(GROUP))?.is_break() {
                    return self.serving.ended();
                }
                if watch(self.serving.progress(expected)).is_break() {
                    return Ok(Ending::Stopped);
                }
                continue;
            }
            self.fill(&mut batch, want)?;
            if batch.is_empty() {
                return self.serving.ended();
            }
            let first = self.serving.issued;
            for group in batch.chunks(GROUP) {
                let served = self.serving.serve(group)?;
                self.settle();
                if served.is_break() {
                    self.rest = batch.split_off((self.serving.issued - first) as usize);
                    return self.serving.ended();
                }
                if watch(self.serving.progress(expected)).is_break() {
                    return Ok(Ending::Stopped);
                }
            }
        }
    }

    /// Requests that this run has at most.
    fn limit(&self) -> u64 {
        self.serving.checked.run.requests.unwrap_or(u64::MAX)
    }

    /// Requests that this run will have, where that is known.
    fn expected(&self) -> Option<u64> {
        let left = self.workload.expected().map(|count| count.saturating_sub(self.before));
        let expected = left.map(|count| count.min(self.limit())).or(self.serving.checked.run.requests);
        expected.filter(|&count| count < u64::MAX)
    }

    /// Whether the run may end, since its mean latencies are known as well as was asked.
    fn is_known(&mut self) -> bool {
        let Some(share) = self.serving.checked.run.until else { return false };
        let measured = self.serving.measured;
        if measured < self.next_look {
            return false;
        }
        self.next_look = measured + (measured / LOOKS).max(BATCH as u64);
        self.meter.reads.is_known(share) && self.meter.writes.is_known(share)
    }

    /// Up to `limit` requests: those that were left over, or else the next ones.
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), Problems> {
        if !self.rest.is_empty() {
            batch.extend(self.rest.drain(..self.rest.len().min(limit)));
        } else if limit > 0 {
            self.workload.fill(batch, limit).map_err(|error| self.serving.workload_problem(&error))?;
        }
        Ok(())
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
            self.serving.check_reach(batch, "request", self.serving.issued)?;
            let waited = self.workload.waited();
            let Some(done) = self.serving.serve_one(request, waited)? else {
                self.rest.clone_from(batch);
                return Ok(ControlFlow::Break(()));
            };
            self.look_at_units();
            self.workload.complete(done - self.serving.clock.origin());
        }
        self.serving.device.advance(self.serving.clock.last());
        self.settle();
        Ok(ControlFlow::Continue(()))
    }

    /// Adds what was noted to the sums.
    fn settle(&mut self) {
        self.look_at_units();
        self.meter.settle(&mut self.serving.noted.notes);
    }

    /// Asks the workload, once, how many of its units were done when measuring began.
    fn look_at_units(&mut self) {
        let warm_up = self.serving.checked.run.warm_up;
        if self.units_before.is_none() && self.serving.issued > warm_up {
            let units = self.workload.units(self.before + warm_up);
            self.units_before = Some(units.map_or(0, |units| units.done));
        }
    }

    /// Whole units of the workload since measuring began, where it has any.
    fn units(&self) -> Option<Units> {
        let units = self.workload.units(self.served())?;
        Some(Units { done: units.done - self.units_before.unwrap_or(0), ..units })
    }

    /// What was measured in a run that ended so.
    pub(crate) fn found(mut self, ending: Ending) -> Findings {
        let (device, workload) = (&*self.serving.device, &*self.workload);
        let (measured, units) = (self.serving.measured, self.units());
        let mut findings = Findings::of(device, workload, &self.meter, measured, units, ending);
        findings.notes.notes.extend(self.beginning());
        let (worn_out, steadiness) = (self.worn_out.take(), self.steadiness.take());
        let (last_arrival, until) = (self.last_arrival, self.serving.checked.run.until);
        Findings { worn_out, steadiness, last_arrival, until, ..findings }
    }

    /// A workload that never ends needs a run that does.
    pub(crate) fn check_end(&self) -> Result<(), Problems> {
        let run = &self.serving.checked.run;
        if self.workload.expected() != Some(u64::MAX) || run.requests.is_some() || run.duration.is_some() {
            return Ok(());
        }
        let problem = "the workload never ends, and nothing ends the run".to_string();
        let remedy = "give run.requests or run.duration";
        Err(self.serving.run_problem(ErrorCode::NeverEnds, "run.requests", problem, remedy).into())
    }
}
