//! Wear-out after simulated time: writes continue until the first block or row is worn out.

mod in_steps;

use crate::drive::Driver;
use crate::progress::{BATCH, Progress};
use crate::record::{Ending, WornOut};
use nacre_config::{ErrorCode, Problems};
use nacre_kernel::{Burst, ComponentReport, Endured, Time};
use std::ops::ControlFlow;

/// Number of writes fetched from the workload at a time. Consecutive writes to one address form a burst. A
/// device that does not serve a burst in one step serves this number of writes in a fraction of a second,
/// after which `watch` may stop the run.
const WRITES: u64 = 1 << 22;

impl Driver<'_> {
    /// Continues writes until a block or row is worn out, and determines the time of wear-out. Ends early
    /// if `watch` stops it.
    pub(crate) fn wear_out(
        &mut self,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Ending, Problems> {
        if let Some(at) = worn_out_at(&self.serving.device.report(Time::ZERO)) {
            self.worn_out = Some(WornOut { seconds: at.as_secs_f64(), writes: None, simulated: true });
            return Ok(Ending::Complete);
        }
        let report = self.serving.device.report(self.meter.end - self.meter.start);
        if !wears(&report) {
            let kind = self.serving.checked.scenario.stack.kind();
            let limit = match lifetime_days(&report) {
                Some(_) => {
                    "; lifetime_days of the record is the time until its endurance in bytes is used up"
                }
                None => "",
            };
            return Err(self.wear_problem(&format!(
                "the stack, {kind}, has no blocks or rows with an endurance{limit}"
            )));
        }
        let written = self.meter.writes.requests();
        let seconds_per_write = (self.meter.end - self.meter.start).as_secs_f64() / written as f64;
        if written > 0 && self.meter.writes.latency.count() == 0 {
            return Err(self.wear_problem("no write of the run succeeded"));
        }
        if written == 0 {
            return Err(self.wear_problem("the run has no writes"));
        }
        let before = self.prepared_writes + self.serving.checked.run.warm_up + written;
        if self.serving.device.endurance().is_none() {
            return self.wear_out_in_steps((before, seconds_per_write), watch);
        }
        let mut bursts: Vec<Burst> = Vec::with_capacity(BATCH);
        let mut writes = 0;
        loop {
            bursts.clear();
            self.workload
                .fill_bursts(&mut bursts, WRITES)
                .map_err(|error| self.serving.workload_problem(&error))?;
            if bursts.is_empty() {
                return Err(self.wear_problem("the workload ended before anything was worn out"));
            }
            let endurance = self.serving.device.endurance().expect("it was requested before");
            match endurance.wear_out(&bursts) {
                Endured::WornOut { writes: last } => {
                    let seconds = self.meter.end.as_secs_f64() + (writes + last) as f64 * seconds_per_write;
                    let writes = Some(before + writes + last);
                    self.worn_out = Some(WornOut { seconds, writes, simulated: false });
                    return Ok(Ending::Complete);
                }
                Endured::All => writes += bursts.iter().map(|burst| burst.times).sum::<u64>(),
            }
            let (done, simulated) = (before + writes, self.meter.end);
            if watch(Progress { preconditioning: true, done, expected: None, simulated }).is_break() {
                return Ok(Ending::Stopped);
            }
        }
    }

    fn wear_problem(&self, problem: &str) -> Problems {
        let remedy = "remove run.wear_out, or use a workload with writes and a device with an endurance";
        self.serving.run_problem(ErrorCode::NotSupported, "run.wear_out", problem.into(), remedy).into()
    }
}

/// Returns whether a component of the stack has a medium with a known endurance.
fn wears(report: &ComponentReport) -> bool {
    let own = report.wear.as_ref().is_some_and(|wear| wear.endurance.is_some());
    own || report.children.iter().any(wears)
}

/// Returns the lifetime in days of the first component that has one. Parents precede their children.
fn lifetime_days(report: &ComponentReport) -> Option<f64> {
    report.lifetime_days.or_else(|| report.children.iter().find_map(lifetime_days))
}

/// Returns the earliest wear-out time of the components of the stack, or `None` if no component is worn out.
fn worn_out_at(report: &ComponentReport) -> Option<Time> {
    let own = report.wear.as_ref().and_then(|wear| wear.worn_out_at);
    own.into_iter().chain(report.children.iter().filter_map(worn_out_at)).min()
}

#[cfg(test)]
mod tests;
