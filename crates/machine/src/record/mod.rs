//! The record of a run: all of its results, as one JSON document.
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

/// Result of a run: the record, and the distributions and time series that are too long for JSON.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The record.
    pub record: Record,
    /// The columns of the run.
    pub columns: Columns,
}

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The end of the workload, the duration, or the request limit was reached.
    Complete,
    /// The caller stopped the run.
    Stopped,
}

/// The result of one run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// Version of the document format.
    pub schema: &'static str,
    /// Version of Nacre that produced the record.
    pub version: &'static str,
    /// Name of the scenario.
    pub name: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// False if the run was stopped before its end. In this case, the numbers cover the portion that ran.
    pub complete: bool,
    /// The scenario with every used value, including defaults and presets.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub scenario: serde_json::Value,
    /// Origin of each used value.
    pub origins: Vec<ValueOrigin>,
    /// Search for a steady state before the run, or null without one.
    pub steadiness: Option<Steadiness>,
    /// Request counts.
    pub requests: Requests,
    /// Bytes requested by the host.
    pub bytes: HostBytes,
    /// Host CPU time of drivers per request, in nanoseconds, or null if not modeled.
    pub host_cpu_ns: Option<f64>,
    /// Time from the first measured arrival to the last completion, in seconds.
    pub simulated_s: f64,
    /// Time from the first measured arrival until the stack is at rest, in seconds. Cache fills and buffered
    /// writes may continue after the last completion. Utilization, idle energy, and lifetime refer to this
    /// time.
    pub drained_s: f64,
    /// Rates of served requests.
    pub throughput: Throughput,
    /// Host latencies.
    pub latency: Latencies,
    /// Measurements of each tenant. The list is empty without tenants.
    pub tenants: Vec<Tenant>,
    /// Jain's fairness index of the request rates of tenants that the stack limits: closed loops, and open
    /// loops that send more than is served. The index is 1 if all rates are equal, and 1/N if one of N
    /// tenants has all requests (Jain, Chiu, and Hawe 1984). Null with fewer than two such tenants.
    pub fairness: Option<f64>,
    /// Breakdown of the mean latency by component and activity.
    pub time_spent: TimeSpent,
    /// Results of each component, parents before children.
    pub components: Vec<Component>,
    /// Pages programmed per page of host data, over all media, or null if no page was programmed.
    pub write_amplification: Option<f64>,
    /// Pages programmed by garbage collection per page of host data, over all media, or null if no page was
    /// programmed.
    pub cleaning_cost: Option<f64>,
    /// Number of blocks erased, over all media, or null if no medium is modeled.
    pub erases: Option<u64>,
    /// Energy in joules by component path. Components whose energy is not modeled are absent.
    pub energy_j: BTreeMap<String, f64>,
    /// Paths of the devices whose energy is not modeled, and of energy and power settings that are not set.
    pub energy_unknown: Vec<String>,
    /// Total area of the components' memory cells, in square millimeters, or null if no area is known.
    pub area_mm2: Option<f64>,
    /// Total cost of the components, or null if no cost is known or if prices are in several currencies.
    pub cost: Option<f64>,
    /// Currency of the cost, e.g. `USD 2023`, or null if not stated or if there are several.
    pub cost_basis: Option<String>,
    /// Total costs by currency. The key is `not stated` if the scenario has no currency.
    pub cost_by_basis: BTreeMap<String, f64>,
    /// Paths of the devices excluded from the cost, because they have no price, or a price per capacity but
    /// no capacity.
    pub cost_unknown: Vec<String>,
    /// Lifetime in days of the first component that wears out, at the write rate of this run, or null if not
    /// modeled.
    pub lifetime_days: Option<f64>,
    /// Paths of the devices that were written to and whose endurance is not known.
    pub lifetime_unknown: Vec<String>,
    /// Wear-out of the first block or row, or null if `run.wear_out` is off.
    pub worn_out: Option<WornOut>,
    /// Split of the trace, with its copies, or null without a split.
    pub split: Option<Split>,
    /// Notes of the workload about its input.
    pub workload: WorkloadNotes,
    /// Limitations of the numbers in this record.
    pub findings: Vec<Caution>,
}

/// Limitation of a number in a record.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Caution {
    /// Kind of the limitation: `saturated`, `not_steady`, `few_writes`, `unwritten_reads`,
    /// `failed_requests`, `more_than_share`, `degraded`, `dependent`, `not_narrow`, `longer_than_measured`,
    /// `split`, `prices_differ`, `cost_incomplete`, `energy_incomplete`, or `lifetime_incomplete`.
    pub kind: &'static str,
    /// Explanation as text.
    pub text: String,
    /// Paths of the affected components or settings.
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
    /// Number of measured requests.
    pub requests: u64,
    /// Time from the copy's first measured arrival until it was at rest, in seconds.
    pub drained_s: f64,
    /// Mean latency of the copy's reads and writes together, in nanoseconds, or null without such requests.
    pub mean_ns: Option<f64>,
}

/// Wear-out of the first block or row, i.e. the time at which it exceeded its endurance.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WornOut {
    /// Time from the start of the run until wear-out, in seconds.
    pub seconds: f64,
    /// Total number of writes, including those before the run, or null if wear-out happened within the run.
    pub writes: Option<u64>,
    /// Whether wear-out happened within the run. If not, `seconds` assumes the write rate of the run.
    pub simulated: bool,
}

/// Maximum relative growth of valid data over the windows that are compared. First writes to an address
/// need no garbage collection, so write amplification can be steady while such writes continue.
pub(crate) const GROWTH_MAX: f64 = 0.001;

/// Search for a steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Value)]
pub struct Steadiness {
    /// Whether write amplification and valid data met the scenario's criterion.
    pub reached: bool,
    /// Host data written per window, in bytes.
    pub window_bytes: u64,
    /// Total number of writes in all windows.
    pub writes: u64,
    /// Write amplification of each window, or null if no page was programmed for the host.
    pub write_amplification: Vec<Option<f64>>,
    /// Valid pages at the end of each window, or null if the device does not count them.
    pub valid_pages: Vec<Option<u64>>,
    /// Growth of valid data over the last windows, relative to its previous maximum, or null if the device
    /// does not count it or there are too few windows.
    pub growth: Option<f64>,
}

/// A value of the scenario with its origin.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ValueOrigin {
    /// Dotted path of the value.
    pub path: String,
    /// The value as used.
    pub value: serde_json::Value,
    /// `file`, `override`, `catalog` or `default`.
    pub from: &'static str,
    /// File and line, override, catalog entry, or empty.
    pub place: String,
    /// Source of the number, or an empty text for values of the user.
    pub source: String,
    /// `standard`, `datasheet`, `measured`, `paper`, `fitted`, or `assumed`, or an empty text for values of
    /// the user.
    pub confidence: String,
}

/// Request counts. The numbers of issued and completed requests are always equal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Requests {
    /// Requests submitted to the stack.
    pub issued: u64,
    /// Requests completed by the stack.
    pub completed: u64,
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
    /// Completed trims.
    pub trims: u64,
    /// Completed flushes.
    pub flushes: u64,
    /// Requests completed with a device error, which are excluded from rates and latencies.
    pub errors: u64,
}

/// Bytes requested by the host.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HostBytes {
    /// Bytes of read requests.
    pub read: u64,
    /// Bytes of write requests.
    pub written: u64,
}

/// Rates of successful requests over the whole run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Throughput {
    /// Requests per second.
    pub iops: f64,
    /// Bytes read and written per second.
    pub bytes_per_s: f64,
    /// Units of work per second, or null if the workload counts only requests.
    pub units_per_s: Option<f64>,
}

/// Latencies of successful requests by kind, or null without such requests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latencies {
    /// Read latencies.
    pub read: Option<Latency>,
    /// Write latencies.
    pub write: Option<Latency>,
    /// Flush (`fsync`) latencies.
    pub flush: Option<Latency>,
}

/// Requests and measurements of one tenant.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tenant {
    /// Name of the tenant.
    pub name: String,
    /// Number of completed requests.
    pub requests: u64,
    /// Number of requests completed with a device error.
    pub errors: u64,
    /// Requested bytes.
    pub bytes: HostBytes,
    /// Rates from the first measured arrival of any tenant to the last completion of this tenant.
    pub throughput: Throughput,
    /// Latencies of the tenant.
    pub latency: Latencies,
}

/// Summary of a latency distribution, in nanoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latency {
    /// Number of requests.
    pub count: u64,
    /// Mean latency.
    pub mean_ns: f64,
    /// Half-width of the 95 % confidence interval of the mean, from batch means that passed a test of
    /// independence. Null below 512 requests or if no batch size passed.
    pub mean_ci95_ns: Option<f64>,
    /// Minimum latency.
    pub min_ns: f64,
    /// Median latency.
    pub p50_ns: f64,
    /// 95th percentile.
    pub p95_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
    /// 99.9th percentile.
    pub p999_ns: f64,
    /// 99.99th percentile.
    pub p9999_ns: f64,
    /// Maximum latency.
    pub max_ns: f64,
}

/// Breakdown of the mean latency by component and activity.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimeSpent {
    /// Breakdown of reads.
    pub read: Vec<Spent>,
    /// Breakdown of writes.
    pub write: Vec<Spent>,
    /// Breakdown of flushes.
    pub flush: Vec<Spent>,
}

/// A portion of the mean latency.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Spent {
    /// Path of the component.
    pub component: String,
    /// Kind of the component.
    pub kind: &'static str,
    /// Activity.
    pub activity: &'static str,
    /// Time in nanoseconds per request.
    pub mean_ns: f64,
    /// Time as a share of the mean latency.
    pub share: f64,
}

/// Results of one component.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Component {
    /// Path in the scenario.
    pub path: String,
    /// Kind of the component.
    pub kind: &'static str,
    /// Resources of the component. The list is empty if only the components below it are busy.
    pub resources: Vec<Resource>,
    /// Number of servers of the busiest resource, or 0 without resources.
    pub servers: u32,
    /// Busy time of the resources in seconds, by activity.
    pub busy: BTreeMap<&'static str, f64>,
    /// Utilization of the busiest resource, or 0 without resources.
    pub utilization: f64,
    /// Energy in joules by activity. Activities without energy are omitted, except `idle`. Null if not
    /// modeled.
    pub energy_j: Option<BTreeMap<&'static str, f64>>,
    /// Counts of events, by name.
    pub counters: serde_json::Map<String, serde_json::Value>,
    /// Area of the memory cells in square millimeters, or null if unknown.
    pub area_mm2: Option<f64>,
    /// Cost in `cost_basis`, or null without a price.
    pub cost: Option<f64>,
    /// Currency of the cost, e.g. `USD 2023`, or null if not stated.
    pub cost_basis: Option<String>,
    /// Lifetime in days at the write rate of this run, or null if not modeled.
    pub lifetime_days: Option<f64>,
    /// Programs and erases, or null if the medium is not modeled.
    pub wear: Option<Wear>,
    /// Health, or null if the medium does not wear.
    pub health: Option<Health>,
    /// Writes through each reclaim unit handle, in handle order. The list is empty unless there are several
    /// handles.
    pub handles: Vec<Handle>,
    /// Effects of each fault of the scenario, in scenario order. The list is empty without faults.
    pub faults: Vec<Fault>,
    /// Tables that are too long for this document, by name. Each is a Parquet file with this name.
    pub tables: BTreeMap<&'static str, Table>,
}

/// Writes through a reclaim unit handle of a drive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Handle {
    /// Mapping units that the host wrote through the handle.
    pub units_host: u64,
    /// Mapping units of the handle's data that were moved.
    pub units_moved: u64,
    /// Write amplification of the handle, or null without host writes.
    pub write_amplification: Option<f64>,
    /// Number of times that the drive changed the reclaim unit that the handle references (event 81h of
    /// flexible data placement).
    pub implicitly_modified: u64,
    /// Number of changes of the reclaim unit before it was written to capacity (event 0h).
    pub not_fully_written: u64,
}

/// A fault of the scenario, with its effects during the measurement.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Fault {
    /// Path in the scenario.
    pub path: String,
    /// Kind of the component.
    pub kind: &'static str,
    /// Requests with the fault's operations and address range that arrived while the fault was active.
    pub matching: u64,
    /// Matching requests that the fault affected.
    pub touched: u64,
    /// Total latency that the fault added, in seconds.
    pub added_s: f64,
    /// Requests that the fault ended with an error.
    pub errors: u64,
    /// Bytes of the requests that ended with an error.
    pub reported_bytes: u64,
    /// Silently corrupted bytes.
    pub silent_bytes: u64,
}

/// A resource: equal servers with one queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Resource {
    /// Name of the resource.
    pub name: &'static str,
    /// Number of requests, or of parts of requests, served in parallel.
    pub servers: u32,
    /// Busy time of the servers in seconds, by activity.
    pub busy: BTreeMap<&'static str, f64>,
    /// Utilization: busy time divided by the number of servers and by `drained_s`.
    pub utilization: f64,
}

/// Notes of the workload about its input.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkloadNotes {
    /// Kind of the component.
    pub kind: &'static str,
    /// Requests generated for the driver in batches. If a run ended early, fewer were served.
    pub records: u64,
    /// Number of invalid trace records that were skipped.
    pub bad_records: u64,
    /// Unit of work, e.g. `transactions`, or null if the workload has none.
    pub unit: Option<&'static str>,
    /// Units of work that completed during the measurement, or null if the workload has none.
    pub units: Option<u64>,
    /// Assumptions and notes, as text.
    pub notes: Vec<String>,
}

impl Record {
    /// Returns the record as one JSON document.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a record is plain data")
    }
}
