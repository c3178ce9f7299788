//! Effects of a power loss on a served device, and errors of its image.

use nacre_image::{ImageError, Problem};
use nacre_kernel::Time;
use std::io;

/// A fraction in units of 1/1000.
pub type Permille = u32;

/// Effects of a power loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    /// Number of lost programs of acknowledged writes.
    pub acknowledged_lost: u64,
    /// Number of lost bytes of acknowledged writes.
    pub bytes_lost: u64,
    /// Number of writes that were in progress. After the power loss, the data of each write is present,
    /// absent, or present in some atomic units.
    pub under_way: u64,
    /// Simulated time from the first power loss to the end of the last recovery, when the device is ready.
    pub ready_after: Time,
}

/// Converts an image error into the error that the client receives: disk full, or I/O error.
pub(crate) fn io_error(error: ImageError) -> io::Error {
    let kind = match error.problem {
        Problem::DiskFull { .. } => io::ErrorKind::StorageFull,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}
