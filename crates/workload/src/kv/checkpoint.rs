//! Checkpoints: which pages are still to be written, by whom, and who waits for the end.

use nacre_kernel::Time;
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
    /// When pages that were being written at its beginning are.
    pub(super) settled: Time,
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
            settled: Time::ZERO,
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
}
