//! The record of a run: all its results, as one JSON document.
//!
//! The JSON Schema in `schema/record.json` is generated from these structs.

mod assemble;
mod caution;
mod findings;
mod health;
mod part;
mod resolved;
mod served;
mod stack;
mod state_left;
mod tables;
mod taken;
mod tenants;
#[cfg(test)]
mod tests;
mod totals;
mod wear;

pub use assemble::component;
pub(crate) use assemble::outcome;
pub(crate) use findings::{Findings, Measured};
pub use health::Health;
pub use resolved::{resolved_json, value_origin};
pub use stack::{StackReport, stack_report};
pub use tables::{Columns, Table};
pub use totals::price_basis;
pub use wear::{BlockErases, RowPrograms, Wear};

use nacre_kernel::state::Value;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Result of a run: the record, and the distributions and series that are too long for JSON.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The record.
    pub record: Record,
    /// Its columns.
    pub columns: Columns,
}

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The workload, the duration or the request limit was reached.
    Complete,
    /// Stopped by the caller.
    Stopped,
}

/// The result of one run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// Version of the document format.
    pub schema: &'static str,
    /// The version of Nacre that made it.
    pub version: &'static str,
    /// The scenario's name.
    pub name: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// False if the run was stopped before its end; the numbers then hold for the part that ran.
    pub complete: bool,
    /// The scenario with every used value, including defaults and presets.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub scenario: serde_json::Value,
    /// Origin of each of these values.
    pub origins: Vec<ValueOrigin>,
    /// Search for a steady state before the run; null without one.
    pub steadiness: Option<Steadiness>,
    /// Requests, counted.
    pub requests: Requests,
    /// Bytes requested by the host.
    pub bytes: HostBytes,
    /// Host CPU time of drivers per request, in nanoseconds; null if not modeled.
    pub host_cpu_ns: Option<f64>,
    /// From the first measured arrival to the last completion, in seconds.
    pub simulated_s: f64,
    /// From the first measured arrival until the stack is at rest, in seconds: cache fills and buffered
    /// writes may continue after the last completion. Utilization, idle energy and lifetime refer to this
    /// time.
    pub drained_s: f64,
    /// Rates of served requests.
    pub throughput: Throughput,
    /// Host latencies.
    pub latency: Latencies,
    /// Measurements of each tenant; empty without tenants.
    pub tenants: Vec<Tenant>,
    /// Jain's fairness index of the requests per second of tenants whose rate the stack limits: closed loops,
    /// and open loops that send more than is served. It is 1 if all rates are equal, and 1/N if one of N
    /// tenants has all requests (Jain, Chiu and Hawe 1984); null with fewer than two such tenants.
    pub fairness: Option<f64>,
    /// Time spent by a mean request, by component and activity.
    pub time_spent: TimeSpent,
    /// Results of each component, parents before children.
    pub components: Vec<Component>,
    /// Pages programmed per page of host data, over all media; null if none was programmed.
    pub write_amplification: Option<f64>,
    /// Pages programmed by garbage collection per page of host data, over all media; null if none was
    /// programmed.
    pub cleaning_cost: Option<f64>,
    /// Blocks erased, over all media; null if no medium is modeled.
    pub erases: Option<u64>,
    /// Joules by component path; components whose energy is not modeled are absent.
    pub energy_j: BTreeMap<String, f64>,
    /// Paths of the devices whose energy is not modeled, and of energy and power settings that are not set.
    pub energy_unknown: Vec<String>,
    /// Total area of the components' memory cells, in square millimeters; null if none is known.
    pub area_mm2: Option<f64>,
    /// Total cost of the components; null if none is known, or if prices are in several currencies.
    pub cost: Option<f64>,
    /// Currency of the cost, e.g. `USD 2023`; null if not stated or if there are several.
    pub cost_basis: Option<String>,
    /// Sums of costs by currency; `not stated` if the scenario has none.
    pub cost_by_basis: BTreeMap<String, f64>,
    /// Paths of the devices excluded from the cost, because they have no price, or a price per capacity but
    /// no capacity.
    pub cost_unknown: Vec<String>,
    /// Days until the first component wears out at the rate of this run; null if not modeled.
    pub lifetime_days: Option<f64>,
    /// Paths of the devices that were written to and whose endurance is not known.
    pub lifetime_unknown: Vec<String>,
    /// Wear-out of the first block or row; null if `run.wear_out` is off.
    pub worn_out: Option<WornOut>,
    /// Split of the trace and its parts; null without a split.
    pub split: Option<Split>,
    /// Notes of the workload about its input.
    pub workload: WorkloadNotes,
    /// Limitations of numbers in this record.
    pub findings: Vec<Caution>,
}

/// Limitation of a number in a record.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Caution {
    /// `saturated`, `not_steady`, `few_writes`, `unwritten_reads`, `failed_requests`, `more_than_share`,
    /// `dependent`, `not_narrow`, `longer_than_measured`, `split`, `prices_differ`, `cost_incomplete`,
    /// `energy_incomplete` or `lifetime_incomplete`.
    pub kind: &'static str,
    /// Text for people.
    pub text: String,
    /// Paths of the components or settings it is about.
    pub paths: Vec<String>,
}

/// Split of a trace over copies of the stack. The record combines all copies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Split {
    /// `volume` or `hash`.
    pub by: &'static str,
    /// Paths of the settings that are divided among the copies.
    pub shared: Vec<String>,
    /// Results of each copy for its part of the trace.
    pub copies: Vec<SplitCopy>,
}

/// One copy of the stack, with its part of a split trace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SplitCopy {
    /// Measured requests.
    pub requests: u64,
    /// From its first measured arrival until it was at rest, in seconds.
    pub drained_s: f64,
    /// Mean latency of its reads and writes together, in nanoseconds; null if there are none.
    pub mean_ns: Option<f64>,
}

/// Wear-out of the first block or row, i.e. when it exceeded its endurance.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WornOut {
    /// Seconds of writing.
    pub seconds: f64,
    /// Total writes, including those before the run; null if it happened within the run.
    pub writes: Option<u64>,
    /// Whether it happened within the run. If not, `seconds` assumes the write rate of the run.
    pub simulated: bool,
}

/// Maximum relative growth of valid data over the windows that have to agree. First writes to an address need
/// no garbage collection, so write amplification can be steady while they continue.
pub(crate) const GROWTH_MAX: f64 = 0.001;

/// Search for a steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Value)]
pub struct Steadiness {
    /// Whether write amplification and valid data met the scenario's criterion.
    pub reached: bool,
    /// Host data of one window, in bytes.
    pub window_bytes: u64,
    /// Writes of all windows.
    pub writes: u64,
    /// Write amplification of each window; null if nothing was programmed for the host.
    pub write_amplification: Vec<Option<f64>>,
    /// Valid pages at the end of each window; null if the device does not count them.
    pub valid_pages: Vec<Option<u64>>,
    /// Growth of valid data over the last windows, relative to its previous maximum; null if it is not
    /// counted, or with too few windows.
    pub growth: Option<f64>,
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
    /// File and line, override, catalog entry, or empty.
    pub place: String,
    /// Source of the number; empty for values of the user.
    pub source: String,
    /// `standard`, `datasheet`, `measured`, `paper`, `fitted` or `assumed`; empty for the user's own values.
    pub confidence: String,
}

/// Counts of requests. Issued and completed are always equal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Requests {
    /// Submitted to the stack.
    pub issued: u64,
    /// Completed by the stack.
    pub completed: u64,
    /// Reads among them.
    pub reads: u64,
    /// Writes among them.
    pub writes: u64,
    /// Trims among them.
    pub trims: u64,
    /// Flushes among them.
    pub flushes: u64,
    /// Completed with a device error; excluded from rates and latencies.
    pub errors: u64,
}

/// Bytes requested by the host.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HostBytes {
    /// To read.
    pub read: u64,
    /// To write.
    pub written: u64,
}

/// Rates of successful requests over the whole run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Throughput {
    /// Requests per second.
    pub iops: f64,
    /// Bytes read and written per second.
    pub bytes_per_s: f64,
    /// Units of work per second; null if the workload counts only requests.
    pub units_per_s: Option<f64>,
}

/// Latencies of successful requests by kind; null if there were none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latencies {
    /// For reads.
    pub read: Option<Latency>,
    /// For writes.
    pub write: Option<Latency>,
    /// For flushes (`fsync`).
    pub flush: Option<Latency>,
}

/// Requests and measurements of one tenant.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// Requests that completed.
    pub requests: u64,
    /// Device errors among them.
    pub errors: u64,
    /// Requested bytes.
    pub bytes: HostBytes,
    /// Rates from the first measured arrival of any tenant to the last completion of this one.
    pub throughput: Throughput,
    /// Its latencies.
    pub latency: Latencies,
}

/// A latency distribution in a few numbers, in nanoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latency {
    /// Requests.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Half-width of the 95 % confidence interval of the mean, from batch means that passed a test of
    /// independence; null below 512 requests, or if no batch size passed.
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
    /// 99.99th percentile.
    pub p9999_ns: f64,
    /// Largest.
    pub max_ns: f64,
}

/// Time spent by a mean request, by component and activity.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimeSpent {
    /// For reads.
    pub read: Vec<Spent>,
    /// For writes.
    pub write: Vec<Spent>,
    /// For flushes.
    pub flush: Vec<Spent>,
}

/// A part of the mean latency.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Spent {
    /// The component's path.
    pub component: String,
    /// Kind of the component.
    pub kind: &'static str,
    /// Activity.
    pub activity: &'static str,
    /// Nanoseconds of the mean latency.
    pub mean_ns: f64,
    /// Share of the mean latency.
    pub share: f64,
}

/// Results of one component.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Component {
    /// Path in the scenario.
    pub path: String,
    /// Kind of the component.
    pub kind: &'static str,
    /// Its resources; empty if only the components below are busy.
    pub resources: Vec<Resource>,
    /// Servers of its busiest resource; 0 without resources.
    pub servers: u32,
    /// Seconds of its resources' time, by activity.
    pub busy: BTreeMap<&'static str, f64>,
    /// Utilization of its busiest resource; 0 without resources.
    pub utilization: f64,
    /// Joules by activity that took any, and `idle`; null if not modeled.
    pub energy_j: Option<BTreeMap<&'static str, f64>>,
    /// Counts of events.
    pub counters: serde_json::Map<String, serde_json::Value>,
    /// Area of its memory cells in square millimeters; null if unknown.
    pub area_mm2: Option<f64>,
    /// Cost in `cost_basis`; null without a price.
    pub cost: Option<f64>,
    /// Currency of its cost, e.g. `USD 2023`; null if not stated.
    pub cost_basis: Option<String>,
    /// Days until worn out at the rate of this run; null if not modeled.
    pub lifetime_days: Option<f64>,
    /// Programs and erases; null if the medium is not modeled.
    pub wear: Option<Wear>,
    /// Health; null if its medium does not wear.
    pub health: Option<Health>,
    /// Writes through each reclaim unit handle, in their order; empty unless there are several.
    pub handles: Vec<Handle>,
    /// Effects of each fault of the scenario, in order; empty without faults.
    pub faults: Vec<Fault>,
    /// Tables that are too long for this document, by name. Each is a Parquet file of this name.
    pub tables: BTreeMap<&'static str, Table>,
}

/// Writes through a reclaim unit handle of a drive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Handle {
    /// Mapping units that the host wrote through it.
    pub units_host: u64,
    /// Mapping units of its data that moved.
    pub units_moved: u64,
    /// Write amplification of the handle; null without host writes.
    pub write_amplification: Option<f64>,
    /// Changes of the reclaim unit that it references, by the drive (event 81h of flexible data placement).
    pub implicitly_modified: u64,
    /// Changes among these before the reclaim unit was written to capacity (event 0h).
    pub not_fully_written: u64,
}

/// A fault of the scenario, and its effects during the measurement.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Fault {
    /// Path in the scenario.
    pub path: String,
    /// Kind of the component.
    pub kind: &'static str,
    /// Requests of its operations and address range that arrived while it was active.
    pub matching: u64,
    /// Affected requests among them.
    pub touched: u64,
    /// Total latency that it added, in seconds.
    pub added_s: f64,
    /// Requests that it ended with an error.
    pub errors: u64,
    /// Bytes of the requests with these errors.
    pub reported_bytes: u64,
    /// Silently corrupted bytes.
    pub silent_bytes: u64,
}

/// Equal servers behind one queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Resource {
    /// Name of the resource.
    pub name: &'static str,
    /// Requests, or parts of requests, served in parallel.
    pub servers: u32,
    /// Seconds of its servers' time, by activity.
    pub busy: BTreeMap<&'static str, f64>,
    /// Busy time over servers and `drained_s`.
    pub utilization: f64,
}

/// Notes of the workload about its input.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkloadNotes {
    /// Kind of the component.
    pub kind: &'static str,
    /// Requests generated for the driver in batches; if a run ended early, fewer were served.
    pub records: u64,
    /// Records of a trace that were invalid and skipped.
    pub bad_records: u64,
    /// Unit of work, e.g. `transactions`; null if there is none.
    pub unit: Option<&'static str>,
    /// Units of work that completed during the measurement; null if there is none.
    pub units: Option<u64>,
    /// Assumptions and notes, as text.
    pub notes: Vec<String>,
}

impl Record {
    /// The record as one JSON document.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a record is plain data")
    }
}
