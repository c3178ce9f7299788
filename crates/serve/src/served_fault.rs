//! Report of a fault that was added to a served device.

use nacre_kernel::{FaultCounts, FaultReport};
use serde::Serialize;

/// A fault that was added to a device while it is served.
#[derive(Clone, Debug, Serialize)]
pub struct ServedFault {
    /// Its number, unique while the device is served.
    pub number: usize,
    /// Kind of the fault, e.g. `"stall"`.
    pub kind: &'static str,
    /// Its settings, as a TOML table without header.
    pub settings: String,
    /// Whether it is active now.
    pub active: bool,
    /// Whether it was cleared.
    pub cleared: bool,
    /// Requests of its operations and range while it was active.
    pub matching: u64,
    /// Affected requests among them.
    pub touched: u64,
    /// Time that it added to them, in simulated seconds.
    pub added_s: f64,
    /// Requests that it ended with an error.
    pub errors: u64,
    /// Silently corrupted bytes.
    pub silent_bytes: u64,
}

impl ServedFault {
    /// Fault `number` with these `settings`, its state, and its counters.
    pub(crate) fn of(
        number: usize,
        settings: &str,
        (active, cleared): (bool, bool),
        did: &FaultReport,
    ) -> ServedFault {
        let FaultCounts { matching, touched, added_ps, errors, silent_bytes, .. } = did.counts;
        ServedFault {
            number,
            kind: did.kind,
            settings: settings.into(),
            active,
            cleared,
            matching,
            touched,
            added_s: added_ps as f64 / 1e12,
            errors,
            silent_bytes,
        }
    }
}
