//! Before simulated time begins: the state that many writes leave behind.

use crate::drive::{BATCH, Driver, Progress};
use crate::saved::{self, Preparations, SavedRun};
use nacre_config::Problems;
use nacre_kernel::Time;
use nacre_workload::Workload;
use std::ops::ControlFlow;

mod steady;

impl Driver<'_> {
    /// Preconditions the device, or takes it on as it was left by the same preconditioning.
    pub(crate) fn prepare(
        &mut self,
        workload: &mut dyn Workload,
        preparations: Option<&dyn Preparations>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Problems> {
        let Some((kept, key)) = preparations.zip(saved::preparation(self.checked)) else {
            return self.precondition(workload, watch);
        };
        if let Some(state) = kept.find(&key)
            && let Ok(from) = SavedRun::read(&state)
        {
            return from.restore(self).map(ControlFlow::Continue);
        }
        let prepared = self.precondition(workload, watch)?;
        // What cannot be saved is preconditioned again every time.
        if prepared.is_continue()
            && let Ok(state) = saved::save(self)
        {
            kept.keep(&key, &state);
        }
        Ok(prepared)
    }

    /// Gives the device as many writes of `workload` as the run asks for. Breaks when `watch` does.
    pub(crate) fn precondition(
        &mut self,
        workload: &mut dyn Workload,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Problems> {
        let wanted = self.checked.run.precondition;
        let mut batch = Vec::with_capacity(BATCH);
        let mut done = 0;
        while done < wanted {
            batch.clear();
            let count = usize::try_from(wanted - done).map_or(BATCH, |left| left.min(BATCH));
            workload.fill_writes(&mut batch, count).map_err(|error| self.workload_problem(&error))?;
            if batch.is_empty() {
                return Err(self.too_few_writes(done));
            }
            self.check_reach(&batch, "write", done)?;
            if !self.device.capabilities().preconditions {
                return Err(self.no_such_state());
            }
            self.device.precondition(&batch);
            done += batch.len() as u64;
            let progress =
                Progress { preconditioning: true, done, expected: Some(wanted), simulated: Time::ZERO };
            if watch(progress).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        match self.checked.run.until_steady.clone() {
            Some(criterion) => self.until_steady(workload, &criterion, watch),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    fn too_few_writes(&self, done: u64) -> Problems {
        let problem = format!("the workload has {done} writes and no more");
        self.run_problem("run.precondition", problem, "lower it, or use a workload that writes more")
    }

    pub(super) fn no_such_state(&self) -> Problems {
        let kind = self.checked.scenario.stack.kind();
        let problem = format!("the stack, {kind}, keeps no state that writes leave behind");
        self.run_problem("run.precondition", problem, "leave it out, and warm up with run.warm_up")
    }
}

#[cfg(test)]
mod tests;
