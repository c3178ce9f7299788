//! Rules for the link traffic of cache lines and stores.

use nacre_kernel::Time;

/// Number of bytes that a line takes on the link, by direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crossing {
    pub(super) down: u64,
    pub(super) up: u64,
}

/// Rules for the lines of an interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Size of a line, in bytes.
    pub(super) line: u64,
    /// CPU time per line.
    pub(super) issue: Time,
    /// Maximum number of outstanding lines of a request. For writes, the limit applies only if each line
    /// gets a reply.
    pub(super) outstanding: u32,
    pub(super) read: Crossing,
    pub(super) write: Crossing,
    /// Whether each written line gets a reply. Otherwise, the CPU reads from the device after the last line.
    pub(super) is_answered: bool,
}
