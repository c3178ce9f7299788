//! Wear-out of devices that do not support bursts: single writes continue until a check finds a worn-out
//! block or row.

use crate::drive::Driver;
use crate::progress::{BATCH, Progress};
use crate::record::{Ending, WornOut};
use nacre_config::Problems;
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{ComponentReport, Op, Request, Time};
use std::ops::ControlFlow;

/// Minimum number of writes between two checks. The interval is 1/256 of all writes so far, if that is
/// more. Checks of a large drive then take little time, and the number of writes until wear-out is exact
/// within 0.4 %.
const LOOK: u64 = 64;
const LOOKS: u64 = 256;
/// Number of writes without wear after which the search fails, or half of all writes if that is more. Write
/// buffers contain far fewer writes.
const PATIENCE: u64 = 1 << 20;
/// Name of the column with the number of blocks that were retired because they are worn out.
const WORN_OUT: &str = "blocks_by_state.worn_out";

impl Driver<'_> {
    /// Continues the writes of the workload until a block or row is worn out. The time of wear-out assumes
    /// the write rate of the run.
    pub(super) fn wear_out_in_steps(
        &mut self,
        (before, seconds_per_write): (u64, f64),
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Ending, Problems> {
        let drained = self.meter.end.max(self.serving.now);
        self.measured = Some(self.serving.device.report(drained - self.meter.start));
        let mut writer = Writer::new(&mut *self.serving.device, self.serving.now);
        let mut batch: Vec<Request> = Vec::with_capacity(BATCH);
        let (mut writes, mut look) = (0, LOOK);
        let (mut worn, mut worn_at) = (cycles(&self.serving.device.report(Time::ZERO)), 0);
        loop {
            batch.clear();
            let limit = usize::try_from(look - writes).map_or(BATCH, |left| left.min(BATCH));
            let filled = self.workload.fill_writes(&mut batch, limit);
            filled.map_err(|error| self.serving.workload_problem(&error))?;
            if batch.is_empty() {
                return Err(self.wear_problem("the workload ended before anything was worn out"));
            }
            self.serving.check_reach(&batch, "write", before + writes)?;
            writer.write(&mut *self.serving.device, &batch);
            writes += batch.len() as u64;
            if writes >= look {
                let report = self.serving.device.report(Time::ZERO);
                if is_worn_out(&report) {
                    let seconds = self.meter.end.as_secs_f64() + writes as f64 * seconds_per_write;
                    self.worn_out =
                        Some(WornOut { seconds, writes: Some(before + writes), simulated: false });
                    return Ok(Ending::Complete);
                }
                let now = cycles(&report);
                if now > worn {
                    (worn, worn_at) = (now, writes);
                } else if writes - worn_at >= PATIENCE.max(writes / 2) {
                    let last = writes - worn_at;
                    let problem =
                        format!("the last {last} writes did not reach blocks or rows with an endurance");
                    return Err(self.wear_problem(&problem));
                }
                look = writes + LOOK.max(writes / LOOKS);
            }
            let (done, simulated) = (before + writes, self.meter.end);
            if watch(Progress { preconditioning: true, done, expected: None, simulated }).is_break() {
                return Ok(Ending::Stopped);
            }
        }
    }
}

/// Issuer of writes that are not measured.
struct Writer {
    /// Whether the top device wears and accepts writes without simulated time. Composite devices are
    /// excluded, because they may buffer writes.
    is_untimed: bool,
    now: Time,
    completions: Completions,
}

impl Writer {
    fn new(device: &mut dyn Device, now: Time) -> Writer {
        let wears = device.report(Time::ZERO).wear.is_some();
        let is_untimed = wears && device.preconditioning().is_some();
        Writer { is_untimed, now, completions: Completions::new() }
    }

    fn write(&mut self, device: &mut dyn Device, writes: &[Request]) {
        if self.is_untimed {
            return device.preconditioning().expect("it was asked for before").precondition(writes);
        }
        writes.iter().for_each(|write| self.write_one(device, write));
    }

    /// Performs one write and waits for it. If a worn-out drive rejects the write, the next check finds the
    /// wear-out.
    fn write_one(&mut self, device: &mut dyn Device, write: &Request) {
        debug_assert_eq!(write.op, Op::Write, "only writes wear a medium out");
        let request = Request { arrival: self.now, ..*write };
        device.submit(self.now, RequestId(0), &request, Payload::NONE);
        self.completions.clear();
        device.run(Time::MAX, &mut self.completions);
        let (completed, _) = self.completions.get(0);
        self.now = completed.at;
    }
}

/// Returns the number of erases and programs of all media in the stack.
fn cycles(report: &ComponentReport) -> u64 {
    let own = report.wear.as_ref().map_or(0, |wear| wear.erases + wear.programs());
    own + report.children.iter().map(cycles).sum::<u64>()
}

/// Returns whether a block or row of the stack exceeded its endurance.
pub(super) fn is_worn_out(report: &ComponentReport) -> bool {
    let is_worn = report.wear.as_ref().is_some_and(|wear| {
        let blocks = wear.block_erases.iter().max().copied().unwrap_or(0);
        let rows = wear.row_programs.map_or(0, |rows| rows.max);
        wear.worn_out_at.is_some()
            || wear.endurance.is_some_and(|cycles| u64::from(blocks.max(rows)) > cycles)
    });
    let retired = report.columns.iter().find(|column| column.name == WORN_OUT);
    is_worn
        || retired.is_some_and(|column| column.values.iter().any(|&blocks| blocks > 0.0))
        || report.children.iter().any(is_worn_out)
}
