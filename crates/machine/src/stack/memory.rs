//! Checks that the tables of a stack fit into memory before the tables are built.

use super::HostMemory;
use crate::scenario::{Checked, FillOf};
use nacre_config::{CountOr, ErrorCode, Problem, Problems};
use nacre_device::{TableMemory, UnitsInRun};
use nacre_kernel::Bytes;
use nacre_workload::Workload;

/// Remedy for tables that do not fit even if the run is shorter.
const SMALLER: &str = "use a smaller device or larger units";

/// Memory that the devices built so far take, in bytes.
#[derive(Default)]
pub(super) struct TakenMemory {
    /// Memory at the start of the run.
    at_start: u64,
    /// Maximum memory during the run.
    in_run: u64,
    /// Memory when everything is written. The tables reserve address space for all of it.
    in_all: u64,
}

impl TakenMemory {
    /// Adds the `tables` of the device at `path`. `written_before` is the share of the stack that is
    /// written before the run. Returns an error if the tables do not fit into the memory of `host`.
    pub(super) fn take(
        &mut self,
        path: &str,
        tables: TableMemory,
        written_before: f64,
        host: Option<HostMemory>,
    ) -> Result<(), Problems> {
        let TableMemory { at_once, in_all, in_run } = tables;
        // Memory for data that is written before the run is needed at the start of the run.
        let now = at_once + ((in_all - at_once) as f64 * written_before) as u64;
        let now = now.min(in_run);
        let before = (self.at_start, self.in_run, self.in_all);
        self.at_start = self.at_start.saturating_add(now);
        self.in_run = self.in_run.saturating_add(in_run);
        self.in_all = self.in_all.saturating_add(in_all);
        let Some(HostMemory { free, all, address_space }) = host else { return Ok(()) };
        let (needed, available, problem, remedy) = if self.at_start > free {
            let text = format!("{} of memory{}, and {} are free", gib(now), others(before.0), gib(free));
            (self.at_start, free, text, SMALLER)
        } else if self.in_run > all && in_run < in_all {
            let text = format!(
                "up to {} of memory in this run{} ({} when all of it is written), and this machine has {}",
                gib(in_run),
                others(before.1),
                gib(in_all),
                gib(all)
            );
            (self.in_run, all, text, "use fewer requests, a smaller device, or larger units")
        } else if self.in_run > all || address_space.is_some_and(|space| self.in_all > space) {
            let all = all.min(address_space.unwrap_or(u64::MAX));
            let text = format!(
                "{} of memory{} when all of it is written, and this machine has {}",
                gib(in_all),
                others(before.2),
                gib(all)
            );
            (self.in_all, all, text, SMALLER)
        } else {
            return Ok(());
        };
        Err(Problem::new(ErrorCode::TooLittleMemory, path, None, format!("its tables take {problem}"))
            .data("needed", needed)
            .data("available", available)
            .remedy(remedy)
            .into())
    }
}

/// Formats the memory of the devices built before.
fn others(taken: u64) -> String {
    match taken {
        0 => String::new(),
        _ => format!(", in addition to {} for other tables", gib(taken)),
    }
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// Workloads of a run.
pub(super) struct Writers {
    pub(super) workload: Box<dyn Workload>,
    pub(super) preconditioning: Option<Box<dyn Workload>>,
    /// Whether the run starts with a new stack, so that only the workloads of this run write to the stack.
    pub(super) is_new: bool,
}

impl Writers {
    /// Returns an upper bound of the units that the host accesses in the run of `checked`, on a stack of
    /// `capacity` bytes. Returns `None` if the number of requests or their sizes are unknown.
    pub(super) fn units_in_run(&self, checked: &Checked, unit: Bytes, capacity: Bytes) -> Option<UnitsInRun> {
        let run = &checked.run;
        let retries = checked.scenario.host.as_ref().is_some_and(|host| host.timeout.is_some());
        if !self.is_new || run.wear_out || run.until_steady.is_some() || retries {
            return None;
        }
        let per_request = self.workload.units_per_request(unit.0)?;
        let requests = self.workload.expected().into_iter().chain(run.requests).min();
        let requests = requests.filter(|&requests| requests < u64::MAX)?;
        let before = match (&run.precondition, &self.preconditioning) {
            (CountOr::Count(count), _) => count.saturating_mul(per_request),
            (CountOr::Model(_), Some(of)) => of.expected()?.saturating_mul(of.units_per_request(unit.0)?),
            (CountOr::Model(_), None) => return None,
        };
        let filled = match &run.fill {
            None => 0,
            Some(fill) if fill.of == FillOf::Capacity && fill.request.0.is_multiple_of(unit.0) => {
                (capacity.0 as f64 * fill.share.0 / unit.0 as f64) as u64 + 1
            }
            Some(_) => return None,
        };
        Some(UnitsInRun { filled, requested: requests.saturating_mul(per_request).saturating_add(before) })
    }
}
