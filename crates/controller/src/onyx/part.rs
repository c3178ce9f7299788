//! A part of a request: bytes of one row.

use crate::host_interface::Spent;
use nacre_kernel::Time;
use nacre_kernel::state::Value;

/// A part of a request.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Row {
    pub(super) request: u32,
    /// Start address for the host.
    pub(super) address: u64,
    /// Its controller, the logical row there, and its bytes in the row.
    pub(super) controller: u32,
    pub(super) row: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) is_write: bool,
    /// Between host and drive, on the ring, and on the medium.
    pub(super) spent: Spent,
    pub(super) carried: Time,
    pub(super) medium: Time,
    /// When the controller accepted it.
    pub(super) taken: Time,
    /// Start and end of each chunk program.
    pub(super) programs: Vec<(Time, Time)>,
    /// Whether it is on the medium, its bytes are stored, the host has the reply, and its controller has
    /// finished.
    pub(super) is_written: bool,
    pub(super) is_landed: bool,
    pub(super) is_answered: bool,
    pub(super) is_over: bool,
}
