//! Arrival processes. Each module has one process.

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

/// Source of the issue times of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Requests arrive at given times, independent of completions.
    Open,
    /// A serial host, e.g. a processor that accesses memory. A request is issued when it arrives or when
    /// the previous request completes, whichever is later.
    Serial,
    /// A fixed number of clients. Each client waits for the completion of its request before it issues the
    /// next request.
    Closed {
        /// Maximum number of outstanding requests, at least one.
        queue_depth: u32,
        /// Time between a completion and the next request of the same client.
        think: Time,
    },
    /// The workload determines issue times from completions. It implements
    /// [`Interactive`](crate::Interactive), and its requests may depend on the speed of the device.
    CompletionDriven,
}

/// Assigns arrival times to requests.
pub trait Arrival: State + Send {
    /// Assigns arrival times to `requests`, which follow the requests of the previous call. Times never
    /// decrease.
    ///
    /// On entry, requests have their recorded times, or zero if there are none.
    fn stamp(&mut self, requests: &mut [Request]) -> Result<(), WorkloadError>;

    /// Source of issue times. In a closed loop, every arrival time is zero.
    fn pacing(&self) -> Pacing {
        Pacing::Open
    }
}

/// Name of the requirement in the descriptor of an arrival process that needs the recorded times of a
/// trace.
pub(crate) const RECORDED_TIMES: &str = "recorded times";

/// The family of arrival processes.
#[derive(Debug)]
pub struct ArrivalFamily;

impl Family for ArrivalFamily {
    const NAME: &'static str = "arrival";
    type Built = Box<dyn Arrival>;
    type Context<'a> = dyn WorkloadBuilder + 'a;
}

/// The arrival processes, in documentation order.
pub static ARRIVALS: &Table<ArrivalFamily> =
    &[closed::MODEL, poisson::MODEL, periodic::MODEL, bursts::MODEL, rhythm::MODEL, recorded::MODEL];

/// Clock of an open arrival process. It rejects arrivals after the maximum time.
#[derive(Clone, Debug, State)]
pub(crate) struct ArrivalClock {
    #[state(skip = "from the configuration")]
    path: String,
    now: Time,
    arrived: u64,
}

impl ArrivalClock {
    /// Creates the clock of the process at `path`, at time zero.
    pub(crate) fn new(path: &str) -> ArrivalClock {
        ArrivalClock { path: path.into(), now: Time::ZERO, arrived: 0 }
    }

    /// Records an arrival `gap` after the latest arrival. Returns the time of the new arrival.
    #[inline]
    pub(crate) fn after(&mut self, gap: Time) -> Result<Time, WorkloadError> {
        match self.now.checked_add(gap) {
            Some(now) => self.at(now),
            None => Err(self.too_long()),
        }
    }

    /// Records an arrival at `now`, which must not precede the latest arrival.
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

    /// Returns the error for an arrival after the maximum time.
    #[cold]
    pub(crate) fn too_long(&self) -> WorkloadError {
        WorkloadError::TooLong { path: self.path.clone(), request: self.arrived + 1 }
    }
}
