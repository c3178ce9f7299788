//! A connection to one client, as the system knows it.

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
    /// Makes it one that waits, and sends at once.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        match self {
            Socket::Unix(of) => of.set_nonblocking(false),
            Socket::Tcp(of) => {
                of.set_nonblocking(false)?;
                of.set_nodelay(true)?;
                // A client whose machine is gone says nothing more; the system notices in time.
                rustix::net::sockopt::set_socket_keepalive(of, true).map_err(io::Error::from)
            }
        }
    }

    /// The same connection, to be ended by somebody else.
    pub(crate) fn try_clone(&self) -> io::Result<Socket> {
        match self {
            Socket::Unix(of) => of.try_clone().map(Socket::Unix),
            Socket::Tcp(of) => of.try_clone().map(Socket::Tcp),
        }
    }

    /// How long a read may wait for the next byte.
    pub(crate) fn set_read_patience(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Unix(of) => of.set_read_timeout(limit),
            Socket::Tcp(of) => of.set_read_timeout(limit),
        }
    }

    /// How long a write may wait for a client that takes nothing.
    pub(crate) fn set_write_patience(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Unix(of) => of.set_write_timeout(limit),
            Socket::Tcp(of) => of.set_write_timeout(limit),
        }
    }

    /// Waits for bytes and takes them; 0 at the end. Errors: among others `WouldBlock` where patience ends.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.take(into, RecvFlags::empty())
    }

    /// Takes what is there: 0 at the end, and `None` where there is nothing.
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

    /// Sends all of it.
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

    /// Whether the other side sends no more, whatever of it was not taken yet.
    pub(crate) fn sends_no_more(&self) -> bool {
        self.shows(PollFlags::RDHUP)
    }

    /// Whether the other side neither sends nor takes anything any more, as far as is known: of TCP that shows when
    /// something was sent to it.
    pub(crate) fn is_closed(&self) -> bool {
        self.shows(PollFlags::empty())
    }

    /// Whether it has ended, or shows `flags`.
    fn shows(&self, flags: PollFlags) -> bool {
        let mut polled = [PollFd::new(self, flags)];
        let found = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        found.is_ok_and(|found| found > 0)
    }

    /// No more is read: who waits for more sees the end.
    pub(crate) fn end_reading(&self) {
        // A client that is gone already has nothing to be told.
        let _ = match self {
            Socket::Unix(of) => of.shutdown(Shutdown::Read),
            Socket::Tcp(of) => of.shutdown(Shutdown::Read),
        };
    }

    /// The connection ends now, in both directions.
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

/// Waits until there is something to take from `of`, and so long at most.
pub(crate) fn wait_for(of: &impl AsFd, limit: Duration) -> io::Result<()> {
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(of, PollFlags::IN)], Some(&limit)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Nothing happens in this thread for so long.
#[expect(clippy::disallowed_methods, reason = "the server waits for clients in wall time")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
