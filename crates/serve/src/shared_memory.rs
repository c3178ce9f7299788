//! Memory for data of clients in both directions, with a limit on the total.
//!
//! Every client has [`ALLOWED`] bytes each way of its own. What is longer takes from the room that all share,
//! until the
//! system has taken it or a request was served; where there is none left a client waits for it, and goes when
//! it has waited
//! too long. In addition to this a client has a constant: what leaves together, and the buffers of its
//! encryption.

use crate::dropped::PATIENCE;
use crate::socket::pause;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Memory shared by all clients, in bytes.
pub(crate) const ROOM_BYTES: usize = 512 << 20;
/// Additional memory of each client, for each direction.
pub(crate) const ALLOWED: usize = 128 << 10;
/// Interval of checking for memory while there is none.
const BLINK: Duration = Duration::from_millis(2);

/// The component's descriptor and constructor.
pub(crate) struct Room {
    taken: AtomicUsize,
    most: usize,
    /// Whether waiting for memory has ended.
    is_closed: AtomicBool,
}

/// The share of one client.
pub(crate) struct Share<'a> {
    room: &'a Room,
    bytes: usize,
}

impl Room {
    /// A limit of this many bytes.
    pub(crate) fn of(most: usize) -> Room {
        Room { taken: AtomicUsize::new(0), most, is_closed: AtomicBool::new(false) }
    }

    /// An empty share.
    pub(crate) fn share(&self) -> Share<'_> {
        Share { room: self, bytes: 0 }
    }

    /// Ends all waits for memory, at the end of the server.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    fn take(&self, bytes: usize) -> bool {
        let taken = |taken: usize| taken.checked_add(bytes).filter(|&taken| taken <= self.most);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }
}

impl Share<'_> {
    /// Grows a buffer to `bytes`; returns `false` without change if there is no memory for it.
    pub(crate) fn hold(&mut self, bytes: usize) -> bool {
        let bytes = bytes.saturating_sub(ALLOWED);
        if bytes > self.bytes && !self.room.take(bytes - self.bytes) {
            return false;
        }
        if bytes < self.bytes {
            self.room.taken.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
        true
    }

    /// Grows the buffers to `bytes` without checking the limit: they replace others that are released next.
    pub(crate) fn hold_anyway(&mut self, bytes: usize) {
        let bytes = bytes.saturating_sub(ALLOWED);
        if bytes > self.bytes {
            self.room.taken.fetch_add(bytes - self.bytes, Ordering::Relaxed);
        } else {
            self.room.taken.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }

    /// Waits until a buffer may have `bytes`. Errors: timeout.
    pub(crate) fn wait_for(&mut self, bytes: usize) -> io::Result<()> {
        let mut began = None;
        while !self.hold(bytes) {
            self.rest(&mut began)?;
        }
        Ok(())
    }

    /// Waits briefly for memory, since `began`. Errors: timeout, or the server ends.
    #[expect(clippy::disallowed_methods, reason = "clients wait in wall time")]
    pub(crate) fn rest(&self, began: &mut Option<Instant>) -> io::Result<()> {
        let now = Instant::now();
        if self.room.is_closed.load(Ordering::Relaxed) || now - *began.get_or_insert(now) > PATIENCE {
            let full = "there was no memory for what it asked, in addition to what others do";
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, full));
        }
        pause(BLINK);
        Ok(())
    }

    /// Whether so much memory is in use that unused buffers should be released.
    pub(crate) fn is_scarce(&self) -> bool {
        self.room.taken.load(Ordering::Relaxed) > self.room.most / 4
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.room.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{ALLOWED, Room};

    #[test]
    fn what_is_held_never_exceeds_the_room_and_comes_back() {
        let room = Room::of(1000);
        let mut one = room.share();
        assert!(one.hold(ALLOWED) && one.hold(ALLOWED + 700) && one.is_scarce());
        {
            let mut other = room.share();
            assert!(other.hold(ALLOWED), "everybody has that");
            assert!(other.hold(ALLOWED + 300) && !other.hold(ALLOWED + 301));
            assert!(one.hold(ALLOWED + 600) && other.hold(ALLOWED + 400));
            assert!(!one.hold(usize::MAX));
            other.hold_anyway(ALLOWED + 900);
            assert!(!one.hold(ALLOWED + 601) && one.hold(ALLOWED + 100) && !one.hold(ALLOWED + 101));
        }
        assert!(one.hold(ALLOWED + 1000), "the other is gone");
        drop(one);
        assert!(!room.share().is_scarce());
    }
}
