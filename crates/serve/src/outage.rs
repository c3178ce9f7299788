//! Events of a served device: power loss, and failure of the image.

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
    /// Number of writes in progress. Each may be complete, absent, or present in some of its atomic units.
    pub under_way: u64,
    /// Simulated time until the device is ready, from the first power loss to the end of the last recovery.
    pub ready_after: Time,
}

/// Converts an image error into the error for the client: disk full, or I/O error.
pub(crate) fn io_error(error: ImageError) -> io::Error {
    let kind = match error.problem {
        Problem::DiskFull { .. } => io::ErrorKind::StorageFull,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}
