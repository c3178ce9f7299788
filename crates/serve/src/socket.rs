//! Connection to one client at the socket level.

#![expect(clippy::disallowed_types, reason = "sockets belong here")]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A connected socket.
#[derive(Debug)]
pub(crate) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Makes the socket blocking, and disables the delay of small packets.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        match self {
            Socket::Unix(of) => of.set_nonblocking(false),
            Socket::Tcp(of) => {
                of.set_nonblocking(false)?;
                of.set_nodelay(true)?;
                // If the machine of a client fails, the client is silent. With keep-alive, the system detects
                // this eventually.
                rustix::net::sockopt::set_socket_keepalive(of, true).map_err(io::Error::from)
            }
        }
    }

    /// Creates another handle of the connection, so that another thread can close it.
    pub(crate) fn try_clone(&self) -> io::Result<Socket> {
        match self {
            Socket::Unix(of) => of.try_clone().map(Socket::Unix),
            Socket::Tcp(of) => of.try_clone().map(Socket::Tcp),
        }
    }

    /// Sets the maximum time for which a read waits for data. `None` means no limit.
    pub(crate) fn set_read_patience(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Unix(of) => of.set_read_timeout(limit),
            Socket::Tcp(of) => of.set_read_timeout(limit),
        }
    }

    /// Sets the maximum time for which a write waits for a client that does not receive data. `None` means no
    /// limit.
    pub(crate) fn set_write_patience(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Unix(of) => of.set_write_timeout(limit),
            Socket::Tcp(of) => of.set_write_timeout(limit),
        }
    }

    /// Waits for bytes and reads them. Returns 0 at the end of the stream, and the error `WouldBlock` after
    /// the timeout.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.take(into, RecvFlags::empty())
    }

    /// Reads available bytes. Returns 0 at the end of the stream, and `None` if no bytes are available.
    pub(crate) fn read_now(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match self.take(into, RecvFlags::DONTWAIT) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            taken => taken.map(Some),
        }
    }

    fn take(&self, into: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        loop {
            match recv(self, &mut *into, flags) {
                Ok((bytes, _)) => return Ok(bytes),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends all bytes.
    pub(crate) fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match send(self, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns whether the other side has stopped sending, even if unread data remains.
    pub(crate) fn sends_no_more(&self) -> bool {
        self.shows(PollFlags::RDHUP)
    }

    /// Returns whether the connection is known to be closed in both directions. TCP detects this only after
    /// sending.
    pub(crate) fn is_closed(&self) -> bool {
        self.shows(PollFlags::empty())
    }

    /// Returns whether a poll of the socket reports one of `flags`, a closed connection, or an error.
    fn shows(&self, flags: PollFlags) -> bool {
        let mut polled = [PollFd::new(self, flags)];
        let found = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        found.is_ok_and(|found| found > 0)
    }

    /// Stops reading. Waiting readers reach the end of the stream.
    pub(crate) fn end_reading(&self) {
        // If the client has disconnected, shutting down the socket fails, which is harmless.
        let _ = match self {
            Socket::Unix(of) => of.shutdown(Shutdown::Read),
            Socket::Tcp(of) => of.shutdown(Shutdown::Read),
        };
    }

    /// Closes the connection in both directions.
    pub(crate) fn end(&self) {
        let _ = match self {
            Socket::Unix(of) => of.shutdown(Shutdown::Both),
            Socket::Tcp(of) => of.shutdown(Shutdown::Both),
        };
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Unix(of) => of.as_fd(),
            Socket::Tcp(of) => of.as_fd(),
        }
    }
}

/// Waits up to `limit` until `of` is readable.
pub(crate) fn wait_for(of: &impl AsFd, limit: Duration) -> io::Result<()> {
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(of, PollFlags::IN)], Some(&limit)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Sleeps for `time`.
#[expect(clippy::disallowed_methods, reason = "the server waits for clients in wall time")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
