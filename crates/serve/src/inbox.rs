//! What a client sent and nobody took yet.

use crate::listen::Stream;
use std::io::{self, Read};

/// Bytes read from a connection at a time.
const READ_BYTES: usize = 256 << 10;

/// The bytes of a connection, in order.
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    /// Where what was not taken begins and ends.
    from: usize,
    to: usize,
}

impl Inbox {
    pub(crate) fn new() -> Inbox {
        Inbox { bytes: vec![0; READ_BYTES], from: 0, to: 0 }
    }

    /// What is there.
    pub(crate) fn held(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    /// The first `count` bytes are taken.
    pub(crate) fn take(&mut self, count: usize) -> &[u8] {
        assert!(count <= self.to - self.from, "no more is taken than is there");
        self.from += count;
        &self.bytes[self.from - count..self.from]
    }

    /// Reads until `count` bytes are there; false where the client ends before.
    pub(crate) fn fill(&mut self, mut stream: &Stream, count: usize) -> io::Result<bool> {
        while self.to - self.from < count {
            self.make_room(count);
            match stream.read(&mut self.bytes[self.to..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.to += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Makes the buffer hold `count` bytes from where it begins, and some more to read into.
    fn make_room(&mut self, count: usize) {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        }
        if self.bytes.len() - self.from < count || self.to == self.bytes.len() {
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        if self.bytes.len() < count {
            self.bytes.resize(count.next_multiple_of(READ_BYTES), 0);
        }
    }
}
