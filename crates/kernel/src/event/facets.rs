//! Optional interfaces of a device.

use super::outstanding::RequestId;
use super::payload::Payload;
use crate::request::Request;
use crate::time::Time;
use crate::zone::{Zone, ZoneCommand};

/// A zoned device. A write that does not start at the write pointer of its zone is rejected.
pub trait Zones {
    /// The zone that holds `address`, as it is now.
    fn zone(&self, address: u64) -> Zone;
}

/// A zoned device that has the zone commands of NVMe.
pub trait ZoneCommands {
    /// Accepts `command` at `now`, as [`Device::submit`](super::Device::submit) accepts a request: it completes with
    /// [`Device::run`](super::Device::run). `request` has the address of the first byte of the zone. That of an append is
    /// a write, with its `data`; that of other commands is a trim without bytes.
    ///
    /// The completion of an append carries the address of its data. A refusal has the status
    /// [`Status::WriteRefused`](crate::Status::WriteRefused), and the completion carries its reason. Appends take effect in
    /// the order in which they reach the device, so that several to one zone may be outstanding.
    fn command(&mut self, now: Time, id: RequestId, command: ZoneCommand, request: &Request, data: Payload);
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
