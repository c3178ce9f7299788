//! Clients that are left before they wish it.

use nacre_nbd::Violation;
use std::io;
use std::time::Duration;

/// How long a client may take until an export is chosen, and between two bytes of one message.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Why a connection ended before its client wished it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Dropped {
    #[error("{0}")]
    Violation(#[from] Violation),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the client left in the middle of a message")]
    HalfOpen,
    #[error("the client stalled within a message for {PATIENCE:?}")]
    Slow,
    #[error("the client did not choose an export within {PATIENCE:?}")]
    Undecided,
    #[error("TLS handshake failed: {0}")]
    Encryption(io::Error),
    #[error("the client sent data before the TLS handshake")]
    TooEarly,
}
