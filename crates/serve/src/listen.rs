//! Where clients come: a unix socket, or TCP on this machine.

#![expect(clippy::disallowed_types, reason = "sockets belong here")]

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

/// An address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A unix socket at a path.
    Unix(PathBuf),
    /// A port of a host that is this machine.
    Tcp(String),
}

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// Not an address.
    #[error("{0:?} is no address; write unix:PATH, or tcp:HOST:PORT")]
    Unreadable(String),
    /// It would be reached from other machines.
    #[error(
        "{0} is reached from other machines, and connections are not encrypted; use unix:PATH, or tcp:127.0.0.1:PORT"
    )]
    NotLoopback(String),
    /// Somebody listens there.
    #[error("{0}: another server listens there; end it first, or give another address")]
    InUse(String),
    /// The system refuses.
    #[error("{0}: {1}")]
    System(String, io::Error),
}

impl Address {
    /// Reads `unix:PATH` or `tcp:HOST:PORT`.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Address::Unix(PathBuf::from(path))),
            Some(("tcp", host)) if host.contains(':') => Ok(Address::Tcp(host.into())),
            _ => Err(AddressError::Unreadable(text.into())),
        }
    }
}

/// Waits for clients.
pub(crate) enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

impl Listener {
    pub(crate) fn bind(address: &Address) -> Result<Listener, AddressError> {
        let listener = match address {
            Address::Unix(path) => {
                let name = format!("unix:{}", path.display());
                Listener::Unix(bind_unix(path).map_err(|error| refused(&name, error))?, path.clone())
            }
            Address::Tcp(host) => {
                let name = format!("tcp:{host}");
                let addresses: Vec<_> = match host.to_socket_addrs() {
                    Ok(addresses) => addresses.collect(),
                    Err(error) => return Err(AddressError::System(name, error)),
                };
                if !addresses.iter().all(|address| address.ip().is_loopback()) {
                    return Err(AddressError::NotLoopback(name));
                }
                Listener::Tcp(TcpListener::bind(&*addresses).map_err(|error| refused(&name, error))?)
            }
        };
        match &listener {
            Listener::Unix(of, _) => of.set_nonblocking(true),
            Listener::Tcp(of) => of.set_nonblocking(true),
        }
        .map_err(|error| AddressError::System("the socket".into(), error))?;
        Ok(listener)
    }

    /// Where clients find it, as a URI of the NBD project.
    pub(crate) fn uri(&self, export: &str) -> String {
        match self {
            Listener::Unix(_, path) => format!("nbd+unix:///{export}?socket={}", path.display()),
            Listener::Tcp(of) => {
                let address = of.local_addr().map_or_else(|_| "?".into(), |address| address.to_string());
                format!("nbd://{address}/{export}")
            }
        }
    }

    /// The next client, if one is there.
    pub(crate) fn accept(&self) -> io::Result<Option<Stream>> {
        let accepted = match self {
            Listener::Unix(of, _) => of.accept().map(|(stream, _)| Stream::Unix(stream)),
            Listener::Tcp(of) => of.accept().map(|(stream, _)| Stream::Tcp(stream)),
        };
        match accepted {
            Ok(stream) => {
                stream.prepare()?;
                Ok(Some(stream))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // It may have gone already; nothing depends on it any more.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Binds a unix socket. The socket of a server that was killed is in the way and nobody answers on it: it goes.
fn bind_unix(path: &std::path::Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let is_socket = std::os::unix::fs::FileTypeExt::is_socket(&path.symlink_metadata()?.file_type());
            if !is_socket || UnixStream::connect(path).is_ok() {
                return Err(error);
            }
            std::fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        bound => bound,
    }
}

fn refused(name: &str, error: io::Error) -> AddressError {
    match error.kind() {
        io::ErrorKind::AddrInUse => AddressError::InUse(name.into()),
        _ => AddressError::System(name.into(), error),
    }
}

/// A connection.
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn prepare(&self) -> io::Result<()> {
        match self {
            Stream::Unix(of) => of.set_nonblocking(false),
            Stream::Tcp(of) => of.set_nonblocking(false).and_then(|()| of.set_nodelay(true)),
        }
    }

    pub(crate) fn try_clone(&self) -> io::Result<Stream> {
        match self {
            Stream::Unix(of) => of.try_clone().map(Stream::Unix),
            Stream::Tcp(of) => of.try_clone().map(Stream::Tcp),
        }
    }

    /// How long a read or a write may take.
    pub(crate) fn set_patience(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(of) => of.set_read_timeout(limit).and_then(|()| of.set_write_timeout(limit)),
            Stream::Tcp(of) => of.set_read_timeout(limit).and_then(|()| of.set_write_timeout(limit)),
        }
    }

    /// No more is read: who waits for more sees the end.
    pub(crate) fn end_reading(&self) {
        // A client that is gone already has nothing to be told.
        let _ = match self {
            Stream::Unix(of) => of.shutdown(Shutdown::Read),
            Stream::Tcp(of) => of.shutdown(Shutdown::Read),
        };
    }

    /// The connection ends now, in both directions.
    pub(crate) fn end(&self) {
        let _ = match self {
            Stream::Unix(of) => of.shutdown(Shutdown::Both),
            Stream::Tcp(of) => of.shutdown(Shutdown::Both),
        };
    }
}

impl Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(of) => (&mut &*of).read(into),
            Stream::Tcp(of) => (&mut &*of).read(into),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(of) => (&mut &*of).write(bytes),
            Stream::Tcp(of) => (&mut &*of).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
