//! What befalls a device that is served: a power loss, and an image that fails.

use nacre_image::{ImageError, Problem};
use nacre_kernel::Time;
use std::io;

/// A share in thousandths.
pub type Permille = u32;

/// What a loss of power did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    /// Programs of writes that were acknowledged, which are lost.
    pub acknowledged_lost: u64,
    /// Bytes of acknowledged writes that are gone.
    pub bytes_lost: u64,
    /// Writes that were not done yet: each is there, not there, or in some of its atomic units.
    pub under_way: u64,
    /// How long the device is not ready, in simulated time; from the first loss to the end of the last recovery.
    pub ready_after: Time,
}

/// What a client is notified of an image that fails: a full disk, or an error.
pub(crate) fn io_error(error: ImageError) -> io::Error {
    let kind = match error.problem {
        Problem::DiskFull { .. } => io::ErrorKind::StorageFull,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}
