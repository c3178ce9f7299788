//! One tenant: its workload, the time of its next request, and its address range.

use super::TenantConfig;
use crate::{Clock, Issued, Workload, WorkloadError};
use nacre_config::priority::Priority;
use nacre_kernel::state::State;
use nacre_kernel::{Request, Status, Time};
use std::collections::VecDeque;
use std::ops::Range;

/// Number of requests read at a time from a workload without completion events.
const AHEAD: usize = 256;

/// Source of a tenant's requests, including requests that were read but not issued.
#[derive(State)]
enum Source {
    /// A workload without completion events.
    Paced {
        clock: Clock,
        /// Requests that were read but not issued, in reverse order.
        #[state(varies)]
        read: Vec<Request>,
        /// Whether the workload has ended.
        has_ended: bool,
    },
    /// A workload with completion events.
    Interactive {
        /// Time of the next action of the workload.
        next: Time,
        /// Requests that wait for a slot, with their arrival times.
        #[state(varies)]
        waiting: VecDeque<Issued>,
    },
}

/// A host with its workload and its address range.
#[derive(State)]
pub(super) struct Tenant {
    #[state(skip = "from the configuration")]
    pub(super) name: String,
    #[state(skip = "from the configuration")]
    pub(super) weight: u32,
    #[state(skip = "from the configuration")]
    pub(super) priority: Priority,
    /// Scenario path of the tenant's capacity.
    #[state(skip = "from the configuration")]
    path: String,
    /// First byte of the tenant's address range.
    #[state(skip = "from the configuration")]
    start: u64,
    /// Size of the tenant's address range in bytes.
    #[state(skip = "from the configuration")]
    capacity: u64,
    pub(super) workload: Box<dyn Workload>,
    source: Source,
    /// Whether the workload has no more writes for preconditioning. The flag avoids repeated searches, which
    /// may read millions of requests.
    is_writeless: bool,
    /// Number of requests issued.
    pub(super) given: u64,
}

impl Source {
    /// Creates the state of a workload that has not started.
    fn of(workload: &mut dyn Workload) -> Source {
        let pacing = workload.pacing();
        match workload.interactive() {
            Some(interactive) => {
                Source::Interactive { next: interactive.next_event(), waiting: VecDeque::new() }
            }
            None => {
                let clock = Clock::new(pacing, Time::ZERO);
                Source::Paced { clock, read: Vec::new(), has_ended: false }
            }
        }
    }
}

impl Tenant {
    /// Creates the tenant at `path`. Its address range starts at `start` and has `capacity` bytes.
    pub(super) fn new(
        config: &TenantConfig,
        path: &str,
        mut workload: Box<dyn Workload>,
        [start, capacity]: [u64; 2],
    ) -> Tenant {
        Tenant {
            name: config.name.clone(),
            weight: config.weight,
            priority: config.priority,
            path: format!("{path}.capacity"),
            start,
            capacity,
            source: Source::of(&mut *workload),
            workload,
            is_writeless: false,
            given: 0,
        }
    }

    /// Time of the workload's next action that does not need a slot.
    pub(super) fn next_event(&self) -> Time {
        match &self.source {
            Source::Paced { .. } => Time::MAX,
            Source::Interactive { next, .. } => *next,
        }
    }

    /// Arrival time of the next request if no request completes earlier. [`Time::MAX`] if there is no such
    /// request.
    pub(super) fn due(&self) -> Time {
        match &self.source {
            Source::Paced { clock, read, has_ended } => match read.last() {
                Some(request) => clock.due(request),
                // The first step reads the first request.
                None if !has_ended => Time::ZERO,
                None => Time::MAX,
            },
            Source::Interactive { waiting, .. } => {
                waiting.front().map_or(Time::MAX, |issued| issued.request.arrival)
            }
        }
    }

    /// Performs the actions of the workload that are due at `now`, and reads its next requests.
    pub(super) fn advance(&mut self, now: Time) -> Result<(), WorkloadError> {
        match &mut self.source {
            Source::Paced { read, has_ended, .. } => {
                if read.is_empty() && !*has_ended {
                    self.workload.fill(read, AHEAD)?;
                    read.reverse();
                    *has_ended = read.is_empty();
                }
            }
            Source::Interactive { next, waiting } => {
                if *next <= now {
                    let workload = self.workload.interactive().expect("it is notified of completions");
                    let mut issued = Vec::new();
                    workload.step(now, &mut issued)?;
                    *next = workload.next_event();
                    waiting.extend(issued);
                }
            }
        }
        Ok(())
    }

    /// Issues the next request at `now`. Returns it with its global address, its tag, and its waiting time.
    pub(super) fn issue(&mut self, now: Time) -> Result<Issued, WorkloadError> {
        let issued = match &mut self.source {
            Source::Paced { clock, read, .. } => {
                let request = read.pop().expect("its next request is due");
                Issued { request, tag: 0, waited: now - clock.issue(&request) }
            }
            Source::Interactive { waiting, .. } => {
                let Issued { request, tag, waited } = waiting.pop_front().expect("its next request is due");
                Issued { request, tag, waited: waited + (now - request.arrival) }
            }
        };
        self.given += 1;
        let request = self.place(Request { arrival: now, ..issued.request })?;
        self.advance(now)?;
        Ok(Issued { request, ..issued })
    }

    /// Handles the completion of request `tag` at `now`.
    pub(super) fn complete(&mut self, now: Time, tag: u32, status: Status) {
        match &mut self.source {
            Source::Paced { clock, .. } => clock.complete(now),
            Source::Interactive { next, .. } => {
                let workload = self.workload.interactive().expect("it is notified of completions");
                workload.complete(now, tag, status);
                *next = workload.next_event();
            }
        }
    }

    /// Appends up to `limit` writes of the tenant.
    pub(super) fn fill_writes(
        &mut self,
        batch: &mut Vec<Request>,
        limit: usize,
    ) -> Result<(), WorkloadError> {
        let from = batch.len();
        if !self.is_writeless {
            self.workload.fill_writes(batch, limit)?;
            self.is_writeless = batch.len() == from;
        }
        for request in &mut batch[from..] {
            self.given += 1;
            *request = self.place(*request)?;
        }
        Ok(())
    }

    /// End of the tenant's address range.
    pub(super) fn end(&self) -> u64 {
        self.start.saturating_add(self.capacity)
    }

    /// Converts a range of the tenant's addresses to global addresses.
    pub(super) fn placed(&self, own: Range<u64>) -> Range<u64> {
        self.start.saturating_add(own.start)..self.start.saturating_add(own.end)
    }

    fn place(&self, request: Request) -> Result<Request, WorkloadError> {
        let end = request.address.saturating_add(u64::from(request.bytes));
        if end > self.capacity {
            let (path, ends) = (self.path.clone(), [end, self.capacity]);
            return Err(WorkloadError::PastTenant { path, request: self.given, ends });
        }
        Ok(Request { address: self.start + request.address, ..request })
    }
}
