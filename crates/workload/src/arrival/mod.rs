//! Arrival of requests: one room per arrival process.

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
    /// Requests arrive at their own times, independent of completions.
    Open,
    /// A serial host, such as a processor that accesses memory: a request is issued when it arrives or when
    /// the previous one completes, whichever is later.
    Serial,
    /// A fixed number of hosts, each of which waits for its request before it issues the next.
    Closed {
        /// Maximum outstanding requests, at least one.
        queue_depth: u32,
        /// Time between a completion and the next request of the same client.
        think: Time,
    },
    /// The workload decides, as its requests complete: it is [`Interactive`](crate::Interactive), and its
    /// actions may depend on the speed of the device.
    CompletionDriven,
}

/// Assigns arrival times to requests.
pub trait Arrival: State + Send {
    /// Assigns times to `requests`, which follow those of the previous call. Times never decrease.
    ///
    /// On entry, requests have their recorded times, or zero.
    fn stamp(&mut self, requests: &mut [Request]) -> Result<(), WorkloadError>;

    /// How the issue of requests is controlled. In a closed loop every arrival time is zero.
    fn pacing(&self) -> Pacing {
        Pacing::Open
    }
}

/// Descriptor data of an arrival process that uses recorded times.
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
    &[closed::ROOM, poisson::ROOM, periodic::ROOM, bursts::ROOM, rhythm::ROOM, recorded::ROOM];

/// The clock of an open arrival process, which rejects arrivals past the maximum time.
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

    /// Records an arrival at `now`, not before the latest one.
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

    /// Error for an arrival past the maximum time.
    #[cold]
    pub(crate) fn too_long(&self) -> WorkloadError {
        WorkloadError::TooLong { path: self.path.clone(), request: self.arrived + 1 }
    }
}
