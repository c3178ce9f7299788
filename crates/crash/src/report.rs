//! Results of power-loss tests.

use crate::auditor::Audit;
use crate::device_run::LossResult;
use crate::fault::{Fault, Guarantee};
use crate::sequence::Sequence;
use nacre_kernel::event::Device;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Capabilities, ComponentReport, FaultCounts, Persistence, Recovery, Time};
use std::collections::BTreeMap;

/// Report of a power-loss test.
#[derive(Clone, Debug)]
pub struct Report {
    /// Guarantees of the device.
    pub capabilities: Capabilities,
    /// Whether the stack has a `faulty` device with faults.
    pub has_device_faults: bool,
    /// Results of the power losses, by the fault that was injected in addition to the power loss.
    pub faults: BTreeMap<Fault, FaultResult>,
    /// Number of runs. Each run starts with a new device.
    pub device_runs: u64,
    /// Number of restarts from a saved state.
    pub restarts: u64,
    /// Number of requests served, including requests of audits.
    pub requests: u64,
    /// Number of blocks read and compared after power losses.
    pub blocks_audited: u64,
    /// Distribution of the recovery times, i.e. the times from restored power until the device was ready.
    pub recoveries: LatencyHistogram,
    /// Coverage: number of times that each branch of the power-loss and recovery code was executed.
    pub branches: BTreeMap<&'static str, u64>,
    /// The first violated guarantee, if any.
    pub finding: Option<Finding>,
}

/// Results for one class of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultResult {
    /// Number of power losses.
    pub points: u64,
    /// Number of events that the fault affected: operations of the medium, lying flushes, writes rejected
    /// by a worn-out medium, and requests to a `faulty` device. For `PairedPage`, number of power losses
    /// that damaged other pages. For `SmallCapacitor`, number of power losses with too little energy.
    pub injected: u64,
    /// Number of blocks without their latest write.
    pub stale_blocks: u64,
    /// Number of blocks for which recovery reported the loss of an acknowledged write, plus the number of
    /// reads that failed because of a `faulty` device.
    pub lost_reported: u64,
    /// Number of runs that ended because data was corrupted or lost without an error.
    pub lost_silently: u64,
}

/// A violated guarantee, and how to reproduce it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Description of the violation.
    pub problem: String,
    /// Fault that was injected in addition to power losses.
    pub fault: Fault,
    /// The shortest sequence found that reproduces the violation.
    pub sequence: Sequence,
    /// Number of steps before shortening.
    pub steps_generated: usize,
    /// Whether the same steps reproduce the violation on a new device. If not, the saved state is
    /// incomplete.
    pub is_reproducible: bool,
}

/// Names of all branches of the power-loss and recovery code whose executions are counted.
pub const BRANCHES: [&str; 15] = [
    "power_lost_while_recovering",
    "requests_before_ready",
    "programs_repeated",
    "erases_repeated",
    "cleaning_resumed",
    "pages_rolled_back",
    "programs_finished",
    "programs_lost",
    "bytes_lost",
    "pages_damaged",
    "pages_scanned",
    "blocks_forgotten",
    "stale_blocks",
    "blocks_torn",
    "recovery_takes_time",
];

impl Report {
    pub(crate) fn new(device: &dyn Device) -> Report {
        Report {
            capabilities: device.capabilities(),
            has_device_faults: has_faults(&device.report(Time::ZERO)),
            faults: BTreeMap::new(),
            device_runs: 0,
            restarts: 0,
            requests: 0,
            blocks_audited: 0,
            recoveries: LatencyHistogram::new(),
            branches: BRANCHES.into_iter().map(|name| (name, 0)).collect(),
            finding: None,
        }
    }

    /// Number of power losses.
    pub fn points(&self) -> u64 {
        self.faults.values().map(|tried| tried.points).sum()
    }

    /// Number of operations affected by `fault`.
    pub fn injected(&self, fault: Fault) -> u64 {
        self.faults.get(&fault).map_or(0, |tried| tried.injected)
    }

    /// Guarantees of the device for every class of faults.
    pub fn guarantees(&self) -> Vec<(Fault, Guarantee)> {
        let guarantee = |fault: Fault| match fault == Fault::DeviceFault && !self.has_device_faults {
            true => Guarantee::Absent,
            false => fault.guarantee(&self.capabilities),
        };
        Fault::ALL.into_iter().map(|fault| (fault, guarantee(fault))).collect()
    }

    /// Adds the effects of the `faulty` devices in a run. `unread` is the number of blocks that could not be
    /// read because of these effects.
    pub(crate) fn device_faults(&mut self, made: &FaultCounts, unread: u64) {
        if made.touched > 0 {
            let tried = self.faults.entry(Fault::DeviceFault).or_default();
            tried.injected += made.touched;
            tried.lost_reported += unread;
        }
    }

    pub(crate) fn survived(&mut self, fault: Fault, survived: &LossResult, is_early: bool) {
        let LossResult {
            audit: Audit { behind, lost, torn }, recovery, took, was_recovering, audited, ..
        } = *survived;
        let tried = self.faults.entry(fault).or_default();
        tried.points += 1 + u64::from(was_recovering);
        tried.stale_blocks += behind;
        tried.lost_reported += lost;
        self.blocks_audited += audited;
        self.recoveries.record(took);
        // These losses are caused by the device and not by a fault.
        let has_stored_energy = self.capabilities.persistence == Persistence::WithStoredEnergy;
        let own = [
            (Fault::PairedPage, recovery.pages_damaged > 0),
            (Fault::SmallCapacitor, has_stored_energy && recovery.bytes_lost > 0),
        ];
        for (fault, _) in own.into_iter().filter(|(_, happened)| *happened) {
            self.faults.entry(fault).or_default().injected += 1;
        }
        let Recovery { is_cleaning, .. } = recovery;
        let taken = [
            u64::from(was_recovering),
            u64::from(is_early),
            recovery.programs_repeated,
            recovery.erases_repeated,
            u64::from(is_cleaning),
            recovery.pages_rolled_back,
            recovery.programs_finished,
            recovery.programs_lost,
            recovery.bytes_lost,
            recovery.pages_damaged,
            recovery.pages_scanned,
            recovery.blocks_forgotten,
            behind,
            torn,
            u64::from(!took.is_zero()),
        ];
        for (name, count) in BRANCHES.into_iter().zip(taken) {
            *self.branches.entry(name).or_default() += u64::from(count > 0);
        }
    }
}

fn has_faults(report: &ComponentReport) -> bool {
    !report.faults.is_empty() || report.children.iter().any(has_faults)
}
