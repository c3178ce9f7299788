//! Optional interfaces of a device.

use crate::request::Request;
use crate::zone::Zone;

/// A zoned device. A write that does not start at the write pointer of its zone is rejected.
pub trait Zones {
    /// The zone that holds `address`, as it is now.
    fn zone(&self, address: u64) -> Zone;
}

/// A device whose behavior depends on what was written before.
pub trait Preconditioning {
    /// Brings the device into the state that the writes among `requests` leave behind. No time passes.
    fn precondition(&mut self, requests: &[Request]);
}

/// A device whose medium can be worn out without simulating time.
pub trait Endurance {
    /// Performs these writes, each as often as it says and in order, until the first block or row exceeds its endurance.
    /// Only wear and mapping change; no time passes.
    fn wear_out(&mut self, bursts: &[Burst]) -> Endured;
}

/// A write that is made again and again.
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
    /// It took them all.
    All,
    /// The first block or row wore out.
    WornOut {
        /// The writes up to and with the one that did it.
        writes: u64,
    },
}
