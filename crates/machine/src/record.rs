//! The record of a run: everything it found out, as one value that becomes one JSON document.
//!
//! The JSON Schema in `schema/record.json` is generated from these structs.

use crate::drive::RunError;
use crate::meter::{Meter, OpMeter};
use crate::scenario::Checked;
use nacre_config::{Node, Origin, Resolved, Value};
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Activity, ComponentReport, Device, Time};
use nacre_workload::Workload;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a run returns: the record, and the distributions and series that are too long for JSON.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The record.
    pub record: Record,
    /// Its columns.
    pub columns: Columns,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The workload, the duration or the request limit was reached.
    Complete,
    /// Whoever watched it stopped it.
    Stopped,
}

/// The result of one run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// Which form this document has.
    pub schema: &'static str,
    /// The version of Nacre that made it.
    pub version: &'static str,
    /// The scenario's name.
    pub name: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// False if the run was stopped before its end; the numbers then hold for the part that ran.
    pub complete: bool,
    /// The scenario with every value that was used, defaults and presets filled in.
    pub scenario: serde_json::Value,
    /// Where each of those values came from.
    pub origins: Vec<ValueOrigin>,
    /// Requests, counted.
    pub requests: Requests,
    /// Bytes the host asked for.
    pub bytes: HostBytes,
    /// From the first measured arrival to the last completion, in seconds.
    pub simulated_s: f64,
    /// Served per simulated second.
    pub throughput: Throughput,
    /// Latencies as the host sees them.
    pub latency: Latencies,
    /// Where the time of a mean request went.
    pub time_spent: TimeSpent,
    /// What each component did, parents before children.
    pub components: Vec<Component>,
    /// Pages programmed per page the host wrote; null where no component rewrites.
    pub write_amplification: Option<f64>,
    /// Cleaner programs per flushed page; null where nothing cleans.
    pub cleaning_cost: Option<f64>,
    /// Erases; null where nothing erases.
    pub erases: Option<u64>,
    /// Joules by component path; components whose energy is not modelled are absent.
    pub energy_j: BTreeMap<String, f64>,
    /// Sum of the components' costs; null if no component has a price.
    pub cost: Option<f64>,
    /// Days until the first component is worn out at the rate of this run; null where not modelled.
    pub lifetime_days: Option<f64>,
    /// What the workload has to say about its input.
    pub workload: WorkloadNotes,
}

/// A value of the scenario and its origin.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ValueOrigin {
    /// Dotted path.
    pub path: String,
    /// The value as used.
    pub value: serde_json::Value,
    /// `file`, `override`, `catalog` or `default`.
    pub from: &'static str,
    /// File and line, override, catalogue entry, or empty.
    pub place: String,
    /// Where the number was published; empty for the user's own values.
    pub source: String,
    /// `standard`, `datasheet`, `measured`, `paper`, `fitted` or `assumed`; empty for the user's own values.
    pub confidence: String,
}

/// Counts of requests. Issued and completed are always equal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Requests {
    /// Given to the stack.
    pub issued: u64,
    /// Answered by it.
    pub completed: u64,
    /// Of them reads.
    pub reads: u64,
    /// Of them writes.
    pub writes: u64,
    /// Of them trims.
    pub trims: u64,
    /// Of them flushes.
    pub flushes: u64,
    /// Answered with a device error.
    pub errors: u64,
}

/// Bytes the host asked for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HostBytes {
    /// To read.
    pub read: u64,
    /// To write.
    pub written: u64,
}

/// Rates over the whole run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Throughput {
    /// Requests per second.
    pub iops: f64,
    /// Bytes read and written per second.
    pub bytes_per_s: f64,
}

/// Latencies by kind of request; null where there was none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latencies {
    /// Of reads.
    pub read: Option<Latency>,
    /// Of writes.
    pub write: Option<Latency>,
}

/// A latency distribution in a few numbers, in nanoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latency {
    /// Requests.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Half-width of the mean's 95 % confidence interval, by batch means; null for very short runs.
    pub mean_ci95_ns: Option<f64>,
    /// Smallest.
    pub min_ns: f64,
    /// Median.
    pub p50_ns: f64,
    /// 95th percentile.
    pub p95_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
    /// 99.9th percentile.
    pub p999_ns: f64,
    /// Largest.
    pub max_ns: f64,
}

/// Where the time of a mean request went.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimeSpent {
    /// Of reads.
    pub read: Vec<Spent>,
    /// Of writes.
    pub write: Vec<Spent>,
}

/// A part of the mean latency.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Spent {
    /// The component's path.
    pub component: String,
    /// Its room.
    pub kind: &'static str,
    /// What it did.
    pub activity: &'static str,
    /// Nanoseconds of the mean latency.
    pub mean_ns: f64,
    /// Share of the mean latency.
    pub share: f64,
}

/// What one component did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Component {
    /// Its place in the scenario.
    pub path: String,
    /// Its room.
    pub kind: &'static str,
    /// Requests it can work on at one time.
    pub servers: u32,
    /// Seconds of its servers' time, by activity.
    pub busy: BTreeMap<&'static str, f64>,
    /// Busy time over servers and run time.
    pub utilisation: f64,
    /// Joules by activity, and `idle`; null where not modelled.
    pub energy_j: Option<BTreeMap<&'static str, f64>>,
    /// Counts of events.
    pub counters: serde_json::Map<String, serde_json::Value>,
    /// In the catalogue's cost units; null where no price is known.
    pub cost: Option<f64>,
    /// Days until worn out at the rate of this run; null where not modelled.
    pub lifetime_days: Option<f64>,
}

/// What the workload has to say about its input.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkloadNotes {
    /// Its room.
    pub kind: &'static str,
    /// Requests it gave.
    pub records: u64,
    /// Records of a trace that could not be read and were left out.
    pub bad_records: u64,
    /// Guesses and remarks, in words.
    pub notes: Vec<String>,
}

/// Distributions and series as columns.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Columns of numbers, by name.
    pub floats: Vec<(&'static str, Vec<f64>)>,
    /// Columns of counts, by name.
    pub counts: Vec<(&'static str, Vec<u64>)>,
}

/// Assembles what a run found out.
pub(crate) fn outcome(
    checked: &Checked,
    device: &dyn Device,
    workload: &dyn Workload,
    meter: &Meter,
    issued: u64,
    ending: Ending,
) -> Outcome {
    assert_eq!(issued, meter.completed(), "requests issued and requests completed");
    let elapsed = meter.end - meter.start;
    let mut reports = Vec::new();
    flatten(device.report(elapsed), &mut reports);
    let components: Vec<Component> = reports.iter().map(|report| component(report, elapsed)).collect();
    let seconds = elapsed.as_secs_f64();
    let per_second = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let bytes = HostBytes { read: meter.reads.bytes, written: meter.writes.bytes };
    let notes = workload.notes();
    let lifetimes = components.iter().filter_map(|component| component.lifetime_days);
    let record = Record {
        schema: "nacre-record-1",
        version: env!("CARGO_PKG_VERSION"),
        name: checked.name.clone(),
        seed: checked.run.seed,
        complete: ending == Ending::Complete,
        scenario: resolved_json(&checked.resolved),
        origins: checked.resolved.iter().map(value_origin).collect(),
        requests: requests(meter, issued),
        throughput: Throughput {
            iops: per_second(meter.completed() as f64),
            bytes_per_s: per_second((bytes.read + bytes.written) as f64),
        },
        bytes,
        simulated_s: seconds,
        latency: Latencies { read: latency(&meter.reads), write: latency(&meter.writes) },
        time_spent: TimeSpent { read: spent(&meter.reads, &reports), write: spent(&meter.writes, &reports) },
        write_amplification: None,
        cleaning_cost: None,
        erases: None,
        energy_j: energies(&components),
        cost: components.iter().filter_map(|component| component.cost).reduce(|sum, cost| sum + cost),
        lifetime_days: lifetimes.reduce(f64::min),
        components,
        workload: WorkloadNotes {
            kind: notes.kind,
            records: notes.records,
            bad_records: notes.bad_records,
            notes: notes.notes,
        },
    };
    Outcome { record, columns: columns(meter) }
}

impl Record {
    /// The record as one JSON document.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a record is plain data")
    }
}

impl RunError {
    /// The problems, whatever the kind of error.
    pub fn problems(&self) -> &[nacre_config::Problem] {
        let RunError::Problems(problems) = self;
        &problems.0
    }
}

fn requests(meter: &Meter, issued: u64) -> Requests {
    Requests {
        issued,
        completed: meter.completed(),
        reads: meter.reads.latency.count(),
        writes: meter.writes.latency.count(),
        trims: meter.trims,
        flushes: meter.flushes,
        errors: meter.errors,
    }
}

fn latency(meter: &OpMeter) -> Option<Latency> {
    let histogram = &meter.latency;
    let quantile = |q: f64| histogram.quantile(q).map(Time::as_ns_f64);
    Some(Latency {
        count: histogram.count(),
        mean_ns: histogram.mean_ps()? / 1e3,
        mean_ci95_ns: meter.means.half_width_95(),
        min_ns: histogram.min()?.as_ns_f64(),
        p50_ns: quantile(0.5)?,
        p95_ns: quantile(0.95)?,
        p99_ns: quantile(0.99)?,
        p999_ns: quantile(0.999)?,
        max_ns: histogram.max()?.as_ns_f64(),
    })
}

/// The parts of the mean latency, in the order of the components.
fn spent(meter: &OpMeter, reports: &[ComponentReport]) -> Vec<Spent> {
    let total = meter.latency.sum_ps() as f64;
    let count = meter.latency.count().max(1) as f64;
    let mut parts = Vec::new();
    for report in reports {
        for activity in Activity::ALL {
            let ps = meter.spent_ps(report.id.0 as usize, activity) as f64;
            if ps > 0.0 {
                parts.push(Spent {
                    component: report.path.clone(),
                    kind: report.kind,
                    activity: activity.name(),
                    mean_ns: ps / count / 1e3,
                    share: ps / total,
                });
            }
        }
    }
    parts
}

fn flatten(report: ComponentReport, into: &mut Vec<ComponentReport>) {
    let mut report = report;
    let children = std::mem::take(&mut report.children);
    into.push(report);
    children.into_iter().for_each(|child| flatten(child, into));
}

fn component(report: &ComponentReport, elapsed: Time) -> Component {
    let busy = Activity::ALL
        .into_iter()
        .filter(|&activity| !report.ledger.busy(activity).is_zero())
        .map(|activity| (activity.name(), report.ledger.busy(activity).as_secs_f64()))
        .collect();
    let available = elapsed.as_secs_f64() * f64::from(report.servers);
    let utilisation =
        if available > 0.0 { report.ledger.total_busy().as_secs_f64() / available } else { 0.0 };
    let mut energy: BTreeMap<&'static str, f64> = Activity::ALL
        .into_iter()
        .filter(|&activity| report.ledger.energy(activity).0 > 0.0)
        .map(|activity| (activity.name(), report.ledger.energy(activity).0))
        .collect();
    energy.extend(report.idle_energy.map(|idle| ("idle", idle.0)));
    Component {
        path: report.path.clone(),
        kind: report.kind,
        servers: report.servers,
        busy,
        utilisation,
        energy_j: (!energy.is_empty()).then_some(energy),
        counters: report.counters.iter().map(|&(name, count)| (name.to_string(), count.into())).collect(),
        cost: report.cost,
        lifetime_days: report.lifetime_days,
    }
}

fn energies(components: &[Component]) -> BTreeMap<String, f64> {
    let known = components.iter().filter_map(|component| Some((component, component.energy_j.as_ref()?)));
    known.map(|(component, energy)| (component.path.clone(), energy.values().sum())).collect()
}

fn columns(meter: &Meter) -> Columns {
    let mut columns = Columns::default();
    for (upto, count, histogram) in [
        ("latency.read.upto_ns", "latency.read.count", &meter.reads.latency),
        ("latency.write.upto_ns", "latency.write.count", &meter.writes.latency),
    ] {
        columns.floats.push((upto, bars(histogram).0));
        columns.counts.push((count, bars(histogram).1));
    }
    let bins = meter.series.bins();
    let width = meter.series.width().as_secs_f64();
    columns.floats.push(("time.start_s", (0..bins.len()).map(|index| index as f64 * width).collect()));
    columns.floats.push(("time.width_s", vec![width]));
    columns.counts.push(("time.reads", bins.iter().map(|bin| bin.reads).collect()));
    columns.counts.push(("time.writes", bins.iter().map(|bin| bin.writes).collect()));
    columns.counts.push(("time.bytes", bins.iter().map(|bin| bin.bytes).collect()));
    // 0 / 0 is NaN: nothing completed in that interval.
    let mean = bins.iter().map(|bin| bin.latency_ps as f64 / 1e3 / (bin.reads + bin.writes) as f64).collect();
    columns.floats.push(("time.mean_latency_ns", mean));
    columns
}

fn bars(histogram: &LatencyHistogram) -> (Vec<f64>, Vec<u64>) {
    histogram.bars().map(|bar| (bar.upto.as_ns_f64(), bar.count)).unzip()
}

/// The resolved values as one nested JSON document.
pub fn resolved_json(resolved: &[Resolved]) -> serde_json::Value {
    let mut root = serde_json::Value::Object(serde_json::Map::new());
    for value in resolved {
        let mut here = &mut root;
        for step in value.path.replace('[', ".[").split('.') {
            here = match step.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                Some(index) => list_place(here, index.parse().expect("an index")),
                None => table_place(here, step),
            };
        }
        *here = json(&value.node);
    }
    root
}

fn list_place(here: &mut serde_json::Value, index: usize) -> &mut serde_json::Value {
    if !here.is_array() {
        *here = serde_json::Value::Array(Vec::new());
    }
    let list = here.as_array_mut().expect("made an array above");
    if list.len() <= index {
        list.resize(index + 1, serde_json::Value::Null);
    }
    &mut list[index]
}

fn table_place<'a>(here: &'a mut serde_json::Value, key: &str) -> &'a mut serde_json::Value {
    if !here.is_object() {
        *here = serde_json::Value::Object(serde_json::Map::new());
    }
    here.as_object_mut().expect("made an object above").entry(key).or_insert(serde_json::Value::Null)
}

/// A leaf value as JSON.
pub(crate) fn json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Text(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(nodes) => nodes.iter().map(json).collect(),
        Value::Table(entries) => {
            serde_json::Value::Object(entries.iter().map(|(key, node)| (key.clone(), json(node))).collect())
        }
    }
}

/// Where one resolved value came from.
pub fn value_origin(resolved: &Resolved) -> ValueOrigin {
    let origin = &resolved.node.origin;
    let (from, source, confidence) = match origin {
        Origin::File { .. } => ("file", String::new(), String::new()),
        Origin::Override(_) => ("override", String::new(), String::new()),
        Origin::Catalog { source, confidence, .. } => ("catalog", source.to_string(), confidence.to_string()),
        Origin::Default(source) => {
            let (confidence, source) = source.split_once(':').unwrap_or(("assumed", source));
            ("default", source.trim().to_string(), confidence.trim().to_string())
        }
    };
    let place = match origin {
        Origin::Default(_) => String::new(),
        origin => origin.place(),
    };
    ValueOrigin { path: resolved.path.clone(), value: json(&resolved.node), from, place, source, confidence }
}
