//! Operations on a running server for the control socket and the metrics.

use crate::clients::Clients;
use crate::control::{Command, Refusal};
use crate::recorder::RecordError;
use crate::serving::Disk;
use crate::socket::pause;
use crate::statistics::Statistics;
use crate::stepping::StepRequest;
use nacre_files::Existing;
use nacre_kernel::ErrorCode;
use serde_json::{Value, json};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Interval at which a waiting reply checks whether the server is stopping.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A running server, as seen by the control socket and the metrics.
pub(crate) struct Watch<'a> {
    pub(crate) disks: &'a [Disk],
    pub(crate) clients: &'a Clients,
    pub(crate) began: Instant,
    /// Whether a stop was requested.
    pub(crate) is_over: &'a AtomicBool,
}

impl Watch<'_> {
    /// Executes a command. Returns the result, or the reason why the command was rejected.
    pub(crate) fn execute(&self, command: Command) -> Result<Value, Refusal> {
        match command {
            Command::Stats { columns } => Ok(self.statistics().json(columns)),
            Command::Record { export, path, force } => {
                let disk = self.disk(export.as_deref())?;
                record(disk, self.disks, &path, force)?;
                Ok(json!({ "path": path }))
            }
            Command::RecordEnd { export } => {
                let ended = self.disk(export.as_deref())?.record_end();
                Ok(json!(ended?))
            }
            Command::PowerFail { export, again_permille } => {
                self.power_fail(self.disk(export.as_deref())?, again_permille)
            }
            Command::MediaError { export, offset, length, harm } => {
                let disk = self.disk(export.as_deref())?;
                disk.harm(offset, length, harm.into())?;
                Ok(json!({}))
            }
            Command::FaultAdd { export, settings } => {
                let number = self.disk(export.as_deref())?.add_fault(&settings)?;
                Ok(json!({ "number": number }))
            }
            Command::FaultList { export } => Ok(json!({ "faults": self.disk(export.as_deref())?.faults() })),
            Command::FaultClear { export, number } => {
                let cleared = self.disk(export.as_deref())?.clear_faults(number)?;
                Ok(json!({ "cleared": cleared }))
            }
            Command::MediumFault { export, fault, seed } => {
                let struck = self.disk(export.as_deref())?.medium_fault(fault.as_deref(), seed)?;
                Ok(json!({ "struck": struck }))
            }
            Command::Snapshot { export, path } => {
                let mut goes_on = || match self.is_over.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                };
                let copied = self.disk(export.as_deref())?.snapshot(&path, &mut goes_on);
                Ok(json!({ "bytes": copied? }))
            }
            Command::Step { export, op, offset, length, fill } => {
                let request = StepRequest { op: op.into(), offset, bytes: length, fill };
                Ok(self.step(self.disk(export.as_deref())?, request)?)
            }
            Command::Stop {} => {
                self.is_over.store(true, Ordering::Relaxed);
                Ok(json!({}))
            }
        }
    }

    /// Cuts power at the current time. Replies that are due later are discarded, and the clients are
    /// disconnected.
    fn power_fail(&self, disk: &Disk, again_permille: Option<u32>) -> Result<Value, Refusal> {
        if let Some(share) = again_permille.filter(|&share| share > 1000) {
            let message = format!("again_permille is {share}; give at most 1000, the end of the recovery");
            return Err(Refusal::new(ErrorCode::OutOfRange, message));
        }
        let outage = disk.power_fail(again_permille)?;
        let were_cut = self.clients.cut();
        self.clients.welcome();
        if !were_cut {
            self.clients.note("the thread of a client did not end when the power failed".into());
        }
        Ok(json!({
            "acknowledged_lost": outage.acknowledged_lost,
            "bytes_lost": outage.bytes_lost,
            "under_way": outage.under_way,
            "ready_after_s": outage.ready_after.as_secs_f64(),
        }))
    }

    /// Performs one request and returns its reply at its completion time. Returns an error if the request
    /// fails, e.g. after a power loss.
    fn step(&self, disk: &Disk, request: StepRequest) -> io::Result<Value> {
        let outages = disk.outages();
        let mut wait = |time: Duration| {
            let goes_on = !self.is_over.load(Ordering::Relaxed) && disk.outages() == outages;
            if goes_on && !time.is_zero() {
                pause(time.min(CHECK_INTERVAL));
            }
            goes_on
        };
        let (reply, answered) = disk.step(request, outages, &mut wait)?;
        match disk.lets_leave(reply.said.done, outages) {
            true => Ok(json!(answered)),
            false => Err(io::Error::other("power failed before it completed")),
        }
    }

    /// Returns all statistics.
    pub(crate) fn statistics(&self) -> Statistics {
        Statistics {
            up: self.began.elapsed(),
            connections: self.clients.counted(),
            exports: self.disks.iter().map(Disk::statistics).collect(),
        }
    }

    fn disk(&self, name: Option<&str>) -> Result<&Disk, Refusal> {
        let nothing = || Refusal::new(ErrorCode::NoData, "nothing is served");
        let Some(name) = name else { return self.disks.first().ok_or_else(nothing) };
        self.disks.iter().find(|disk| disk.export.name == name).ok_or_else(|| {
            let known: Vec<_> = self.disks.iter().map(|disk| disk.export.name.as_str()).collect();
            let message = format!("there is no export {name:?}; there is {}", known.join(", "));
            let data = vec![("known", known.as_slice().into())];
            Refusal { data, ..Refusal::new(ErrorCode::UnknownName, message) }
        })
    }
}

/// Starts recording requests of `disk` to the trace `path`. With `force`, the trace may replace an existing
/// file, except the images of `disks`.
pub(crate) fn record(disk: &Disk, disks: &[Disk], path: &Path, force: bool) -> Result<(), RecordError> {
    if disks.iter().any(|disk| disk.image().is_at(path)) {
        return Err(RecordError::Image(path.into()));
    }
    disk.record_to(path, if force { Existing::Replaced } else { Existing::Kept })
}
