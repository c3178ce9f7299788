//! Checkpoints: which pages are still to be written, by whom, and who waits for the end.

use nacre_kernel::state::State;

/// Writing what is dirty, so that recovery needs less of the log.
#[derive(Clone, Debug, State)]
pub(super) struct Checkpoint {
    /// Transactions from one to the next; zero: only when the log is half full.
    #[state(same)]
    pub(super) every: u64,
    /// Transactions that ended since the last one began.
    pub(super) ended: u64,
    /// Clients that write its pages and have not come to the end; zero: none is under way.
    pub(super) busy: u32,
    /// Pages still to look at, the next one last.
    #[state(varies)]
    pub(super) pages: Vec<u32>,
    /// Clients whose writes of pages were outstanding at its beginning and still are.
    #[state(varies)]
    pub(super) unsettled: Vec<u32>,
    /// The client that waits for them.
    #[state(varies)]
    pub(super) settler: Option<u32>,
    /// When it is over, recovery needs nothing before this place of the log.
    pub(super) start: u64,
    /// Threads that wait for room in the log.
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

    /// The page write of `client` completed: returns who waited for it, if it was the last one.
    #[inline]
    pub(super) fn settle(&mut self, client: u32) -> Option<u32> {
        self.unsettled.retain(|&other| other != client);
        if self.unsettled.is_empty() { self.settler.take() } else { None }
    }
}
