//! Clients: threads that run transactions, and threads that write pages for checkpoints.

use super::searches::SearchPath;
use nacre_kernel::state::Value;

/// A thread.
#[derive(Clone, Debug, Value)]
pub(super) struct Client {
    pub(super) stage: Stage,
    pub(super) keys: [u32; 2],
    pub(super) ways: [SearchPath; 2],
    pub(super) values: [u32; 2],
    /// Whether it has read the current page of its search, and not used it yet.
    pub(super) has_read: bool,
    /// End of the log at the start of its transaction, if any.
    pub(super) began: Option<u64>,
    /// Purpose of its outstanding request.
    pub(super) asked: Option<Purpose>,
}

/// Next action of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Stage {
    /// Start a transaction.
    Begin,
    /// Get (0 and 1) or put (2 and 3) the first or second key; the search is at this page of its path.
    Search { operation: usize, step: usize },
    /// Append the commit.
    Commit,
    /// Make the log durable up to this position, which ends the transaction.
    Durable { lsn: u64 },
    /// For a checkpoint, write this page, or the next one.
    Sweep { page: Option<u32> },
    /// Make the checkpoint's pages durable.
    Settle,
    /// Append the checkpoint's mark.
    Mark,
    /// Make the log durable up to this position, which ends the checkpoint.
    Marked { lsn: u64 },
}

impl Client {
    /// A client that starts with `stage`.
    pub(super) fn new(stage: Stage) -> Client {
        let (ways, values) = (Default::default(), [0; 2]);
        Client { stage, keys: [u32::MAX; 2], ways, values, has_read: false, began: None, asked: None }
    }
}

/// Purpose of a request.
#[derive(Clone, Copy, Debug, Value)]
pub(super) enum Purpose {
    /// Reading this page.
    Read(u32),
    /// Writing this page.
    Write(u32),
    /// Writing or flushing the log.
    Log,
    /// Making a checkpoint's pages durable.
    Settle,
}
