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

/// All statistics of a server.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Time since the start of the server.
    pub up: Duration,
    /// Its clients.
    pub connections: Connections,
    /// Its devices.
    pub exports: Vec<ExportStatistics>,
}

/// Numbers of clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Connections {
    /// Current number.
    pub now: u64,
    /// Connections since the start.
    pub ever: u64,
    /// Connections that ended within a message or by a protocol violation.
    pub dropped: u64,
    /// Reason for the last disconnection.
    pub last_drop: Option<String>,
}

/// All statistics of one export.
#[derive(Clone, Debug)]
pub struct ExportStatistics {
    /// Export name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Whether it rejects writes.
    pub read_only: bool,
    /// Timing of replies.
    pub timing: Timing,
    /// Requests in the order of [`KINDS`].
    pub requests: [Counted; KINDS.len()],
    /// Latencies as modeled and by the wall clock.
    pub latencies: Latencies,
    /// The device's clock: simulated time since its image was created.
    pub simulated: Time,
    /// Report of the device in that time; wear and energy are lifetime values.
    pub stack: StackReport,
    /// Faults that were added while it is served.
    pub faults: Vec<ServedFault>,
    /// Power losses over its lifetime.
    pub unsafe_shutdowns: u64,
    /// Status of the current or last recording.
    pub recording: Option<Recorded>,
}

/// Summary of a server's run.
#[derive(Debug, Default)]
pub struct Life {
    /// Clients that connected.
    pub clients: u64,
    /// Clients whose connection ended within a message or by a protocol error, and the reason of the last
    /// one.
    pub dropped: u64,
    /// The reason of the last.
    pub last_drop: Option<String>,
    /// Image that could not be synced at the end, with the reason.
    pub unsynced: Option<String>,
    /// Resource that the system denied at the start; the server served no clients then.
    pub denied: Option<Denied>,
    /// Statistics of each export.
    pub exports: Vec<ExportStatistics>,
}

/// Resource that the system denied a server at the start.
#[derive(Debug)]
pub struct Denied {
    /// The missing resource.
    pub what: &'static str,
    /// Error of the system.
    pub error: io::Error,
}

impl ExportStatistics {
    /// One JSON object, with the tables of components if `columns` is set.
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

    /// Dilation factor; `None` if replies are immediate.
    pub fn dilation(&self) -> Option<f64> {
        match self.timing {
            Timing::Emulated { dilation, .. } => Some(dilation),
            Timing::None => None,
        }
    }
}

impl Statistics {
    /// One JSON object, with the tables of components if `columns` is set.
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

/// A distribution in a few numbers; null if it is empty.
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

/// Columns by name; values that are not finite become null.
fn columns_json(columns: &Columns) -> Value {
    let floats = columns.floats.iter().map(|(name, values)| (name.clone(), json!(values)));
    let counts = columns.counts.iter().map(|(name, values)| (name.clone(), json!(values)));
    Value::Object(floats.chain(counts).collect())
}
