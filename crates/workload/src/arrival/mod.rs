//! When requests arrive: one room per arrival process.

pub mod bursts;
pub mod closed;
pub mod periodic;
pub mod poisson;
pub mod recorded;
pub mod rhythm;

use crate::WorkloadBuilder;
use crate::error::WorkloadError;
use nacre_config::{Family, Table};
use nacre_kernel::state::State;
use nacre_kernel::{Request, Time};

/// Source of the issue time of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Requests arrive at their own times, whether earlier ones are done or not.
    Open,
    /// One asker, such as a processor that accesses memory: a request is issued when it arrives or when the one
    /// before is done, whichever is later.
    Serial,
    /// A fixed number of askers, each of whom waits for its request before it asks again.
    Closed {
        /// Requests outstanding at once, at least one.
        queue_depth: u32,
        /// Time between a completion and the next request of the same client.
        think: Time,
    },
    /// The workload, as its requests complete: it is [`Interactive`](crate::Interactive), so what it does may depend on
    /// how fast the device is.
    CompletionDriven,
}

/// Stamps requests with the times at which they arrive.
pub trait Arrival: State + Send {
    /// Stamps `requests`, which follow those of the call before. Times never decrease.
    ///
    /// What the requests carry on entry are the times they were recorded at, or zero.
    fn stamp(&mut self, requests: &mut [Request]) -> Result<(), WorkloadError>;

    /// Who decides when a request is issued. In a closed loop every arrival is stamped zero.
    fn pacing(&self) -> Pacing {
        Pacing::Open
    }
}

/// What the descriptor of an arrival process needs that follows the times of a recording.
pub(crate) const RECORDED_TIMES: &str = "recorded times";

/// The family of arrival processes.
#[derive(Debug)]
pub struct ArrivalFamily;

impl Family for ArrivalFamily {
    const NAME: &'static str = "arrival";
    type Built = Box<dyn Arrival>;
    type Context<'a> = dyn WorkloadBuilder + 'a;
}

/// The arrival processes, in the order users see them.
pub static ARRIVALS: &Table<ArrivalFamily> =
    &[closed::ROOM, poisson::ROOM, periodic::ROOM, bursts::ROOM, rhythm::ROOM, recorded::ROOM];

/// The clock of an open arrival process: where it is, and how it refuses to pass the end of time.
#[derive(Clone, Debug, State)]
pub(crate) struct ArrivalClock {
    #[state(skip = "from the configuration")]
    path: String,
    now: Time,
    arrived: u64,
}

impl ArrivalClock {
    /// The clock of the process at `path`, at the start of time.
    pub(crate) fn new(path: &str) -> ArrivalClock {
        ArrivalClock { path: path.into(), now: Time::ZERO, arrived: 0 }
    }

    /// A request arrives `gap` after the latest.
    #[inline]
    pub(crate) fn after(&mut self, gap: Time) -> Result<Time, WorkloadError> {
        match self.now.checked_add(gap) {
            Some(now) => self.at(now),
            None => Err(self.too_long()),
        }
    }

    /// A request arrives at `now`, not before the latest.
    #[inline]
    pub(crate) fn at(&mut self, now: Time) -> Result<Time, WorkloadError> {
        debug_assert!(now >= self.now, "arrivals ran backwards");
        if now == Time::MAX {
            return Err(self.too_long());
        }
        self.now = now;
        self.arrived += 1;
        Ok(now)
    }

    /// The next request would arrive past the end of time.
    #[cold]
    pub(crate) fn too_long(&self) -> WorkloadError {
        WorkloadError::TooLong { path: self.path.clone(), request: self.arrived + 1 }
    }
}
