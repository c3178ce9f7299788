//! Kinds of commands.

/// Kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Opens a row.
    Activate,
    /// Reads a burst from the open row.
    Read,
    /// Writes a burst to the open row.
    Write,
    /// Closes the open row.
    Precharge,
    /// Refreshes a rank, all of whose rows must be closed.
    Refresh,
}
