//! Workloads: who asks storage for what, and when.
//!
//! A [`Workload`] is a lazy sequence of requests. A *pattern* says which addresses are touched and how,
//! an *arrival* process says when, and a trace says both.
//!
//! | module | holds |
//! |---|---|
//! | [`synthetic`] | patterns, and workloads made of one pattern and one arrival process |
//! | [`arrival`] | arrival processes: open loops, closed loops, recorded times |
//! | [`replay`] | workloads that replay a trace |
//! | [`trace`] | recorded requests, in every published format we know |

pub mod arrival;
pub mod error;
pub mod replay;
pub mod synthetic;
pub mod trace;

#[cfg(test)]
mod testing;

pub use arrival::{ARRIVALS, Arrival, ArrivalFamily, Pacing};
pub use error::WorkloadError;
pub use synthetic::{PATTERNS, Pattern, PatternFamily};

use nacre_config::{Families, Family, Problems, Slot, Table};
use nacre_kernel::{Random, Request};
use synthetic::{hot_cold, mix, sequential, uniform, zipf};

/// Who asks: a sequence of block requests.
pub trait Workload: Send {
    /// Appends up to `limit` next requests to `batch`, their arrivals stamped and never decreasing.
    /// Appending none, with a `limit` above zero, means the end.
    ///
    /// How a sequence is cut into batches never changes it. Errors are the user's: a bad trace, times
    /// past what can be simulated.
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError>;

    /// Who decides when a request is issued.
    fn pacing(&self) -> Pacing;

    /// How many requests there will be in all, if known.
    fn expected(&self) -> Option<u64>;

    /// The first byte past all that it may ever touch, where that is known before it runs. A trace knows it
    /// when it has been read.
    fn reach(&self) -> Option<u64>;

    /// What the user should know about the input, once it has been read.
    fn notes(&self) -> Notes;
}

/// What a workload has to say about itself in the record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes {
    /// Its room.
    pub kind: &'static str,
    /// Requests given to the driver so far. It takes them in batches: where a run ends early, fewer were
    /// served.
    pub records: u64,
    /// Records of the input that could not be read and were left out.
    pub bad_records: u64,
    /// Guesses and remarks, in words.
    pub notes: Vec<String>,
}

/// The family of everything that asks.
#[derive(Debug)]
pub struct WorkloadFamily;

impl Family for WorkloadFamily {
    const NAME: &'static str = "workload";
    type Built = Box<dyn Workload>;
    type Context<'a> = dyn WorkloadBuilder + 'a;
}

/// What a workload may ask for while it is built.
pub trait WorkloadBuilder {
    /// All rooms, to read a slot's configuration with.
    fn families(&self) -> &dyn Families;

    /// The random stream called `name`; begin it with the slot's path, so that every part has its own.
    fn random(&self, name: &str) -> Random;

    /// Builds the arrival process in `slot`.
    fn arrival(&mut self, slot: &Slot<ArrivalFamily>) -> Result<Box<dyn Arrival>, Problems>;

    /// Builds the pattern in `slot`.
    fn pattern(&mut self, slot: &Slot<PatternFamily>) -> Result<Box<dyn Pattern>, Problems>;

    /// Opens the trace in `files`: paths relative to the scenario, or names of shipped traces. `path` is the
    /// place in the scenario that names them, for problems.
    fn open_trace(
        &mut self,
        path: &str,
        files: &[String],
        options: &trace::Options,
    ) -> Result<Box<dyn trace::TraceReader>, Problems>;
}

/// The workloads, in the order users see them.
pub static WORKLOADS: &Table<WorkloadFamily> = &[
    uniform::WORKLOAD,
    zipf::WORKLOAD,
    hot_cold::WORKLOAD,
    sequential::WORKLOAD,
    mix::WORKLOAD,
    replay::TRACE,
];
