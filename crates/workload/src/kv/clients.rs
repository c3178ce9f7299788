//! Clients: threads that run transactions, and threads that write pages of checkpoints.

use super::searches::SearchPath;
use nacre_kernel::state::Value;

/// A thread of the store.
#[derive(Clone, Debug, Value)]
pub(super) struct Client {
    pub(super) stage: Stage,
    pub(super) keys: [u32; 2],
    pub(super) ways: [SearchPath; 2],
    pub(super) values: [u32; 2],
    /// Whether the client has read the current page of its search but has not used the page yet.
    pub(super) has_read: bool,
    /// End of the log at the start of the current transaction. `None` if no transaction is open.
    pub(super) began: Option<u64>,
    /// Purpose of the outstanding request, if any.
    pub(super) asked: Option<Purpose>,
}

/// Next action of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Stage {
    /// Start a transaction.
    Begin,
    /// Get (operations 0 and 1) or put (operations 2 and 3) the first or the second key. `step` is the index
    /// of the current page in the search path.
    Search { operation: usize, step: usize },
    /// Append the commit record.
    Commit,
    /// Make the log durable up to this position, which completes the transaction.
    Durable { lsn: u64 },
    /// Write this page for a checkpoint, or the next page if `page` is absent.
    Sweep { page: Option<u32> },
    /// Make the pages of the checkpoint durable.
    Settle,
    /// Append the checkpoint record.
    Mark,
    /// Make the log durable up to this position, which completes the checkpoint.
    Marked { lsn: u64 },
}

impl Client {
    /// Creates a client that starts with `stage`.
    pub(super) fn new(stage: Stage) -> Client {
        let (ways, values) = (Default::default(), [0; 2]);
        Client { stage, keys: [u32::MAX; 2], ways, values, has_read: false, began: None, asked: None }
    }
}

/// Purpose of a request.
#[derive(Clone, Copy, Debug, Value)]
pub(super) enum Purpose {
    /// Read of this page.
    Read(u32),
    /// Write of this page.
    Write(u32),
    /// Write or flush of the log.
    Log,
    /// Flush of the pages of a checkpoint.
    Settle,
}
