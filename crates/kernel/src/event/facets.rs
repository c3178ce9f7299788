//! Optional interfaces of a device.

use super::outstanding::RequestId;
use super::payload::Payload;
use crate::request::Request;
use crate::time::Time;
use crate::zone::{Zone, ZoneCommand};

/// A zoned device. A write that does not start at the write pointer of its zone is rejected.
pub trait Zones {
    /// Returns the current state of the zone that contains `address`.
    fn zone(&self, address: u64) -> Zone;
}

/// A zoned device that supports the zone commands of NVMe.
pub trait ZoneCommands {
    /// Accepts `command` at `now`, like [`Device::submit`](super::Device::submit).
    /// [`Device::run`](super::Device::run) returns its completion. `request` has the address of the first
    /// byte of the zone. For an append, `request` is a write with `data`. For other commands, `request` is
    /// a trim of zero bytes.
    ///
    /// The completion of an append contains the address of its data. A rejected command completes with the
    /// status [`Status::WriteRefused`](crate::Status::WriteRefused) and the reason. Appends take effect in
    /// the order in which they reach the device, so several appends to one zone may be outstanding.
    fn command(&mut self, now: Time, id: RequestId, command: ZoneCommand, request: &Request, data: Payload);
}

/// A device whose behavior depends on earlier writes.
pub trait Preconditioning {
    /// Applies the writes in `requests` to the state of the device. No simulated time passes.
    fn precondition(&mut self, requests: &[Request]);
}

/// A device whose medium can be worn out without simulating time.
pub trait Endurance {
    /// Performs the writes of `bursts` in order until the first block or row exceeds its endurance. Only
    /// wear and mapping change, and no simulated time passes.
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

/// Result of [`Endurance::wear_out`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endured {
    /// All writes were performed.
    All,
    /// The first block or row wore out.
    WornOut {
        /// Number of writes, including the write that wore out the block or row.
        writes: u64,
    },
}
