//! Exports of a server.

use crate::wire::transmission as flags;

/// A device that clients may select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Export name. The empty name is the default export.
    pub name: String,
    /// Description for people.
    pub description: String,
    /// Capacity in bytes.
    pub bytes: u64,
    /// Whether the export rejects writes.
    pub read_only: bool,
    /// Whether the device is a rotating disk. If so, clients expect sequential accesses to be faster.
    pub rotational: bool,
    /// Request sizes that the export accepts.
    pub block: BlockSizes,
}

/// Limits on request sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// Alignment of requests, which is a power of two of at most 64 KiB.
    pub minimum: u32,
    /// Preferred request size, a power of two. Smaller requests are slower.
    pub preferred: u32,
    /// Maximum size of a request.
    pub maximum: u32,
}

impl Export {
    /// Returns the transmission flags of the export. One flag states that a write is visible to all
    /// connections as soon as the reply to the write has been sent.
    pub(crate) fn flags(&self) -> u16 {
        let mut told = flags::HAS_FLAGS
            | flags::SEND_FLUSH
            | flags::SEND_FUA
            | flags::SEND_DF
            | flags::CAN_MULTI_CONN
            | flags::SEND_CACHE;
        if self.rotational {
            told |= flags::ROTATIONAL;
        }
        if self.read_only {
            told | flags::READ_ONLY
        } else {
            told | flags::SEND_TRIM | flags::SEND_WRITE_ZEROES | flags::SEND_FAST_ZERO
        }
    }
}
