//! Reasons for disconnecting clients.

use nacre_nbd::Violation;
use std::io;
use std::time::Duration;

/// Maximum time for a client to select an export, and maximum time between two bytes of a message.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Reason why the server closed a connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Dropped {
    #[error("{0}")]
    Violation(#[from] Violation),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the client disconnected in the middle of a message")]
    HalfOpen,
    #[error("the client stalled within a message for {PATIENCE:?}")]
    Slow,
    #[error("the client did not select an export within {PATIENCE:?}")]
    Undecided,
    #[error("TLS handshake failed: {0}")]
    Encryption(io::Error),
    #[error("the client sent data before the TLS handshake")]
    TooEarly,
}
