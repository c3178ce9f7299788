//! Workloads: generators of storage requests and their times.
//!
//! A [`Workload`] is a lazy sequence of requests. A *pattern* determines addresses and operations, an
//! *arrival* process determines times, and a trace has both.
//!
//! | module | content |
//! |---|---|
//! | [`synthetic`] | patterns, and workloads made of one pattern and one arrival process |
//! | [`arrival`] | arrival processes: open loops, closed loops, recorded times |
//! | [`tpca`] | TPC-A transactions in a linear memory |
//! | [`kv`] | a transactional key-value store |
//! | [`dbt2`] | the transactions of TPC-C as page requests |
//! | [`specweb`] | the files of a web server |
//! | [`server`] | clients that continue after each reply, and their shared processors |
//! | [`replay`] | workloads that replay a trace |
//! | [`tenants`] | several workloads at once, each with its own addresses and times |
//! | [`trace`] | recorded requests, in published formats |

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
    /// Appends up to `limit` next requests to `batch`, with arrival times that never decrease. Appending
    /// none, for a positive `limit`, means the end.
    ///
    /// Each request of an interactive workload completes at once here. The division into batches never
    /// changes the sequence. Errors are user errors: a bad trace, or times past the maximum.
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError>;

    /// Appends up to `limit` of its next writes, without times. Appending none, for a positive `limit`, means
    /// the end.
    ///
    /// For preconditioning: random workloads never end here, whatever their number of requests, and one
    /// workload object returns either requests or writes only.
    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        keep_writes(batch, limit, |batch| self.fill(batch, limit))
    }

    /// As [`Workload::fill_writes`], with at most `limit` writes: consecutive writes to one address may be
    /// merged into a burst. Appends at most as many as `bursts` has space for, and at least one.
    fn fill_bursts(&mut self, bursts: &mut Vec<Burst>, limit: u64) -> Result<(), WorkloadError> {
        single_writes(bursts, limit, |batch, count| self.fill_writes(batch, count))
    }

    /// Number of work units, such as transactions, that ended within its first `requests` requests; for an
    /// interactive workload, those ended by now.
    ///
    /// Called with counts that never decrease and are within the latest batch, inclusive.
    fn units(&self, _requests: u64) -> Option<Units> {
        None
    }

    /// The tenants, if distinguished: the volume of a request is the index of its tenant.
    fn tenants(&self) -> Vec<Asker> {
        Vec::new()
    }

    /// How the issue of requests is controlled.
    fn pacing(&self) -> Pacing;

    /// Its interface for completions, if its [`Workload::pacing`] is [`Pacing::CompletionDriven`].
    fn interactive(&mut self) -> Option<&mut dyn Interactive> {
        None
    }

    /// Total number of requests, if known; `u64::MAX` if it never ends by itself.
    fn expected(&self) -> Option<u64>;

    /// End of the address range that it may access, if known in advance. For a trace, it is known after it
    /// has been read.
    fn reach(&self) -> Option<u64>;

    /// Addresses that it may access, if known in advance: all up to [`Workload::reach`], unless it omits some
    /// of them.
    fn footprint(&self) -> Option<Ranges> {
        let mut bytes = Ranges::default();
        bytes.insert(0..self.reach()?);
        Some(bytes)
    }

    /// Notes on the input for the user, after it has been read.
    fn notes(&self) -> Notes;
}

/// Writes from `fill`, each as a burst of one.
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

/// Appends the writes among the requests of `fill`, in repeated calls until there is one.
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

/// Work in larger units than requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Name of the units, in the plural: `"transactions"`.
    pub name: &'static str,
    /// Number of completed units.
    pub done: u64,
}

/// One of several tenants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Its name.
    pub name: String,
    /// How the issue of its requests is controlled.
    pub pacing: Pacing,
}

/// Information about a workload for the record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes {
    /// Its model.
    pub kind: &'static str,
    /// Requests passed to the driver so far, in batches: if a run ends early, fewer were served.
    pub records: u64,
    /// Records of the input that were unreadable and skipped.
    pub bad_records: u64,
    /// Guesses and notes, as text.
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
    /// All rooms, to read a slot's configuration with.
    fn families(&self) -> &dyn Families;

    /// The random stream with this name; start names with the slot's path, so that every part has its own
    /// stream.
    fn random(&self, name: &str) -> Random;

    /// The random stream with this name for locations, such as of hot blocks. It is the same for measured
    /// requests and for preconditioning writes.
    fn placement(&self, name: &str) -> Random {
        self.random(name)
    }

    /// Builds the arrival process in `slot`.
    fn arrival(&mut self, slot: &Slot<ArrivalFamily>) -> Result<Box<dyn Arrival>, Problems>;

    /// Builds the workload in `slot`, a part of another one.
    fn workload(&mut self, slot: &Slot<WorkloadFamily>) -> Result<Box<dyn Workload>, Problems>;

    /// Builds the pattern in `slot`.
    fn pattern(&mut self, slot: &Slot<PatternFamily>) -> Result<Box<dyn Pattern>, Problems>;

    /// Opens the trace in `files`: paths relative to the scenario, or names of built-in traces. `path` is the
    /// setting, for errors.
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
    tpca::ROOM,
    kv::ROOM,
    dbt2::ROOM,
    specweb::ROOM,
    replay::TRACE,
    tenants::ROOM,
];
