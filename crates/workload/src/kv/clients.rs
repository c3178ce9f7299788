//! Clients: the threads that run transactions, and those that write pages for checkpoints.

use super::searches::Way;
use nacre_kernel::state::Value;

/// A thread.
#[derive(Clone, Debug, Value)]
pub(super) struct Client {
    pub(super) stage: Stage,
    pub(super) keys: [u32; 2],
    pub(super) ways: [Way; 2],
    pub(super) values: [u32; 2],
    /// Whether it has read the page that its search has come to, and not used it yet.
    pub(super) has_read: bool,
    /// The log's end when its transaction began, while it has one.
    pub(super) began: Option<u64>,
    /// What its outstanding request is for.
    pub(super) asked: Option<Purpose>,
}

/// What a client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Stage {
    /// Begin a transaction.
    Begin,
    /// Get (0 and 1) or put (2 and 3) the first or second key; the search has come to this page of its way.
    Search { operation: usize, step: usize },
    /// Append the commit.
    Commit,
    /// Make the log durable up to here, which ends the transaction.
    Durable { lsn: u64 },
    /// Of a checkpoint, write this page, or the next one.
    Sweep { page: Option<u32> },
    /// Make the checkpoint's pages durable.
    Settle,
    /// Append the checkpoint's mark.
    Mark,
    /// Make the log durable up to here, which ends the checkpoint.
    Marked { lsn: u64 },
}

impl Client {
    /// A client that begins with `stage`.
    pub(super) fn new(stage: Stage) -> Client {
        let (ways, values) = (Default::default(), [0; 2]);
        Client { stage, keys: [u32::MAX; 2], ways, values, has_read: false, began: None, asked: None }
    }
}

/// What a request is for.
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
