//! Where clients come: a unix socket, or TCP; beyond this machine only with encryption.

#![expect(clippy::disallowed_types, reason = "sockets belong here")]

use crate::socket::{Socket, wait_for};
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

/// An address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A unix socket at a path.
    Unix(PathBuf),
    /// A port of a host.
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
        "{0} is reached from other machines, and connections are not encrypted; give certificates with --tls FOLDER, or use unix:PATH or tcp:127.0.0.1:PORT"
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
    /// Listens on `address`; beyond this machine only where connections `are_encrypted`.
    pub(crate) fn bind(address: &Address, are_encrypted: bool) -> Result<Listener, AddressError> {
        let listener = match address {
            Address::Unix(path) => {
                let name = format!("unix:{}", path.display());
                let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                Listener::Unix(bind_unix(path).map_err(|error| refused(&name, error))?, whole)
            }
            Address::Tcp(host) => {
                let name = format!("tcp:{host}");
                let addresses: Vec<SocketAddr> = match host.to_socket_addrs() {
                    Ok(addresses) => addresses.collect(),
                    Err(error) => return Err(AddressError::System(name, error)),
                };
                if !are_encrypted && !addresses.iter().all(|address| address.ip().is_loopback()) {
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
    pub(crate) fn uri(&self, export: &str, are_encrypted: bool) -> String {
        let scheme = if are_encrypted { "nbds" } else { "nbd" };
        let export = escaped(export);
        match self {
            Listener::Unix(_, path) => {
                format!("{scheme}+unix:///{export}?socket={}", escaped(&path.to_string_lossy()))
            }
            Listener::Tcp(of) => {
                let address = of.local_addr().map_or_else(|_| "?".into(), |address| address.to_string());
                format!("{scheme}://{address}/{export}")
            }
        }
    }

    /// Waits for a client, and so long at most.
    pub(crate) fn wait(&self, limit: Duration) -> io::Result<()> {
        match self {
            Listener::Unix(of, _) => wait_for(of, limit),
            Listener::Tcp(of) => wait_for(of, limit),
        }
    }

    /// The next client, if one is there.
    pub(crate) fn accept(&self) -> io::Result<Option<Socket>> {
        let accepted = match self {
            Listener::Unix(of, _) => of.accept().map(|(stream, _)| Socket::Unix(stream)),
            Listener::Tcp(of) => of.accept().map(|(stream, _)| Socket::Tcp(stream)),
        };
        match accepted {
            Ok(socket) => {
                socket.prepare()?;
                Ok(Some(socket))
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

/// As it may stand in a URI (RFC 3986).
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let escape = |byte: u8| if is_plain(byte) { (byte as char).into() } else { format!("%{byte:02X}") };
    text.bytes().map(escape).collect()
}

fn refused(name: &str, error: io::Error) -> AddressError {
    match error.kind() {
        io::ErrorKind::AddrInUse => AddressError::InUse(name.into()),
        _ => AddressError::System(name.into(), error),
    }
}
