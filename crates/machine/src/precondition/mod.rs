//! Preconditioning: writes before simulated time that bring the stack into a used state.

use crate::capable::PRECONDITIONED;
use crate::drive::Driver;
use crate::progress::{BATCH, Progress};
use crate::saved::{self, Preparations, SavedRun};
use nacre_config::{CountOr, ErrorCode, Problems};
use nacre_kernel::Time;
use nacre_workload::Workload;
use std::ops::ControlFlow;

mod fill;
mod steady;

impl Driver<'_> {
    /// Preconditions the device, or loads a saved state of the same preconditioning.
    pub(crate) fn prepare(
        &mut self,
        workload: Option<Box<dyn Workload>>,
        preparations: Option<&dyn Preparations>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Problems> {
        let (mut preparations, mut expected) = (preparations, self.serving.checked.run.first_writes());
        if let (CountOr::Model(_), Some(workload)) = (&self.serving.checked.run.precondition, &workload) {
            expected = workload.expected().unwrap_or(0);
            // The number of writes in a trace is known only after reading the trace.
            preparations = preparations.filter(|_| workload.expected().is_some());
        }
        self.prepared_writes = expected;
        let Some((kept, key)) = preparations.zip(saved::preparation(self.serving.checked)) else {
            return self.age(workload, watch);
        };
        if let Some(state) = kept.find(&key)
            && let Ok(from) = SavedRun::read(&state)
        {
            return from.restore_prepared(self).map(ControlFlow::Continue);
        }
        let prepared = self.age(workload, watch)?;
        // If a state cannot be saved, every run preconditions again.
        if prepared.is_continue()
            && let Ok(state) = saved::save(self)
        {
            kept.keep(&key, &state);
        }
        Ok(prepared)
    }

    /// Fills and then preconditions the device according to the run settings. Returns `Break` if `watch`
    /// stops the preconditioning.
    fn age(
        &mut self,
        workload: Option<Box<dyn Workload>>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Problems> {
        let checked = self.serving.checked;
        if let Some(fill) = &checked.run.fill
            && self.fill_in_order(fill, watch)?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        workload
            .map_or(Ok(ControlFlow::Continue(())), |mut workload| self.precondition(&mut *workload, watch))
    }

    /// Submits as many writes of `workload` to the device as the run settings request. Returns `Break` if
    /// `watch` stops the writes.
    pub(crate) fn precondition(
        &mut self,
        workload: &mut dyn Workload,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Problems> {
        let wanted = self.wanted_writes(workload)?;
        let mut batch = Vec::with_capacity(BATCH);
        let mut done = 0;
        while wanted.is_none_or(|wanted| done < wanted) {
            batch.clear();
            let left = wanted.map_or(u64::MAX, |wanted| wanted - done);
            let count = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
            workload.fill_writes(&mut batch, count).map_err(|error| self.serving.workload_problem(&error))?;
            if batch.is_empty() && wanted.is_none() && done > 0 {
                break;
            }
            if batch.is_empty() {
                return Err(self.too_few_writes(done));
            }
            self.serving.check_reach(&batch, "write", done)?;
            let Some(preconditioning) = self.serving.device.preconditioning() else {
                return Err(self.no_such_state("run.precondition"));
            };
            preconditioning.precondition(&batch);
            done += batch.len() as u64;
            self.prepared_writes = done;
            let progress = Progress { preconditioning: true, done, expected: wanted, simulated: Time::ZERO };
            if watch(progress).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        match self.serving.checked.run.until_steady.clone() {
            Some(criterion) => self.until_steady(workload, &criterion, watch),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    /// Returns the number of requested writes, or `None` for all writes of the trace `workload`.
    fn wanted_writes(&self, workload: &dyn Workload) -> Result<Option<u64>, Problems> {
        match &self.serving.checked.run.precondition {
            CountOr::Count(count) => Ok(Some(*count)),
            CountOr::Model(slot) if workload.expected() == Some(u64::MAX) => {
                let problem = "the workload never ends".to_string();
                let remedy = "set its number of requests";
                Err(self.serving.run_problem(ErrorCode::NeverEnds, slot.path(), problem, remedy).into())
            }
            CountOr::Model(_) => Ok(workload.expected()),
        }
    }

    fn too_few_writes(&self, done: u64) -> Problems {
        let problem = format!("the workload has only {done} writes");
        let remedy = match &self.serving.checked.run.precondition {
            CountOr::Count(_) => "reduce it, or give it a workload with writes",
            CountOr::Model(_) => "give it a workload with writes, e.g. one with read_share = \"0 %\"",
        };
        self.serving
            .run_problem(ErrorCode::OutOfRange, "run.precondition", problem, remedy)
            .data("max", done)
            .into()
    }

    /// Returns the error for a `setting` that the device does not support.
    pub(super) fn no_such_state(&self, setting: &str) -> Problems {
        let kind = self.serving.checked.scenario.stack.kind();
        let problem = format!("the stack, {kind}, has no state to precondition; {PRECONDITIONED} have one");
        let remedy = "remove it, and use run.warm_up";
        self.serving.run_problem(ErrorCode::NotSupported, setting, problem, remedy).into()
    }
}

#[cfg(test)]
mod aged;
#[cfg(test)]
mod tests;
