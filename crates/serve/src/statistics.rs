//! Statistics of a running server.

use crate::asked::TIMED;
use crate::model::{Latencies, Timed, Timing};
use crate::recorder::Recorded;
use crate::served_fault::ServedFault;
use crate::tally::{Counted, KINDS};
use nacre_kernel::Time;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_machine::record::{Columns, StackReport};
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;

/// Statistics of the server and of all exports.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Time since the start of the server.
    pub up: Duration,
    /// Numbers of clients.
    pub connections: Connections,
    /// Statistics of each export.
    pub exports: Vec<ExportStatistics>,
}

/// Numbers of clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Connections {
    /// Current number of clients.
    pub now: u64,
    /// Number of connections since the start of the server.
    pub ever: u64,
    /// Number of connections that ended in the middle of a message or because of a protocol violation.
    pub dropped: u64,
    /// Reason for the last disconnection that `dropped` counts.
    pub last_drop: Option<String>,
}

/// Statistics of one export.
#[derive(Clone, Debug)]
pub struct ExportStatistics {
    /// Export name.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether the export rejects writes.
    pub read_only: bool,
    /// Timing of replies.
    pub timing: Timing,
    /// Counts of requests in the order of [`KINDS`].
    pub requests: [Counted; KINDS.len()],
    /// Modeled latencies, and latencies measured in wall-clock time.
    pub latencies: Latencies,
    /// Simulated time since the image of the device was created.
    pub simulated: Time,
    /// Report of the device over `simulated`. Wear and energy are lifetime values.
    pub stack: StackReport,
    /// Faults that were added while the device is served.
    pub faults: Vec<ServedFault>,
    /// Number of power losses over the lifetime of the device.
    pub unsafe_shutdowns: u64,
    /// Status of the current or last recording.
    pub recording: Option<Recorded>,
}

/// Summary of a server run.
#[derive(Debug, Default)]
pub struct ServerSummary {
    /// Number of clients that connected.
    pub clients: u64,
    /// Number of connections that ended in the middle of a message or because of a protocol violation.
    pub dropped: u64,
    /// Reason for the last disconnection that `dropped` counts.
    pub last_drop: Option<String>,
    /// Image that could not be synced at the end, and the reason.
    pub unsynced: Option<String>,
    /// Resource that the system did not provide when the server started. In this case, the server has served
    /// no clients.
    pub denied: Option<Denied>,
    /// Statistics of each export.
    pub exports: Vec<ExportStatistics>,
}

/// Resource that the system did not provide when the server started.
#[derive(Debug)]
pub struct Denied {
    /// Name of the resource.
    pub what: &'static str,
    /// Error of the system.
    pub error: io::Error,
}

impl ExportStatistics {
    /// Returns a JSON object, with the tables of components if `columns` is set.
    pub fn json(&self, columns: bool) -> Value {
        let stack = serde_json::to_value(&self.stack).expect("a report becomes JSON");
        let Value::Object(stack) = stack else { unreachable!("it has fields") };
        let mut told = json!({
            "name": self.name,
            "bytes": self.bytes,
            "read_only": self.read_only,
            "timing": self.timing.name(),
            "dilation": self.dilation(),
            "requests": KINDS.iter().zip(self.requests).collect::<std::collections::BTreeMap<_, _>>(),
            "answered": self.latencies.answered,
            "late": self.latencies.late,
            "modeled": by_kind(&self.latencies.modeled),
            "wall": by_kind(&self.latencies.wall),
            "simulated_s": self.simulated.as_secs_f64(),
            "faults": self.faults,
            "unsafe_shutdowns": self.unsafe_shutdowns,
            "recording": self.recording,
        });
        let fields = told.as_object_mut().expect("it has fields");
        fields.extend(stack);
        if columns {
            fields.insert("columns".into(), columns_json(&self.stack.columns));
        }
        told
    }

    /// Returns the dilation factor, or `None` if replies are immediate.
    pub fn dilation(&self) -> Option<f64> {
        match self.timing {
            Timing::Emulated { dilation, .. } => Some(dilation),
            Timing::None => None,
        }
    }
}

impl Statistics {
    /// Returns a JSON object, with the tables of components if `columns` is set.
    pub fn json(&self, columns: bool) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "up_s": self.up.as_secs_f64(),
            "connections": self.connections,
            "exports": self.exports.iter().map(|export| export.json(columns)).collect::<Vec<_>>(),
        })
    }
}

fn by_kind(histograms: &Timed) -> Value {
    TIMED.iter().zip(histograms).map(|(kind, of)| (kind.to_string(), summary(of))).collect()
}

/// Summarizes a distribution of latencies in a few numbers. Returns null if the distribution is empty.
fn summary(of: &LatencyHistogram) -> Value {
    let Some(mean_ps) = of.mean_ps() else { return Value::Null };
    let quantile = |q: f64| of.quantile(q).map(Time::as_ns_f64);
    json!({
        "count": of.count(),
        "mean_ns": mean_ps / 1e3,
        "p50_ns": quantile(0.5),
        "p95_ns": quantile(0.95),
        "p99_ns": quantile(0.99),
        "p999_ns": quantile(0.999),
        "p9999_ns": quantile(0.9999),
        "max_ns": quantile(1.0),
    })
}

/// Converts columns to JSON, keyed by column name. Values that are not finite become null.
fn columns_json(columns: &Columns) -> Value {
    let floats = columns.floats.iter().map(|(name, values)| (name.clone(), json!(values)));
    let counts = columns.counts.iter().map(|(name, values)| (name.clone(), json!(values)));
    Value::Object(floats.chain(counts).collect())
}
