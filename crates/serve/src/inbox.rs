//! Buffer for data that was received from a client and is not parsed yet.

use crate::shared_memory::{ALLOWED, Share, SharedMemory};
use crate::stream::Stream;
use std::io;

/// Number of bytes that are read from a connection at a time.
const READ_BYTES: usize = ALLOWED;
/// Maximum ratio of the buffer size to the number of received bytes while a longer message arrives. Memory
/// use is therefore proportional to the received data, and each byte is moved at most once.
const AHEAD: usize = 2;
/// Maximum size of a buffer that is reused after a longer message, in bytes.
const KEPT_BYTES: usize = 4 << 20;

/// Received bytes of a connection, in order.
pub(crate) struct Inbox<'a> {
    bytes: Vec<u8>,
    share: Share<'a>,
    /// Position in the buffer at which the unread data starts.
    from: usize,
    to: usize,
}

impl<'a> Inbox<'a> {
    pub(crate) fn new(shared: &'a SharedMemory) -> Inbox<'a> {
        Inbox { bytes: vec![0; READ_BYTES], share: shared.share(), from: 0, to: 0 }
    }

    /// Returns the unread data.
    pub(crate) fn held(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    /// Removes and returns the first `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> &[u8] {
        assert!(count <= self.to - self.from, "no more is taken than is there");
        self.from += count;
        &self.bytes[self.from - count..self.from]
    }

    /// Waits for more bytes of a message of `count` bytes. Returns `false` if the client disconnects. Returns
    /// an error if the read fails or there is not enough memory.
    pub(crate) fn fill(&mut self, stream: &mut Stream, count: usize) -> io::Result<bool> {
        let mut began = None;
        while !self.make_room(count) {
            // A disconnected client must not wait for memory.
            if stream.socket().sends_no_more() {
                return Ok(false);
            }
            self.share.rest(&mut began)?;
        }
        let read = stream.read(&mut self.bytes[self.to..])?;
        self.to += read;
        Ok(read > 0)
    }

    /// Reads the available bytes of a message of `count` bytes. Returns `Some(true)` if bytes were read,
    /// `Some(false)` if the client disconnected, and `None` if no bytes or no memory are available at this
    /// time.
    pub(crate) fn fill_now(&mut self, stream: &mut Stream, count: usize) -> io::Result<Option<bool>> {
        if !self.make_room(count) {
            self.share.rest(&mut None)?;
            return Ok(None);
        }
        let read = stream.read_now(&mut self.bytes[self.to..])?;
        self.to += read.unwrap_or(0);
        Ok(read.map(|read| read > 0))
    }

    /// Makes space for further bytes of a message of `count` bytes. The buffer grows in proportion to the
    /// received data, because the announced message may never arrive. Returns `false` if the memory limit is
    /// reached.
    fn make_room(&mut self, count: usize) -> bool {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
            let kept = if self.share.is_scarce() { READ_BYTES } else { KEPT_BYTES };
            if self.bytes.len() > kept && count <= READ_BYTES {
                self.bytes = vec![0; READ_BYTES];
                self.share.hold(READ_BYTES);
            }
        }
        if self.bytes.len() - self.from < count || self.to == self.bytes.len() {
            if self.from > 0 {
                self.bytes.copy_within(self.from..self.to, 0);
            }
            (self.from, self.to) = (0, self.to - self.from);
        }
        let wanted = count.min(AHEAD * self.to).next_multiple_of(READ_BYTES);
        if self.to == self.bytes.len() && self.to < count && self.share.hold(wanted) {
            // If the allocation fails, the buffer does not change.
            if self.bytes.try_reserve_exact(wanted - self.bytes.len()).is_ok() {
                self.bytes.resize(wanted, 0);
            }
        }
        self.to < self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{Inbox, READ_BYTES};
    use crate::shared_memory::{SHARED_BYTES, SharedMemory};
    use crate::socket::Socket;
    use crate::stream::Stream;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the client writes meanwhile")]
    fn room_is_made_for_what_comes_and_not_for_what_is_announced() {
        let (mut client, server) = UnixStream::pair().unwrap();
        let mut stream = Stream::new(Socket::Unix(server));
        let shared = SharedMemory::of(SHARED_BYTES);
        let mut inbox = Inbox::new(&shared);
        let count = (32 << 20) + 28;
        let message: Vec<u8> = (0..count).map(|at| (at % 251) as u8).collect();
        client.write_all(&message[..1000]).unwrap();
        assert!(inbox.fill(&mut stream, count).unwrap());
        assert_eq!((inbox.held().len(), inbox.bytes.len()), (1000, READ_BYTES));
        std::thread::scope(|scope| {
            let rest = &message[1000..];
            scope.spawn(move || client.write_all(rest).unwrap());
            while inbox.held().len() < count {
                assert!(inbox.fill(&mut stream, count).unwrap());
                assert!(inbox.bytes.len() <= 2 * inbox.held().len().next_multiple_of(READ_BYTES));
            }
        });
        assert!(inbox.take(count) == message);
    }

    #[test]
    fn a_long_message_that_comes_in_short_pieces_is_moved_a_few_times() {
        let (mut client, server) = UnixStream::pair().unwrap();
        let mut stream = Stream::new(Socket::Unix(server));
        let shared = SharedMemory::of(SHARED_BYTES);
        let mut inbox = Inbox::new(&shared);
        let count = 32 << 20;
        let (piece, mut sizes) = ([7; 4096], std::collections::BTreeSet::new());
        while inbox.held().len() < count {
            client.write_all(&piece).unwrap();
            assert!(inbox.fill(&mut stream, count).unwrap());
            sizes.insert(inbox.bytes.len());
        }
        // The sizes are 128 KiB, 256 KiB, ... 32 MiB.
        assert_eq!(sizes.len(), 9, "{sizes:?}");
        assert!(inbox.take(count).iter().all(|&byte| byte == 7));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the client writes meanwhile")]
    fn a_message_waits_for_room_that_others_have() {
        let shared = SharedMemory::of(1 << 20);
        let mut others = shared.share();
        assert!(others.hold(READ_BYTES + (1 << 20)));
        let (mut client, server) = UnixStream::pair().unwrap();
        let mut stream = Stream::new(Socket::Unix(server));
        let mut inbox = Inbox::new(&shared);
        let count = READ_BYTES + 1000;
        std::thread::scope(|scope| {
            scope.spawn(move || client.write_all(&vec![7; count]).unwrap());
            while inbox.held().len() < READ_BYTES {
                assert!(inbox.fill(&mut stream, count).unwrap());
            }
            assert_eq!(inbox.fill_now(&mut stream, count).unwrap(), None, "there is no room");
            drop(others);
            while inbox.held().len() < count {
                assert!(inbox.fill(&mut stream, count).unwrap());
            }
        });
        assert!(inbox.take(count).iter().all(|&byte| byte == 7));
    }
}
