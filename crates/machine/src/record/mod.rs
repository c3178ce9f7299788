//! The record of a run: everything it found out, as one value that becomes one JSON document.
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
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub scenario: serde_json::Value,
    /// Where each of those values came from.
    pub origins: Vec<ValueOrigin>,
    /// How a steady state was looked for before the run; null where none was.
    pub steadiness: Option<Steadiness>,
    /// Requests, counted.
    pub requests: Requests,
    /// Bytes the host asked for.
    pub bytes: HostBytes,
    /// Time of the host's processors that drivers took per request, in nanoseconds; null where not modeled.
    pub host_cpu_ns: Option<f64>,
    /// From the first measured arrival to the last completion, in seconds.
    pub simulated_s: f64,
    /// From the first measured arrival until nothing is left to do, in seconds: fills of caches and buffered
    /// writes may continue after the last completion. Utilisation, idle energy and lifetime refer to this time.
    pub drained_s: f64,
    /// Served per simulated second.
    pub throughput: Throughput,
    /// Latencies as the host sees them.
    pub latency: Latencies,
    /// What the requests of each tenant measured; empty where the workload does not tell them apart.
    pub tenants: Vec<Tenant>,
    /// Jain's index of the requests per second of the tenants whose rate the stack decides: those in a closed loop, and
    /// those that send more than is served. It is 1 where all are alike, and one over their number where one has all
    /// (Jain, Chiu and Hawe 1984); null where there are fewer than two.
    pub fairness: Option<f64>,
    /// Where the time of a mean request went.
    pub time_spent: TimeSpent,
    /// What each component did, parents before children.
    pub components: Vec<Component>,
    /// Pages programmed per page of host data, over all media; null where none was programmed.
    pub write_amplification: Option<f64>,
    /// Pages cleaners programmed per page of host data, over all media; null where none was programmed.
    pub cleaning_cost: Option<f64>,
    /// Blocks erased, over all media; null where no medium is modeled.
    pub erases: Option<u64>,
    /// Joules by component path; components whose energy is not modeled are absent.
    pub energy_j: BTreeMap<String, f64>,
    /// Paths of the devices whose energy is not modeled, and of energies and powers that others were not given.
    pub energy_unknown: Vec<String>,
    /// Sum of the areas of the components' memory cells, in square millimeters; null if that of none is known.
    pub area_mm2: Option<f64>,
    /// Sum of the components' costs; null if the cost of none is known, or if prices are of several bases.
    pub cost: Option<f64>,
    /// What the cost is counted in, such as `USD 2023`; null where the scenario does not say, or where there are several.
    pub cost_basis: Option<String>,
    /// The sums of costs of the same basis; `not stated` where the scenario does not say.
    pub cost_by_basis: BTreeMap<String, f64>,
    /// Paths of the devices that are not in that sum, because they have no price or a price without a capacity.
    pub cost_unknown: Vec<String>,
    /// Days until the first component is worn out at the rate of this run; null where not modeled.
    pub lifetime_days: Option<f64>,
    /// Paths of the devices that were written to and whose endurance is not known.
    pub lifetime_unknown: Vec<String>,
    /// When the first block or row was worn out; null where the run did not ask for that.
    pub worn_out: Option<WornOut>,
    /// How the trace was split, and what its parts were; null where one run read it all.
    pub split: Option<Split>,
    /// What the workload has to say about its input.
    pub workload: WorkloadNotes,
    /// What keeps figures of this record from being taken at their face.
    pub findings: Vec<Caution>,
}

/// What keeps a figure of a record from being taken at its face.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Caution {
    /// `saturated`, `not_steady`, `few_writes`, `unwritten_reads`, `failed_requests`, `more_than_share`, `dependent`, `not_narrow`, `longer_than_measured`, `split`, `prices_differ`, `cost_incomplete`, `energy_incomplete` or `lifetime_incomplete`.
    pub kind: &'static str,
    /// What it is, in words.
    pub text: String,
    /// Paths of the components or settings it is about.
    pub paths: Vec<String>,
}

/// How a trace was split over copies of the stack. The record is that of all copies together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Split {
    /// `volume` or `hash`.
    pub by: &'static str,
    /// Settings by path that every copy has a share of.
    pub shared: Vec<String>,
    /// What each of them did with its part of the trace.
    pub copies: Vec<SplitCopy>,
}

/// One copy of the stack, with its part of a trace that was split.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SplitCopy {
    /// Requests that were measured in it.
    pub requests: u64,
    /// From its first measured arrival until nothing was left to do, in seconds.
    pub drained_s: f64,
    /// Mean latency of its reads and writes together, in nanoseconds; null where it has none.
    pub mean_ns: Option<f64>,
}

/// When the first block or row was programmed more often than it is made for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WornOut {
    /// Seconds of writing.
    pub seconds: f64,
    /// Writes in all, those before the run included; null where it happened within the run.
    pub writes: Option<u64>,
    /// Whether it happened within the run. If not, `seconds` are the writes at the rate of the run's.
    pub simulated: bool,
}

/// How far valid data may rise over the windows that have to agree. Writes to data that was never written before cost
/// no garbage collection, so write amplification can be even while they continue; where a share of the data is written
/// for the first time once in that many windows, this leaves as large a share of it unwritten.
pub(crate) const GROWTH_MAX: f64 = 0.001;

/// How a steady state was looked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Value)]
pub struct Steadiness {
    /// Whether write amplification and the amount of valid data came to be steady by the scenario's criterion.
    pub reached: bool,
    /// Host data of one window, in bytes.
    pub window_bytes: u64,
    /// Writes of all windows.
    pub writes: u64,
    /// Write amplification of each window; null where nothing was programmed for the host.
    pub write_amplification: Vec<Option<f64>>,
    /// Pages of valid data at the end of each window; null where the device does not count them.
    pub valid_pages: Vec<Option<u64>>,
    /// How far valid data rose over the last windows above all it had been before, as a share of that; null where it is
    /// not counted, or before there were enough windows.
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
    /// Answered with a device error: they are in no rate and in no latency.
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

/// Rates over the whole run, of the requests that did not fail.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Throughput {
    /// Requests per second.
    pub iops: f64,
    /// Bytes read and written per second.
    pub bytes_per_s: f64,
    /// Whole units of the workload per second; null where it counts in requests alone.
    pub units_per_s: Option<f64>,
}

/// Latencies by kind of request, of those that did not fail; null where there was none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latencies {
    /// Of reads.
    pub read: Option<Latency>,
    /// Of writes.
    pub write: Option<Latency>,
    /// Of flushes: what waits for `fsync`.
    pub flush: Option<Latency>,
}

/// What one tenant asked for, and how it was served.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// Requests that completed.
    pub requests: u64,
    /// Of them answered with a device error.
    pub errors: u64,
    /// Bytes it asked for.
    pub bytes: HostBytes,
    /// Rates from the first measured arrival of any tenant to its own last completion.
    pub throughput: Throughput,
    /// Latencies as it sees them.
    pub latency: Latencies,
}

/// A latency distribution in a few numbers, in nanoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latency {
    /// Requests.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Half-width of the mean's 95 % confidence interval, by batch means that a test found independent; null below
    /// 512 requests, and where no batches are.
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

/// Where the time of a mean request went.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimeSpent {
    /// Of reads.
    pub read: Vec<Spent>,
    /// Of writes.
    pub write: Vec<Spent>,
    /// Of flushes.
    pub flush: Vec<Spent>,
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
    /// What it works with; empty where only the components below work.
    pub resources: Vec<Resource>,
    /// Servers of its busiest resource; 0 where it has none.
    pub servers: u32,
    /// Seconds of its resources' time, by activity.
    pub busy: BTreeMap<&'static str, f64>,
    /// That of its busiest resource; 0 where it has none.
    pub utilisation: f64,
    /// Joules by activity that took any, and `idle`; null where not modeled.
    pub energy_j: Option<BTreeMap<&'static str, f64>>,
    /// Counts of events.
    pub counters: serde_json::Map<String, serde_json::Value>,
    /// Area of the cells of its memory, in square millimeters; null where it is not known.
    pub area_mm2: Option<f64>,
    /// What it costs, in `cost_basis`; null where no price is known.
    pub cost: Option<f64>,
    /// What its cost is counted in, such as `USD 2023`; null where the scenario does not say.
    pub cost_basis: Option<String>,
    /// Days until worn out at the rate of this run; null where not modeled.
    pub lifetime_days: Option<f64>,
    /// What was programmed and erased; null where the medium is not modeled.
    pub wear: Option<Wear>,
    /// What it would tell of its health; null where its medium does not wear.
    pub health: Option<Health>,
    /// What came through each placement handle, in their order; empty where it does not have several.
    pub handles: Vec<Handle>,
    /// What each fault did that the scenario gives it, in their order; empty where it has none.
    pub faults: Vec<Fault>,
    /// What is too long for this document, by name: each in the Parquet file of that name.
    pub tables: BTreeMap<&'static str, Table>,
}

/// What came through a placement handle of a drive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Handle {
    /// Mapping units that the host wrote through it.
    pub units_host: u64,
    /// Mapping units of its data that moved.
    pub units_moved: u64,
    /// Programs of both for one of the host; null where it wrote nothing.
    pub write_amplification: Option<f64>,
}

/// A fault that the scenario gives a device, and what it did while it was measured.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Fault {
    /// Its place in the scenario.
    pub path: String,
    /// Its room.
    pub kind: &'static str,
    /// Requests of its operations and address range that came while it was active.
    pub matching: u64,
    /// Of them those that it touched.
    pub touched: u64,
    /// Time that it added to all of them together, in seconds.
    pub added_s: f64,
    /// Requests that it ended with an error.
    pub errors: u64,
    /// Bytes that requests with these errors asked to read or write.
    pub reported_bytes: u64,
    /// Bytes that it made wrong without an error.
    pub silent_bytes: u64,
}

/// Equal servers behind one queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Resource {
    /// What it is.
    pub name: &'static str,
    /// Requests, or parts of requests, it can work on at one time.
    pub servers: u32,
    /// Seconds of its servers' time, by activity.
    pub busy: BTreeMap<&'static str, f64>,
    /// Busy time over servers and `drained_s`.
    pub utilisation: f64,
}

/// What the workload has to say about its input.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkloadNotes {
    /// Its room.
    pub kind: &'static str,
    /// Requests given to the driver, which takes them in batches: where a run ended early, fewer were served.
    pub records: u64,
    /// Records of a trace that could not be read and were left out.
    pub bad_records: u64,
    /// The larger unit it counts its work in, such as `transactions`; null where there is none.
    pub unit: Option<&'static str>,
    /// Whole units of it that ended while it was measured; null where there is none.
    pub units: Option<u64>,
    /// Guesses and remarks, in words.
    pub notes: Vec<String>,
}

impl Record {
    /// The record as one JSON document.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a record is plain data")
    }
}
