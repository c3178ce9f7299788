//! Server side of the Network Block Device protocol (fixed newstyle): functions that parse received bytes
//! and produce the bytes to send.
//!
//! This crate has no sockets, threads, or disk access. [`Negotiation`] parses the data of a client and
//! appends the reply, until an export is selected. Then [`Request::parse`] parses each request,
//! [`Session::check`] checks that the export may serve the request, and [`Reply`] writes the reply.
//!
//! Numbers on the wire are big-endian. Names are those of the protocol specification, "NBD protocol"
//! (doc/proto.md of the reference implementation), whose sections are cited.
//!
//! # Not modeled
//! Oldstyle negotiation, extended headers, resizing, and the `qemu:` metadata contexts. The owner of the
//! socket upgrades to TLS when [`Parsed::StartTls`] requests it.

mod export;
mod negotiation;
mod options;
mod reply;
mod request;
mod wire;

#[cfg(test)]
mod tests;

pub use export::{BlockSizes, Export};
pub use negotiation::{Negotiation, Parsed, Session, Tls};
pub use reply::{Extent, Reply};
pub use request::{Command, HEADER_BYTES, Refusal, Request};
pub use wire::Errno;

/// Fatal protocol error of a client. The data that follows cannot be parsed, so the client must be
/// disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The client sent data other than an option during negotiation.
    #[error("the client sent {0:#018x}; expected an option")]
    NoOption(u64),
    /// The client does not support fixed newstyle, or has unknown flags.
    #[error("the client's flags are {0:#010x}; expected fixed newstyle")]
    ClientFlags(u32),
    /// The option is longer than any valid option.
    #[error("the client sent an option of {0} bytes; the limit is {max}", max = options::BYTES_MAX)]
    OptionTooLong(u32),
    /// `EXPORT_NAME` names an unknown export. This option has no error reply.
    #[error("the client requested an unknown export with NBD_OPT_EXPORT_NAME, which has no error reply")]
    NoExport,
    /// The client sent too many options.
    #[error("the client sent {max} options without selecting an export", max = negotiation::OPTIONS_MAX)]
    TooManyOptions,
    /// The client sent data other than a request after negotiation.
    #[error("the client sent {0:#010x}; expected a request")]
    NoRequest(u32),
    /// The write is longer than the maximum that the server announced, so its data cannot be skipped. The
    /// values are the length and the maximum, in bytes.
    #[error("the client sent a write of {0} bytes, more than the announced {1}")]
    WriteTooLong(u32, u32),
}
