//! Serves a simulated device as a block device for real programs.
//!
//! The data is real and stored in an image file. The model determines when a reply is sent. The model is the
//! same as in other simulations: `nacre run` advances the [`Device`](nacre_kernel::event::Device) in
//! simulated time, and the server advances it in wall-clock time, event by event.
//!
//! | module | content |
//! |---|---|
//! | [`offer`] | devices to serve |
//! | [`opening`] | opening of a served device from a scenario and an image |
//! | [`model`] | the device in wall-clock time, and the deadline of each reply |
//! | [`failing`] | power losses, media errors, and snapshots |
//! | [`faulting`] | faults that are added while the device is served |
//! | [`outage`] | effects of a power loss |
//! | [`listen`] | addresses: a Unix socket or TCP |
//! | [`tls`] | certificates, and the encryption of a connection |
//! | [`transport`] | the transport delay between client and server, which may be subtracted |
//! | [`server`] | the server, which runs one thread per connection |
//! | [`control`] | commands to a running server, and their replies |
//! | [`statistics`] | statistics of a server |
//! | [`metrics`] | statistics in the format of Prometheus |
//! | [`recorder`] | recording of requests to a trace |
//!
//! # Guarantees
//! - A reply is sent at the modeled completion time, relative to the arrival of the request, or as soon as
//!   possible afterwards. It is never sent earlier. Both latencies are reported. With
//!   [`Since::Sending`](model::Since), the transport delay is subtracted. A reply may then be early if its
//!   actual delay was shorter. The device runs ahead of the clock by this delay, one event at a time. A
//!   request of another client is therefore submitted up to one delay late, after the last event that was
//!   processed. With [`Timing::None`](model::Timing), replies are sent immediately.
//! - A reply to a flush or a forced write is sent after the journal of the image has been written to the disk
//!   (`fdatasync`).
//! - The process may be killed at any time. The image contains all acknowledged requests and their effects on
//!   the device. When the image is served again, mapping, wear, and cache content are unchanged. The effects
//!   of reads after the last write are lost.
//! - A power loss is simulated by the device: [`Device::power_fail`](nacre_kernel::event::Device::power_fail)
//!   at the time of the command determines the lost data. Replies with a later deadline are not sent.
//! - A torn image continues from its last consistent state. A damaged image is reported and is not modified.
//! - An invalid request of a client causes a protocol error or closes the connection. Other clients are not
//!   affected.
//!
//! # Not modeled
//! With [`Timing::None`](model::Timing), no device is modeled, and an image contains only data. Reads of a
//! device that accepts no writes do not change its saved state. Encryption with pre-shared keys (PSK) is not
//! supported, because the encryption library supports only certificates.

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
