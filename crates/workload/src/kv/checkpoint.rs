//! Checkpoints: pages to write, their writers, and threads that wait for the end.

use nacre_kernel::state::State;

/// Writes dirty pages, so that recovery needs less of the log.
#[derive(Clone, Debug, State)]
pub(super) struct Checkpoint {
    /// Transactions between checkpoints; zero: only when the log is half full.
    #[state(same)]
    pub(super) every: u64,
    /// Transactions completed since the start of the last one.
    pub(super) ended: u64,
    /// Clients that are still writing its pages; zero: none is in progress.
    pub(super) busy: u32,
    /// Pages still to examine, the next one last.
    #[state(varies)]
    pub(super) pages: Vec<u32>,
    /// Clients whose page writes were outstanding at its start and still are.
    #[state(varies)]
    pub(super) unsettled: Vec<u32>,
    /// The client that waits for them.
    #[state(varies)]
    pub(super) settler: Option<u32>,
    /// Log position from which recovery starts after it has completed.
    pub(super) start: u64,
    /// Threads that wait for log space.
    #[state(varies)]
    pub(super) stalled: Vec<u32>,
}

impl Checkpoint {
    pub(super) fn new(every: u64) -> Checkpoint {
        Checkpoint {
            every,
            ended: 0,
            busy: 0,
            pages: Vec::new(),
            unsettled: Vec::new(),
            settler: None,
            start: 0,
            stalled: Vec::new(),
        }
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.busy > 0
    }

    pub(super) fn is_due(&self) -> bool {
        self.every > 0 && self.ended >= self.every && !self.is_under_way()
    }

    /// Records that the page write of `client` completed; returns the waiters if it was the last one.
    #[inline]
    pub(super) fn settle(&mut self, client: u32) -> Option<u32> {
        self.unsettled.retain(|&other| other != client);
        if self.unsettled.is_empty() { self.settler.take() } else { None }
    }
}
