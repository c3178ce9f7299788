//! Optional interfaces of a device.

use crate::request::Request;
use crate::zone::Zone;

/// A zoned device. A write that does not start at the write pointer of its zone is rejected.
pub trait Zones {
    /// The zone that holds `address`, as it is now.
    fn zone(&self, address: u64) -> Zone;
}

/// A device whose behavior depends on earlier writes.
pub trait Preconditioning {
    /// Brings the device into the state after the writes among `requests`. No time passes.
    fn precondition(&mut self, requests: &[Request]);
}

/// A device whose medium can be worn out without simulating time.
pub trait Endurance {
    /// Performs these bursts in order until the first block or row exceeds its endurance. Only wear and
    /// mapping change; no time passes.
    fn wear_out(&mut self, bursts: &[Burst]) -> Endured;
}

/// A repeated write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The write.
    pub request: Request,
    /// Number of repetitions.
    pub times: u64,
}

/// Result of writes until wear-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endured {
    /// All writes were performed.
    All,
    /// The first block or row wore out.
    WornOut {
        /// Number of writes up to and including the one that wore it out.
        writes: u64,
    },
}
