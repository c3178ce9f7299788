//! A simulated device as a block device for real programs.
//!
//! The bytes are real and lie in an image file; when an answer may leave is what the model says. The third
//! driver of the one model: the same [`Device`](nacre_kernel::event::Device) that `nacre run` drives in simulated time is
//! driven here by the wall clock, which comes to one event of it after the other.
//!
//! | module | holds |
//! |---|---|
//! | [`offer`] | what is to be served |
//! | [`opening`] | from a scenario and an image to what is served |
//! | [`model`] | the device, the wall clock and the deadline of each request |
//! | [`failing`] | power losses, media errors, snapshots |
//! | [`faulting`] | faults that are added while it is served |
//! | [`outage`] | what a power loss did |
//! | [`listen`] | addresses: a unix socket, or TCP |
//! | [`tls`] | certificates, and the encryption of a connection |
//! | [`transport`] | what the way between client and server takes, which may be subtracted |
//! | [`server`] | connections from the first to the last |
//! | [`control`] | what a server is asked while it runs, and how it answers |
//! | [`statistics`] | what is known of a server |
//! | [`metrics`] | the same for Prometheus |
//! | [`recorder`] | requests as they come, into a trace |
//!
//! # What is promised
//! - A request is answered when the model says it is done, counted from when it is there, or as soon after as the machine
//!   can, never earlier; both latencies are reported. With [`Since::Sending`](model::Since) the way is subtracted, and
//!   an answer may be early by what its own way was shorter. The device is run that much ahead of the clock then, one event
//!   at a time: what another client asks meanwhile is submitted behind the last of them, later by the way at most. With
//!   [`Timing::None`](model::Timing) it is answered at once.
//! - A flush is answered, and a forced write, when the image's journal is on the disk (`fdatasync`).
//! - The process may be killed at any moment: what was answered is in the image, and so is what it did to the
//!   device: served again, mapping, wear and what is cached are as they were. Reads after the last write are forgotten.
//! - A power loss is the device's own: what it takes says [`Device::power_fail`](nacre_kernel::event::Device::power_fail), at
//!   the moment at which it was asked for; no answer leaves that was due later.
//! - A torn image continues from its last consistent state; a damaged one is told and left as it is.
//! - What a client does wrong ends in the protocol's error, or ends its connection; others do not notice.
//!
//! # Leaves out
//! With [`Timing::None`](model::Timing) no device is modeled: an image holds bytes alone.
//! What is read from a device that takes no writes leaves no trace in it when its server ends.
//! Encryption with keys shared beforehand (PSK): the library that encrypts has certificates only.

pub mod control;
pub mod failing;
pub mod faulting;
pub mod listen;
pub mod metrics;
pub mod model;
pub mod offer;
pub mod opening;
pub mod outage;
pub mod recorder;
pub mod served_fault;
pub mod server;
pub mod statistics;
pub mod tally;
pub mod tls;
pub mod transport;

mod asked;
mod attend;
mod awake;
mod clients;
mod connection;
mod dropped;
mod inbox;
mod linger;
mod outbox;
mod raw;
mod room;
mod serving;
mod socket;
mod stepping;
mod stream;
#[cfg(test)]
mod tests;
mod threads;
mod turnaround;
mod under;
mod watch;
