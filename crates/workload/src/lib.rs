//! Workloads: generators of storage requests and their arrival times.
//!
//! A [`Workload`] is a lazy sequence of requests. A *pattern* determines addresses and operations, and an
//! *arrival* process determines times. A trace provides both.
//!
//! | module | content |
//! |---|---|
//! | [`synthetic`] | patterns, and workloads that combine a pattern with an arrival process |
//! | [`arrival`] | arrival processes: open loops, closed loops, and recorded times |
//! | [`tpca`] | TPC-A transactions in a linear memory |
//! | [`kv`] | a transactional key-value store |
//! | [`dbt2`] | the transactions of TPC-C as page requests |
//! | [`specweb`] | the files of a web server |
//! | [`server`] | clients that continue after each reply, and the processors that they share |
//! | [`replay`] | workloads that replay a trace |
//! | [`tenants`] | several concurrent workloads with separate addresses and times |
//! | [`trace`] | recorded requests in published formats |

pub mod arrival;
mod clock;
pub mod dbt2;
pub mod error;
mod interactive;
pub mod kv;
pub mod replay;
pub mod server;
pub mod specweb;
pub mod synthetic;
pub mod tenants;
pub mod tpca;
pub mod trace;
mod turns;

#[cfg(test)]
mod testing;

pub use arrival::{ARRIVALS, Arrival, ArrivalFamily, Pacing};
pub use clock::Clock;
pub use error::WorkloadError;
pub use interactive::{Interactive, Issued};
pub use synthetic::{PATTERNS, Pattern, PatternFamily};

use nacre_config::{Families, Family, Problems, Slot, Table};
use nacre_kernel::state::State;
use nacre_kernel::{Burst, Op, Random, Ranges, Request, Time};
use synthetic::{birthday, exponential, hammer, hot_cold, log, mix, sequential, shaped, uniform, zipf};

/// A sequence of block requests.
pub trait Workload: State + Send {
    /// Appends up to `limit` requests to `batch`, with arrival times that never decrease. If no request is
    /// appended although `limit` is positive, the workload has ended.
    ///
    /// This function treats each request of an interactive workload as complete when it is issued. The batch
    /// size never affects the sequence. All errors are user errors: an invalid trace, or times after the
    /// maximum.
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError>;

    /// Appends up to `limit` of the next writes, without times. If no write is appended although `limit` is
    /// positive, the workload has no more writes.
    ///
    /// This function is used for preconditioning. Random workloads then never end, regardless of their number
    /// of requests. A workload object must be used either for requests or for writes, not for both.
    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        keep_writes(batch, limit, |batch| self.fill(batch, limit))
    }

    /// Like [`Workload::fill_writes`] for at most `limit` writes, but consecutive writes to one address may
    /// be merged into a burst. Appends at least one burst unless the workload has no more writes, and more
    /// bursts only while `bursts` has capacity.
    fn fill_bursts(&mut self, bursts: &mut Vec<Burst>, limit: u64) -> Result<(), WorkloadError> {
        single_writes(bursts, limit, |batch, count| self.fill_writes(batch, count))
    }

    /// Number of work units, e.g. transactions, that ended within the first `requests` requests. For an
    /// interactive workload, the number of units that have ended so far. `None` if the work is measured
    /// only in requests.
    ///
    /// `requests` never decreases from call to call. It is at most the number of requests returned, and at
    /// least the number returned before the latest batch.
    fn units(&self, _requests: u64) -> Option<Units> {
        None
    }

    /// Lists the tenants if the workload distinguishes them. The volume of a request is the index of its
    /// tenant.
    fn tenants(&self) -> Vec<Asker> {
        Vec::new()
    }

    /// Source of issue times.
    fn pacing(&self) -> Pacing;

    /// Returns the interface for completions if [`Workload::pacing`] is [`Pacing::CompletionDriven`], and
    /// `None` otherwise.
    fn interactive(&mut self) -> Option<&mut dyn Interactive> {
        None
    }

    /// Total number of requests, if known. `u64::MAX` means that the workload never ends.
    fn expected(&self) -> Option<u64>;

    /// End of the address range that the workload may access, if known in advance. For a trace, the end is
    /// known after the trace was read.
    fn reach(&self) -> Option<u64>;

    /// Addresses that the workload may access, if known in advance. By default, these are all addresses below
    /// [`Workload::reach`].
    fn footprint(&self) -> Option<Ranges> {
        let mut bytes = Ranges::default();
        bytes.insert(0..self.reach()?);
        Some(bytes)
    }

    /// Upper bound of the number of units that one request accesses, if known. A unit has `unit` bytes, and
    /// its address is a multiple of `unit`.
    fn units_per_request(&self, _unit: u64) -> Option<u64> {
        None
    }

    /// Notes on the input for the user. They are complete after the input has been read.
    fn notes(&self) -> Notes;
}

/// Appends the writes from `fill` as bursts with one write each.
pub(crate) fn single_writes(
    bursts: &mut Vec<Burst>,
    limit: u64,
    fill: impl FnOnce(&mut Vec<Request>, usize) -> Result<(), WorkloadError>,
) -> Result<(), WorkloadError> {
    let room = (bursts.capacity() - bursts.len()).max(1);
    let mut batch = Vec::new();
    fill(&mut batch, usize::try_from(limit).map_or(room, |limit| limit.min(room)))?;
    bursts.extend(batch.into_iter().map(|request| Burst { request, times: 1 }));
    Ok(())
}

/// Number of requests without a write after which a workload is assumed to have no more writes.
const WRITELESS_MAX: usize = 1 << 22;

/// Calls `fill` until it returns a write or the workload is assumed to have no more writes. Appends all
/// returned writes to `batch`.
pub(crate) fn keep_writes(
    batch: &mut Vec<Request>,
    limit: usize,
    mut fill: impl FnMut(&mut Vec<Request>) -> Result<(), WorkloadError>,
) -> Result<(), WorkloadError> {
    let from = batch.len();
    let (mut kept, mut seen) = (from, 0);
    while kept == from && limit > 0 && seen < WRITELESS_MAX {
        fill(batch)?;
        if batch.len() == from {
            return Ok(());
        }
        seen += batch.len() - from;
        for place in from..batch.len() {
            if batch[place].op == Op::Write {
                batch[kept] = Request { arrival: Time::ZERO, ..batch[place] };
                kept += 1;
            }
        }
        batch.truncate(kept);
    }
    Ok(())
}

/// Completed work in units that are larger than requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Name of the units in the plural, e.g. `"transactions"`.
    pub name: &'static str,
    /// Number of completed units.
    pub done: u64,
}

/// One of several tenants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Name of the tenant.
    pub name: String,
    /// Source of issue times of the tenant's requests.
    pub pacing: Pacing,
}

/// Information about a workload for the record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes {
    /// Name of the workload model.
    pub kind: &'static str,
    /// Number of requests that the driver has fetched so far. The driver fetches requests in batches, so
    /// fewer requests were served if a run ended early.
    pub records: u64,
    /// Number of unreadable input records that were skipped.
    pub bad_records: u64,
    /// Guesses and notes for the user, as text.
    pub notes: Vec<String>,
}

/// The family of workloads.
#[derive(Debug)]
pub struct WorkloadFamily;

impl Family for WorkloadFamily {
    const NAME: &'static str = "workload";
    type Built = Box<dyn Workload>;
    type Context<'a> = dyn WorkloadBuilder + 'a;
}

/// Context for building a workload.
pub trait WorkloadBuilder {
    /// All component families, needed to read the configuration of a slot.
    fn families(&self) -> &dyn Families;

    /// Returns the random stream `name`. Names start with the path of the slot, so that every component has
    /// a separate stream.
    fn random(&self, name: &str) -> Random;

    /// Returns the random stream `name` for locations, e.g. of hot blocks. Measured requests and
    /// preconditioning writes use the same stream.
    fn placement(&self, name: &str) -> Random {
        self.random(name)
    }

    /// Builds the arrival process in `slot`.
    fn arrival(&mut self, slot: &Slot<ArrivalFamily>) -> Result<Box<dyn Arrival>, Problems>;

    /// Builds the workload in `slot` as a part of another workload.
    fn workload(&mut self, slot: &Slot<WorkloadFamily>) -> Result<Box<dyn Workload>, Problems>;

    /// Builds the pattern in `slot`.
    fn pattern(&mut self, slot: &Slot<PatternFamily>) -> Result<Box<dyn Pattern>, Problems>;

    /// Opens the trace in `files`, which are paths relative to the scenario or names of built-in traces.
    /// Error messages name the setting `path`.
    fn open_trace(
        &mut self,
        path: &str,
        files: &[String],
        options: &trace::Options,
    ) -> Result<Box<dyn trace::TraceReader>, Problems>;
}

/// The workloads, in documentation order.
pub static WORKLOADS: &Table<WorkloadFamily> = &[
    uniform::WORKLOAD,
    zipf::WORKLOAD,
    exponential::WORKLOAD,
    hot_cold::WORKLOAD,
    sequential::WORKLOAD,
    log::WORKLOAD,
    hammer::WORKLOAD,
    birthday::WORKLOAD,
    mix::WORKLOAD,
    shaped::WORKLOAD,
    tpca::MODEL,
    kv::MODEL,
    dbt2::MODEL,
    specweb::MODEL,
    replay::TRACE,
    tenants::MODEL,
];
