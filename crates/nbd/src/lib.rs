//! The Network Block Device protocol, fixed newstyle, as a server speaks it: bytes in, bytes out.
//!
//! Nothing here knows a socket, a thread or a disk. [`Negotiation`] takes what a client sent and appends what
//! to answer, until an export is chosen; then [`Request::parse`] reads one request, [`Session::check`] says
//! whether the export may serve it, and [`Reply`] writes the answer.
//!
//! Numbers on the wire are big-endian. Names are those of the protocol's document, "NBD protocol"
//! (doc/proto.md of the reference implementation), whose sections are cited.
//!
//! # Leaves out
//! Oldstyle negotiation; extended headers; resizing; the `qemu:` contexts. TLS is upgraded to by whoever
//! holds the socket, when [`Progress::StartTls`] says so.

mod export;
mod negotiation;
mod options;
mod reply;
mod request;
mod wire;

#[cfg(test)]
mod tests;

pub use export::{BlockSizes, Export};
pub use negotiation::{Negotiation, Progress, Session, Tls};
pub use reply::{Extent, Reply};
pub use request::{Command, HEADER_BYTES, Refusal, Request};
pub use wire::Errno;

/// The client broke the protocol so that nothing it sends can be understood any more: it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Something other than an option came while negotiating.
    #[error("the client sent {0:#018x} where an option begins")]
    NoOption(u64),
    /// The client does not speak fixed newstyle, or wants something of it that there is not.
    #[error("the client's flags are {0:#010x}: fixed newstyle was offered")]
    ClientFlags(u32),
    /// An option longer than any that makes sense.
    #[error("the client sent an option of {0} bytes: {max} are the most", max = options::BYTES_MAX)]
    OptionTooLong(u32),
    /// The one-way option names an export that there is not; it knows no error reply.
    #[error("the client asked for an export that there is not, in a way that has no answer for it")]
    NoExport,
    /// More options than a client has reason to send.
    #[error("the client sent {max} options and chose no export", max = negotiation::OPTIONS_MAX)]
    TooManyOptions,
    /// Something other than a request came after negotiation.
    #[error("the client sent {0:#010x} where a request begins")]
    NoRequest(u32),
    /// A write longer than what the server takes: its data cannot be skipped.
    #[error("the client sent a write of {0} bytes, more than the {1} it was told")]
    WriteTooLong(u32, u32),
}
