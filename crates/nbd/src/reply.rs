//! Replies (proto.md, "Simple reply message" and "Structured reply chunk message").

use crate::negotiation::ALLOCATION_ID;
use crate::wire::{Errno, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk};
use crate::{Refusal, Request, Session};

/// Allocation status of a byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Length in bytes.
    pub bytes: u32,
    /// Whether no data is stored in the range, so that the range reads as zeros.
    pub is_hole: bool,
}

/// Writer for the reply to one request of a session.
#[derive(Debug)]
pub struct Reply<'a> {
    session: &'a Session,
    cookie: u64,
    out: &'a mut Vec<u8>,
}

impl<'a> Reply<'a> {
    /// Starts the reply to `request`, which is appended to `out`.
    pub fn new(session: &'a Session, request: &Request, out: &'a mut Vec<u8>) -> Reply<'a> {
        Reply { session, cookie: request.cookie, out }
    }

    /// Writes a reply that reports success.
    pub fn done(self) {
        if self.session.structured {
            self.chunk(chunk::DONE, chunk::NONE, 0);
        } else {
            self.simple(0);
        }
    }

    /// Writes a reply that reports a failure.
    pub fn failed(self, refusal: Refusal) {
        let Refusal { error, reason } = refusal;
        if !self.session.structured {
            return self.simple(error.number());
        }
        let length = reason.len().min(usize::from(u16::MAX));
        let out = self.chunk(chunk::DONE, chunk::ERROR, 6 + length);
        out.extend(error.number().to_be_bytes());
        out.extend((length as u16).to_be_bytes());
        out.extend(&reason.as_bytes()[..length]);
    }

    /// Writes the header of a reply with `length` bytes of data from `offset`. Returns the buffer for the
    /// data.
    pub fn data(self, offset: u64, length: usize) -> &'a mut [u8] {
        let out = if self.session.structured {
            let out = self.chunk(chunk::DONE, chunk::OFFSET_DATA, 8 + length);
            out.extend(offset.to_be_bytes());
            out
        } else {
            self.simple_to(0)
        };
        let at = out.len();
        out.resize(at + length, 0);
        &mut out[at..]
    }

    /// Writes a reply to a read of `length` bytes at `offset`, where no data is stored. The client receives
    /// zeros.
    pub fn hole(self, offset: u64, length: u32) {
        if !self.session.structured {
            self.data(offset, length as usize);
            return;
        }
        let out = self.chunk(chunk::DONE, chunk::OFFSET_HOLE, 12);
        out.extend(offset.to_be_bytes());
        out.extend(length.to_be_bytes());
    }

    /// Writes the allocation status of the extents. The first extent starts at the first byte of the request.
    ///
    /// # Panics
    ///
    /// If there are no extents, or if the session has no structured replies. [`Session::check`] rejects
    /// requests for block status in such a session.
    pub fn extents(self, extents: &[Extent]) {
        assert!(
            self.session.allocation && !extents.is_empty(),
            "block status was negotiated and has an answer"
        );
        let out = self.chunk(chunk::DONE, chunk::BLOCK_STATUS, 4 + 8 * extents.len());
        out.extend(ALLOCATION_ID.to_be_bytes());
        for extent in extents {
            // In base:allocation, bit 0 means a hole and bit 1 means zeros.
            let state: u32 = if extent.is_hole { 3 } else { 0 };
            out.extend(extent.bytes.to_be_bytes());
            out.extend(state.to_be_bytes());
        }
    }

    fn simple(self, error: u32) {
        self.simple_to(error);
    }

    fn simple_to(self, error: u32) -> &'a mut Vec<u8> {
        self.out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
        self.out.extend(error.to_be_bytes());
        self.out.extend(self.cookie.to_be_bytes());
        self.out
    }

    fn chunk(self, flags: u16, kind: u16, length: usize) -> &'a mut Vec<u8> {
        self.out.extend(STRUCTURED_REPLY_MAGIC.to_be_bytes());
        self.out.extend(flags.to_be_bytes());
        self.out.extend(kind.to_be_bytes());
        self.out.extend(self.cookie.to_be_bytes());
        self.out.extend((length as u32).to_be_bytes());
        self.out
    }
}

impl Refusal {
    /// Creates the refusal that reports a media error.
    pub fn medium() -> Refusal {
        Refusal { error: Errno::Io, reason: "the device reports a media error" }
    }
}
