//! Workloads: who asks storage for what, and when.
//!
//! A [`Workload`] is a lazy sequence of requests. A *pattern* says which addresses are touched and how,
//! an *arrival* process says when, and a trace says both.
//!
//! | module | holds |
//! |---|---|
//! | [`synthetic`] | patterns, and workloads made of one pattern and one arrival process |
//! | [`arrival`] | arrival processes: open loops, closed loops, recorded times |
//! | [`tpca`] | TPC-A transactions in a linear memory |
//! | [`kv`] | a transactional key-value store |
//! | [`dbt2`] | the transactions of TPC-C as page requests |
//! | [`specweb`] | the files of a web server |
//! | [`server`] | clients that ask again when they have their answers, and processors they share |
//! | [`replay`] | workloads that replay a trace |
//! | [`tenants`] | several workloads at once, each with its own addresses and times |
//! | [`trace`] | recorded requests, in every published format we know |

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
    /// Appends up to `limit` next requests to `batch`, their arrivals stamped and never decreasing.
    /// Appending none, with a `limit` above zero, means the end.
    ///
    /// Each request of an interactive workload completes at once here. How a sequence is cut into batches never changes
    /// it. Errors are the user's: a bad trace, times
    /// past what can be simulated.
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError>;

    /// Appends up to `limit` of the writes it would make next, without times. Appending none, with a `limit`
    /// above zero, means that no more are to come.
    ///
    /// For preconditioning: what is drawn at random has no end here, whatever its number of requests, and
    /// one workload gives either requests or writes alone.
    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        keep_writes(batch, limit, |batch| self.fill(batch, limit))
    }

    /// The same writes as of [`Workload::fill_writes`], at most `limit` of them: those of one address in sequence
    /// may come as one. Appends no more than `bursts` has room for, and one at least.
    fn fill_bursts(&mut self, bursts: &mut Vec<Burst>, limit: u64) -> Result<(), WorkloadError> {
        single_writes(bursts, limit, |batch, count| self.fill_writes(batch, count))
    }

    /// How many whole units of work, if it has any, ended within the first `requests` requests it gave; of an interactive
    /// workload, those that have ended by now.
    ///
    /// Asked for counts that never decrease and lie within the latest batch, its ends included.
    fn units(&self, _requests: u64) -> Option<Units> {
        None
    }

    /// Those who ask, where they are distinguished: the volume of a request is the place of its tenant.
    fn tenants(&self) -> Vec<Asker> {
        Vec::new()
    }

    /// Who decides when a request is issued.
    fn pacing(&self) -> Pacing;

    /// What it does as its requests complete, where its [`Workload::pacing`] is [`Pacing::CompletionDriven`].
    fn interactive(&mut self) -> Option<&mut dyn Interactive> {
        None
    }

    /// How many requests there will be in all, if known; `u64::MAX` where it never ends by itself.
    fn expected(&self) -> Option<u64>;

    /// The first byte past all that it may ever touch, where that is known before it runs. A trace knows it
    /// when it has been read.
    fn reach(&self) -> Option<u64>;

    /// The bytes that it may ever touch, where they are known before it runs: all up to [`Workload::reach`], unless it
    /// leaves some of them out.
    fn footprint(&self) -> Option<Ranges> {
        let mut bytes = Ranges::default();
        bytes.insert(0..self.reach()?);
        Some(bytes)
    }

    /// What the user should know about the input, once it has been read.
    fn notes(&self) -> Notes;
}

/// Writes that `fill` gives, each as a burst of one.
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

/// Requests a workload may give without a write among them until it is taken to write no more.
const WRITELESS_MAX: usize = 1 << 22;

/// Appends the writes among the requests that `fill` appends, call by call, until there is one.
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

/// Work counted in larger units than requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// What they are, in the plural: `"transactions"`.
    pub name: &'static str,
    /// How many are done.
    pub done: u64,
}

/// One of several tenants who ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Its name.
    pub name: String,
    /// Who decides when its requests are issued.
    pub pacing: Pacing,
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

    /// The random stream called `name` that says where things lie, such as which blocks are hot. It is the
    /// same for the requests that are measured and for the writes that precondition a device.
    fn placement(&self, name: &str) -> Random {
        self.random(name)
    }

    /// Builds the arrival process in `slot`.
    fn arrival(&mut self, slot: &Slot<ArrivalFamily>) -> Result<Box<dyn Arrival>, Problems>;

    /// Builds the workload in `slot`, which is a part of another one.
    fn workload(&mut self, slot: &Slot<WorkloadFamily>) -> Result<Box<dyn Workload>, Problems>;

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
