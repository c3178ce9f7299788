//! A part of a request: the bytes in one row.

use crate::host_interface::Spent;
use nacre_kernel::Time;
use nacre_kernel::state::Value;

/// A part of a request.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Row {
    pub(super) request: u32,
    /// Start address of the part in the address space of the host, in bytes.
    pub(super) address: u64,
    /// Controller, logical row in the controller, and byte range in the row.
    pub(super) controller: u32,
    pub(super) row: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) is_write: bool,
    /// Times that the part has spent between host and drive, on the ring, and on the medium.
    pub(super) spent: Spent,
    pub(super) carried: Time,
    pub(super) medium: Time,
    /// Time at which the controller accepted the part.
    pub(super) taken: Time,
    /// Start and end time of each chunk program.
    pub(super) programs: Vec<(Time, Time)>,
    /// Flags: the part is on the medium, its data is stored, the host has the reply, and the controller has
    /// finished.
    pub(super) is_written: bool,
    pub(super) is_landed: bool,
    pub(super) is_answered: bool,
    pub(super) is_over: bool,
}
