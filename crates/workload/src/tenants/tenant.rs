//! One tenant: its workload, when its next request comes, and where its addresses lie.

use super::TenantConfig;
use crate::{Clock, Pacing, Workload, WorkloadError};
use nacre_kernel::state::State;
use nacre_kernel::{Request, Time};

/// Requests that are asked for at a time, where a workload is not told of completions.
const AHEAD: usize = 256;

/// A host with a workload of its own.
#[derive(State)]
pub(super) struct Tenant {
    #[state(skip = "from the configuration")]
    pub(super) name: String,
    #[state(skip = "from the configuration")]
    pub(super) weight: u32,
    /// The place of its capacity in the scenario.
    #[state(skip = "from the configuration")]
    path: String,
    /// Its first byte, and how many it has.
    #[state(skip = "from the configuration")]
    start: u64,
    #[state(skip = "from the configuration")]
    capacity: u64,
    pub(super) workload: Box<dyn Workload>,
    clock: Clock,
    /// Requests of the workload that were not given yet, the next one last.
    #[state(varies)]
    ready: Vec<Request>,
    /// Whether the workload has no more.
    has_ended: bool,
    /// Whether the workload has no more writes for preconditioning. It may draw millions of reads to find out.
    is_writeless: bool,
    /// Requests given.
    pub(super) given: u64,
}

impl Tenant {
    /// The tenant at `path` that has so many bytes from `start` on.
    pub(super) fn new(
        config: &TenantConfig,
        path: &str,
        workload: Box<dyn Workload>,
        [start, capacity]: [u64; 2],
    ) -> Tenant {
        Tenant {
            name: config.name.clone(),
            weight: config.weight,
            path: format!("{path}.capacity"),
            start,
            capacity,
            clock: Clock::new(workload.pacing(), Time::ZERO),
            workload,
            ready: Vec::new(),
            has_ended: false,
            is_writeless: false,
            given: 0,
        }
    }

    /// When its next request comes; none where there are no more.
    pub(super) fn due(&mut self) -> Result<Option<Time>, WorkloadError> {
        if self.ready.is_empty() && !self.has_ended {
            let is_told = self.workload.pacing() == Pacing::CompletionDriven;
            self.workload.fill(&mut self.ready, if is_told { 1 } else { AHEAD })?;
            self.ready.reverse();
            self.has_ended = self.ready.is_empty();
        }
        Ok(self.ready.last().map(|request| self.clock.due(request)))
    }

    /// Its next request, which is due, where it lies in the address space of all.
    pub(super) fn issue(&mut self) -> Result<Request, WorkloadError> {
        let request = self.ready.pop().expect("it was said when it comes");
        self.given += 1;
        let arrival = self.clock.issue(&request);
        self.place(Request { arrival, ..request })
    }

    /// The request given last is done at `done`.
    pub(super) fn complete(&mut self, done: Time) {
        self.clock.complete(done);
        if self.workload.pacing() == Pacing::CompletionDriven {
            self.workload.complete(done);
        }
    }

    /// Nobody says when the request given last was done: it was at once.
    pub(super) fn done_unheard(&mut self, at: Time) {
        self.clock.complete(at);
    }

    /// Appends up to `limit` of its writes.
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

    /// The first byte behind all its own.
    pub(super) fn end(&self) -> u64 {
        self.start.saturating_add(self.capacity)
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
