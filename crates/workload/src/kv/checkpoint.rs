//! Checkpoints: pages to write, the clients that write them, and threads that wait for the end of a
//! checkpoint.

use nacre_kernel::state::State;

/// State of checkpoints, which write dirty pages so that recovery needs less of the log.
#[derive(Clone, Debug, State)]
pub(super) struct Checkpoint {
    /// Number of transactions between checkpoints. If zero, a checkpoint starts only when the log is half
    /// full.
    #[state(same)]
    pub(super) every: u64,
    /// Number of transactions completed since the start of the last checkpoint.
    pub(super) ended: u64,
    /// Number of clients that still write pages of the checkpoint. Zero if no checkpoint is in progress.
    pub(super) busy: u32,
    /// Pages of the checkpoint that no client has started to write, in reverse order.
    #[state(varies)]
    pub(super) pages: Vec<u32>,
    /// Clients whose page writes were outstanding at the start of the checkpoint and have not completed.
    #[state(varies)]
    pub(super) unsettled: Vec<u32>,
    /// The client that waits for the page writes of the clients in `unsettled`, if any.
    #[state(varies)]
    pub(super) settler: Option<u32>,
    /// Log position from which recovery starts after the checkpoint has completed.
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

    /// Notes the completion of a page write of `client`. If this was the last write that was outstanding at
    /// the start of the checkpoint, returns the client that waits for these writes, if any.
    #[inline]
    pub(super) fn settle(&mut self, client: u32) -> Option<u32> {
        self.unsettled.retain(|&other| other != client);
        if self.unsettled.is_empty() { self.settler.take() } else { None }
    }
}
