//! A simulated device as a block device for real programs.
//!
//! The bytes are real and lie in an image file; when an answer may leave is what the model says. The third
//! driver of the one model: the same [`Device`](nacre_kernel::Device) that `nacre run` drives in simulated time is
//! driven here by the wall clock.
//!
//! | module | holds |
//! |---|---|
//! | [`image`] | the bytes and the state of a served device, in a sparse file |
//! | [`opening`] | playing back what the device was asked before |
//! | [`failing`] | losses of power, media errors, snapshots |
//! | [`model`] | the device, the wall clock and the deadline of each request |
//! | [`listen`] | addresses: a unix socket, or TCP on this machine |
//! | [`server`] | connections from the first to the last |
//!
//! # What is promised
//! - A request is answered when the model says it is done, or as soon after as the machine can; both latencies
//!   are reported. With [`Timing::None`](model::Timing) it is answered at once.
//! - A flush is answered, and a forced write, when the image's data is on the disk (`fdatasync`).
//! - The process may be killed at any moment: what was answered is in the image, and so is what it did to the
//!   device: served again, mapping, wear and what is cached are as they were, to the bit.
//! - A torn image is told and continues from its last consistent state; a damaged one is told and left as it is.
//! - What a client does wrong ends in the protocol's error, or ends its connection; others do not notice.
//!
//! # Leaves out
//! With [`Timing::None`](model::Timing) the device is not asked: it does not wear, and a journal is not written.
//! What is read from a device that takes no writes leaves no trace in it when its server ends.
//! Encryption: only unix sockets and loopback addresses are listened on.

pub mod failing;
pub mod harm;
pub mod image;
pub mod listen;
pub mod model;
pub mod opening;
pub mod server;

mod connection;
mod inbox;
mod outbox;
mod ranges;
mod serving;
#[cfg(test)]
mod tests;
mod undo;
