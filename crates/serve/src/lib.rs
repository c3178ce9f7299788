//! A simulated device as a block device for real programs.
//!
//! The bytes are real and lie in an image file; when an answer may leave is what the model says. The third
//! driver of the one model: the same [`Device`](nacre_kernel::Device) that `nacre run` drives in simulated time is
//! driven here by the wall clock.
//!
//! | module | holds |
//! |---|---|
//! | [`image`] | the bytes of a served device, in a sparse file |
//! | [`model`] | the device, the wall clock and the deadline of each request |
//! | [`listen`] | addresses: a unix socket, or TCP |
//! | [`tls`] | certificates, and the encryption of a connection |
//! | [`transport`] | what the way between client and server takes, which is subtracted |
//! | [`server`] | connections from the first to the last |
//!
//! # What is promised
//! - A request is answered when the model says it is done, or as soon after as the machine can; both latencies
//!   are reported. With [`Timing::None`](model::Timing) it is answered at once.
//! - A flush is answered, and a forced write, when the image's data is on the disk (`fdatasync`).
//! - The process may be killed at any moment: what was answered is in the image.
//! - What a client does wrong ends in the protocol's error, or ends its connection; others do not notice.
//!
//! # Leaves out
//! The device's own state (mapping, wear, what is cached) begins anew with every server; the image keeps bytes.
//! Encryption with keys shared beforehand (PSK): the library that encrypts has certificates only.

pub mod image;
pub mod listen;
pub mod model;
pub mod server;
pub mod tls;
pub mod transport;

mod connection;
mod inbox;
mod linger;
mod outbox;
mod serving;
mod socket;
mod stream;
