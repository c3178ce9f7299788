//! Status of a fault that was added to a served device.

use nacre_kernel::{FaultCounts, FaultReport};
use serde::Serialize;

/// A fault that was added to a device while it is served.
#[derive(Clone, Debug, Serialize)]
pub struct ServedFault {
    /// Number of the fault, which is unique while the device is served.
    pub number: usize,
    /// Type of the fault, e.g. `"stall"`.
    pub kind: &'static str,
    /// Settings of the fault as a TOML table without a header.
    pub settings: String,
    /// Whether the fault is currently active.
    pub active: bool,
    /// Whether the fault was cleared.
    pub cleared: bool,
    /// Number of requests that matched the operations and the range of the fault while it was active.
    pub matching: u64,
    /// Number of the matching requests that the fault affected.
    pub touched: u64,
    /// Time that the fault added to requests, in simulated seconds.
    pub added_s: f64,
    /// Number of requests that failed because of the fault.
    pub errors: u64,
    /// Number of silently corrupted bytes.
    pub silent_bytes: u64,
}

impl ServedFault {
    /// Creates the status of fault `number` from its `settings`, its state, and its counters.
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
