//! Serves a simulated device as a block device for real programs.
//!
//! The data is real and stored in an image file. The model determines when a reply is sent. This is the third
//! driver of the same model: `nacre run` drives the [`Device`](nacre_kernel::event::Device) in simulated time,
//! and here wall-clock time drives it, one event after the other.
//!
//! | module | content |
//! |---|---|
//! | [`offer`] | devices to serve |
//! | [`opening`] | opens a served device from a scenario and an image |
//! | [`model`] | the device, wall-clock time, and the deadline of each request |
//! | [`failing`] | power losses, media errors, snapshots |
//! | [`faulting`] | faults added while the device is served |
//! | [`outage`] | the effects of a power loss |
//! | [`listen`] | addresses: a unix socket, or TCP |
//! | [`tls`] | certificates, and the encryption of a connection |
//! | [`transport`] | the transport delay between client and server, which may be subtracted |
//! | [`server`] | accepts clients, one thread per connection |
//! | [`control`] | commands to a running server, and their replies |
//! | [`statistics`] | statistics of a server |
//! | [`metrics`] | the statistics for Prometheus |
//! | [`recorder`] | requests recorded into a trace |
//!
//! # Guarantees
//! - A reply is sent at the modeled completion time, counted from the arrival of the request, or as soon as
//!   possible after it, never earlier. Both latencies are reported. With [`Since::Sending`](model::Since), the
//!   transport delay is subtracted, and a reply may be early by as much as its own delay was shorter. The device
//!   then runs ahead of the clock by this delay, one event at a time. A request of another client is submitted
//!   after the last of these events, at most one delay late. With [`Timing::None`](model::Timing), replies are
//!   sent immediately.
//! - A reply to a flush or a forced write is sent when the journal of the image is on the disk (`fdatasync`).
//! - The process may be killed at any time. The image has all acknowledged requests and their effects on the
//!   device: when it is served again, mapping, wear, and cache content are unchanged. Reads after the last write
//!   are forgotten.
//! - A power loss is the device's: [`Device::power_fail`](nacre_kernel::event::Device::power_fail) at the
//!   time of the request determines the lost data. Replies with a later deadline are not sent.
//! - A torn image continues from its last consistent state. A damaged image is reported and not modified.
//! - An error of a client returns an error of the protocol or closes its connection. Other clients are not
//!   affected.
//!
//! # Not modeled
//! With [`Timing::None`](model::Timing), no device is modeled: an image holds only data. Reads of a device that
//! accepts no writes leave no trace in its state when its server ends. Encryption with pre-shared keys (PSK): the
//! encryption library supports only certificates.

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
mod serving;
mod shared_memory;
mod socket;
mod stepping;
mod stream;
#[cfg(test)]
mod tests;
mod threads;
mod turnaround;
mod under;
mod watch;
