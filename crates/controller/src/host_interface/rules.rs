//! How cache lines and stores cross a link.

use nacre_kernel::Time;

/// What crosses the link for a line, each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crossing {
    pub(super) down: u64,
    pub(super) up: u64,
}

/// How lines go to and fro.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Bytes of a line.
    pub(super) line: u64,
    /// CPU time per line.
    pub(super) issue: Time,
    /// Lines of a request under way; of writes only where each is answered.
    pub(super) outstanding: u32,
    pub(super) read: Crossing,
    pub(super) write: Crossing,
    /// Whether the CPU is answered for a line that it writes; otherwise it reads something after the last.
    pub(super) is_answered: bool,
}
