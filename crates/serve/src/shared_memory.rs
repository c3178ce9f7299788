//! Memory for the data of clients in both directions, with a limit on the total.
//!
//! Every client has [`ALLOWED`] bytes for each direction. A longer message also uses memory that all clients
//! share, until the system has accepted the message or the request is served. If no shared memory is free,
//! the client waits, and is disconnected after a timeout. In addition, every client has buffers of constant
//! size for encryption and for replies that are sent in one write.

use crate::dropped::PATIENCE;
use crate::socket::pause;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Size in bytes of the memory that all clients share.
pub(crate) const SHARED_BYTES: usize = 512 << 20;
/// Size in bytes of the memory that each client has for each direction in addition to shared memory.
pub(crate) const ALLOWED: usize = 128 << 10;
/// Interval at which a waiting client checks for free memory.
const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Memory shared by all clients, with a limit.
pub(crate) struct SharedMemory {
    taken: AtomicUsize,
    most: usize,
    /// Whether the server is stopping, so that clients no longer wait for memory.
    is_closed: AtomicBool,
}

/// Shared memory that one client uses for one direction.
pub(crate) struct Share<'a> {
    shared: &'a SharedMemory,
    bytes: usize,
}

impl SharedMemory {
    /// Creates shared memory with a limit of `most` bytes.
    pub(crate) fn of(most: usize) -> SharedMemory {
        SharedMemory { taken: AtomicUsize::new(0), most, is_closed: AtomicBool::new(false) }
    }

    /// Creates an empty share.
    pub(crate) fn share(&self) -> Share<'_> {
        Share { shared: self, bytes: 0 }
    }

    /// Ends all waits for memory because the server is stopping.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    fn take(&self, bytes: usize) -> bool {
        let taken = |taken: usize| taken.checked_add(bytes).filter(|&taken| taken <= self.most);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }
}

impl Share<'_> {
    /// Sets the size of the client's buffers to `bytes`. If there is not enough shared memory, returns
    /// `false` and changes nothing.
    pub(crate) fn hold(&mut self, bytes: usize) -> bool {
        let bytes = bytes.saturating_sub(ALLOWED);
        if bytes > self.bytes && !self.shared.take(bytes - self.bytes) {
            return false;
        }
        if bytes < self.bytes {
            self.shared.taken.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
        true
    }

    /// Sets the size of the client's buffers to `bytes` without checking the limit, because these buffers
    /// replace other buffers, which are released next.
    pub(crate) fn hold_anyway(&mut self, bytes: usize) {
        let bytes = bytes.saturating_sub(ALLOWED);
        if bytes > self.bytes {
            self.shared.taken.fetch_add(bytes - self.bytes, Ordering::Relaxed);
        } else {
            self.shared.taken.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }

    /// Waits until the client's buffers may have a size of `bytes`, and sets this size. Returns an error
    /// after a timeout.
    pub(crate) fn wait_for(&mut self, bytes: usize) -> io::Result<()> {
        let mut began = None;
        while !self.hold(bytes) {
            self.rest(&mut began)?;
        }
        Ok(())
    }

    /// Waits briefly for memory. `began` is the time at which the wait started. Returns an error after a
    /// timeout, or if the server is stopping.
    #[expect(clippy::disallowed_methods, reason = "clients wait in wall time")]
    pub(crate) fn rest(&self, began: &mut Option<Instant>) -> io::Result<()> {
        let now = Instant::now();
        if self.shared.is_closed.load(Ordering::Relaxed) || now - *began.get_or_insert(now) > PATIENCE {
            let full = "not enough shared memory for its request";
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, full));
        }
        pause(CHECK_INTERVAL);
        Ok(())
    }

    /// Returns whether more than a quarter of the shared memory is in use, so that unused buffers should be
    /// released.
    pub(crate) fn is_scarce(&self) -> bool {
        self.shared.taken.load(Ordering::Relaxed) > self.shared.most / 4
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.shared.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{ALLOWED, SharedMemory};

    #[test]
    fn what_is_held_never_exceeds_the_room_and_comes_back() {
        let shared = SharedMemory::of(1000);
        let mut one = shared.share();
        assert!(one.hold(ALLOWED) && one.hold(ALLOWED + 700) && one.is_scarce());
        {
            let mut other = shared.share();
            assert!(other.hold(ALLOWED), "everybody has that");
            assert!(other.hold(ALLOWED + 300) && !other.hold(ALLOWED + 301));
            assert!(one.hold(ALLOWED + 600) && other.hold(ALLOWED + 400));
            assert!(!one.hold(usize::MAX));
            other.hold_anyway(ALLOWED + 900);
            assert!(!one.hold(ALLOWED + 601) && one.hold(ALLOWED + 100) && !one.hold(ALLOWED + 101));
        }
        assert!(one.hold(ALLOWED + 1000), "the other is gone");
        drop(one);
        assert!(!shared.share().is_scarce());
    }
}
