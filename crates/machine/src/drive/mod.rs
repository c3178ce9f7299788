//! The driver of a run. It issues requests at the simulated times of the workload.

mod serving;
mod span;
#[cfg(test)]
mod tests;
mod two_threads;

use crate::meter::Meter;
use crate::progress::{BATCH, Progress};
use crate::record::{Ending, Findings, Measured, Steadiness, WornOut};
use crate::scenario::Checked;
use crate::stack::Built;
use nacre_config::{ErrorCode, Problems};
use nacre_kernel::{ComponentReport, Ranges, Request, Time};
use nacre_workload::{Clock, Interactive, Issued, Pacing, Units, Workload};
use serving::{Answered, Serving};
use std::ops::ControlFlow;

pub(crate) use serving::Outstanding;
pub(crate) use span::Standing;
pub use two_threads::Parallel;

/// Divisor that determines when the confidence intervals are checked: whenever the number of completed
/// requests has grown by 1/8. With more frequent checks, an interval would more often be narrow by chance.
const LOOKS: u64 = 8;
/// Number of requests served between two calls of `watch`.
const GROUP: usize = 64;

pub(crate) struct Driver<'a> {
    pub(crate) serving: Serving<'a>,
    pub(crate) workload: Box<dyn Workload>,
    pub(crate) meter: Meter,
    /// Requests that the workload generated but that were not served because the run had ended.
    pub(crate) rest: Vec<Request>,
    /// Requests that an interactive workload issued at `issued_at` and that are not submitted yet. The last
    /// element is submitted next.
    pub(super) issued: Vec<Issued>,
    pub(super) issued_at: Time,
    /// Time at which the device came to rest after the run was drained.
    rested: Time,
    /// Number of requests of this workload that earlier runs served.
    before: u64,
    /// Number of units of work that the workload had completed when measurement started, or `None` before
    /// that.
    units_before: Option<u64>,
    /// Wear-out of the first block or row, if the run determines it.
    pub(crate) worn_out: Option<WornOut>,
    /// Report of the device at the end of the run, if writes continue after the run to wear out the device.
    pub(crate) measured: Option<ComponentReport>,
    /// Number of preconditioning writes, without the writes of a fill and of the search for a steady state.
    pub(crate) prepared_writes: u64,
    /// Addresses that the workload may access, if the scenario fills its footprint.
    pub(crate) footprint: Option<Ranges>,
    /// Results of the search for a steady state, or `None` without a search.
    pub(crate) steadiness: Option<Steadiness>,
    /// Time of the last arrival, if the workload is an open loop.
    last_arrival: Option<Time>,
    /// Number of completed requests at which the confidence intervals are checked next.
    next_look: u64,
}

fn interactive(workload: &mut dyn Workload) -> &mut dyn Interactive {
    workload.interactive().expect("the workload reacts to completions")
}

impl<'a> Driver<'a> {
    pub(crate) fn new(checked: &'a Checked, built: Built) -> Driver<'a> {
        let tenants = built.workload.tenants().len();
        let clock = Clock::new(built.workload.pacing(), Time::ZERO);
        Driver {
            serving: Serving::new(checked, (built.device, built.host), built.components, clock),
            workload: built.workload,
            meter: Meter::new(tenants, Time::ZERO),
            rest: Vec::new(),
            issued: Vec::new(),
            issued_at: Time::ZERO,
            rested: Time::ZERO,
            before: 0,
            units_before: None,
            worn_out: None,
            measured: None,
            prepared_writes: checked.run.first_writes(),
            footprint: built.footprint,
            steadiness: None,
            last_arrival: None,
            next_look: BATCH as u64,
        }
    }

    /// Serves the workload until the end of the run. If no request depends on earlier results,
    /// `second_thread` generates requests and sums results.
    pub(crate) fn drive(
        &mut self,
        second_thread: Option<&dyn Parallel>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Ending, Problems> {
        let ahead = second_thread.filter(|_| self.may_go_ahead());
        let ending = match ahead.and_then(|second_thread| self.drive_on_two_threads(second_thread, watch)) {
            Some(ending) => ending?,
            None => self.drive_all(watch)?,
        };
        self.last_arrival = (self.workload.pacing() == Pacing::Open).then(|| self.serving.clock.last());
        Ok(ending)
    }

    fn drive_all(&mut self, watch: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<Ending, Problems> {
        let (limit, expected) = (self.limit(), self.expected());
        let is_interactive = self.workload.interactive().is_some();
        let mut batch: Vec<Request> = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            if self.is_known() {
                return self.serving.ended();
            }
            if is_interactive {
                if self.converse(limit)?.is_break() {
                    return self.serving.ended();
                }
                if watch(self.serving.progress(expected)).is_break() {
                    return Ok(Ending::Stopped);
                }
                continue;
            }
            let want = BATCH.min(usize::try_from(limit - self.serving.issued).unwrap_or(BATCH));
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

    /// Returns the maximum number of requests of this run.
    fn limit(&self) -> u64 {
        self.serving.checked.run.requests.unwrap_or(u64::MAX)
    }

    /// Returns the expected number of requests of this run, if known.
    fn expected(&self) -> Option<u64> {
        let left = self.workload.expected().map(|count| count.saturating_sub(self.before));
        let expected = left.map(|count| count.min(self.limit())).or(self.serving.checked.run.requests);
        expected.filter(|&count| count < u64::MAX)
    }

    /// Returns whether the run may end because the confidence intervals of its mean latencies are as narrow
    /// as requested. Outstanding requests are then excluded from the measurement, so that the means and
    /// intervals do not change after this check.
    fn is_known(&mut self) -> bool {
        let Some(share) = self.serving.checked.run.until else { return false };
        let completed = self.meter.completed();
        if completed < self.next_look {
            return false;
        }
        self.next_look = completed + (completed / LOOKS).max(BATCH as u64);
        let is_known = self.meter.reads.is_known(share) && self.meter.writes.is_known(share);
        if is_known {
            self.serving.forget_outstanding();
            self.serving.measured = completed;
        }
        is_known
    }

    /// Fetches up to `limit` requests: remaining requests of an earlier run or, if there are none, further
    /// requests of the workload.
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), Problems> {
        if !self.rest.is_empty() {
            batch.extend(self.rest.drain(..self.rest.len().min(limit)));
        } else if limit > 0 {
            self.workload.fill(batch, limit).map_err(|error| self.serving.workload_problem(&error))?;
        }
        Ok(())
    }

    /// Runs an interactive workload for the next few instants. Returns `Break` at the end of the workload,
    /// at the end of the duration, or after `limit` requests.
    fn converse(&mut self, limit: u64) -> Result<ControlFlow<()>, Problems> {
        let origin = self.serving.clock.origin();
        for _ in 0..GROUP {
            self.submit_issued(limit)?;
            if self.serving.issued == limit {
                return Ok(ControlFlow::Break(()));
            }
            let workload = interactive(&mut *self.workload);
            let next = workload.next_event();
            let due = if next == Time::MAX { next } else { origin + next };
            if self.serving.run_to(due.min(self.serving.over_at))? {
                self.hand_over();
            } else if due >= self.serving.over_at || due == Time::MAX {
                assert!(
                    due < Time::MAX
                        || self.serving.over_at < Time::MAX
                        || self.serving.outstanding.is_empty(),
                    "the device lost a request"
                );
                return Ok(ControlFlow::Break(()));
            } else {
                self.issued_at = due;
                let stepped = workload.step(next, &mut self.issued);
                stepped.map_err(|error| self.serving.workload_problem(&error))?;
                self.issued.reverse();
            }
        }
        self.settle();
        Ok(ControlFlow::Continue(()))
    }

    /// Submits the requests that an interactive workload issued at this instant, but not more than `limit`
    /// requests in the whole run.
    fn submit_issued(&mut self, limit: u64) -> Result<(), Problems> {
        while self.serving.issued < limit
            && let Some(Issued { request, tag, waited }) = self.issued.pop()
        {
            let now = self.issued_at;
            self.serving.check_reach(&[request], "request", self.serving.issued)?;
            self.serving.submit(now, &request, waited, tag);
            self.look_at_units();
        }
        Ok(())
    }

    /// Passes completions to an interactive workload.
    fn hand_over(&mut self) {
        let now = self.serving.now - self.serving.clock.origin();
        if let Some(workload) = self.workload.interactive() {
            let answered = self.serving.answered.drain(..);
            answered.for_each(|Answered { tag, status }| workload.complete(now, tag, status));
        }
    }

    /// Runs the device until outstanding requests have completed and the device is at rest.
    pub(crate) fn drain(&mut self) -> Result<(), Problems> {
        while !self.serving.outstanding.is_empty() {
            assert!(self.serving.run_to(Time::MAX)?, "the device lost a request");
            self.hand_over();
        }
        self.rested = self.serving.come_to_rest();
        self.settle();
        Ok(())
    }

    /// Adds the completions recorded so far to the sums.
    fn settle(&mut self) {
        self.look_at_units();
        self.meter.settle(&mut self.serving.noted.notes);
    }

    /// Stores the number of units of work that the workload had completed when measurement started.
    fn look_at_units(&mut self) {
        let warm_up = self.serving.checked.run.warm_up;
        if self.units_before.is_none() && self.serving.issued > warm_up {
            let units = self.workload.units(self.before + warm_up);
            self.units_before = Some(units.map_or(0, |units| units.done));
        }
    }

    /// Returns the units of work that the workload completed since measurement started, or `None` if it
    /// does not count units of work.
    fn units(&self) -> Option<Units> {
        let units = self.workload.units(self.served())?;
        Some(Units { done: units.done - self.units_before.unwrap_or(0), ..units })
    }

    /// Returns the results of a run that ended with `ending`.
    pub(crate) fn findings(mut self, ending: Ending) -> Findings {
        let device = (&*self.serving.device, self.serving.host.as_ref());
        let workload = &*self.workload;
        let (measured, units) = (self.serving.measured, self.units());
        let measured = Measured { issued: measured, drained: self.rested, units };
        let mut findings = Findings::of(device, workload, &self.meter, measured, ending);
        if let Some(measured) = self.measured.take() {
            findings.forget_all_but_wear(measured);
        }
        findings.notes.notes.extend(self.beginning());
        let (worn_out, steadiness) = (self.worn_out.take(), self.steadiness.take());
        let (last_arrival, until) = (self.last_arrival, self.serving.checked.run.until);
        Findings { worn_out, steadiness, last_arrival, until, ..findings }
    }

    /// Returns an error if neither the workload nor the run has an end.
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
