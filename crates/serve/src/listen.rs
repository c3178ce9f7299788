//! Where clients come: a unix socket, or TCP; beyond this machine only with encryption.

#![expect(clippy::disallowed_types, reason = "sockets belong here")]

use crate::socket::{Socket, wait_for};
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Callers of a private socket that may wait to be met.
const BACKLOG: i32 = 16;

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
    /// The metrics would be reached from other machines.
    #[error(
        "{0} is reached from other machines; metrics are for this one: use tcp:127.0.0.1:PORT or unix:PATH"
    )]
    MetricsNotLoopback(String),
    /// Longer than the system takes for a socket.
    #[error("{0}: the path is too long for a socket, which has about 100 characters; give a shorter one")]
    TooLong(String),
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
    Unix(UnixListener, Bound),
    Tcp(TcpListener),
}

/// The name of a socket. It goes with this, unless another server has taken it meanwhile.
pub(crate) struct Bound {
    path: PathBuf,
    /// Device and number of the socket's file.
    identity: Option<(u64, u64)>,
}

impl Bound {
    fn new(path: PathBuf) -> Bound {
        let identity = identity(&path);
        Bound { path, identity }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            // It may have gone already; nothing depends on it any more.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = path.symlink_metadata().ok()?;
    Some((found.dev(), found.ino()))
}

impl Listener {
    /// Listens on `address`; beyond this machine only where connections `are_encrypted`.
    pub(crate) fn bind(address: &Address, are_encrypted: bool) -> Result<Listener, AddressError> {
        let listener = match address {
            Address::Unix(path) => {
                let name = format!("unix:{}", path.display());
                let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let bound = bind_unix(path, |path| UnixListener::bind(path));
                Listener::Unix(bound.map_err(|error| refused(&name, error))?, Bound::new(whole))
            }
            Address::Tcp(host) => {
                let name = format!("tcp:{host}");
                let addresses: Vec<SocketAddr> = match host.to_socket_addrs() {
                    Ok(addresses) => addresses.collect(),
                    Err(error) => return Err(AddressError::System(name, error)),
                };
                if !are_encrypted && !addresses.iter().all(is_of_this_machine) {
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

    /// Listens on a unix socket that nobody but its owner may use.
    pub(crate) fn bind_private(path: &Path) -> Result<Listener, AddressError> {
        let name = path.display().to_string();
        let bind = || {
            let listener = bind_unix(path, bind_owners)?;
            listener.set_nonblocking(true)?;
            Ok(Listener::Unix(listener, Bound::new(std::path::absolute(path)?)))
        };
        bind().map_err(|error| refused(&name, error))
    }

    /// Listens for those who read metrics: on this machine only, since nothing is encrypted.
    pub(crate) fn bind_for_metrics(address: &Address) -> Result<Listener, AddressError> {
        Listener::bind(address, false).map_err(|error| match error {
            AddressError::NotLoopback(name) => AddressError::MetricsNotLoopback(name),
            error => error,
        })
    }

    /// Where metrics are found.
    pub(crate) fn url(&self) -> String {
        match self {
            Listener::Unix(_, bound) => format!("unix:{}", bound.path.display()),
            Listener::Tcp(of) => {
                let address = of.local_addr().map_or_else(|_| "?".into(), |address| address.to_string());
                format!("http://{address}/metrics")
            }
        }
    }

    /// Where clients find it, as a URI of the NBD project.
    pub(crate) fn uri(&self, export: &str, are_encrypted: bool) -> String {
        let scheme = if are_encrypted { "nbds" } else { "nbd" };
        let export = escaped(export);
        match self {
            Listener::Unix(_, bound) => {
                format!("{scheme}+unix:///{export}?socket={}", escaped(&bound.path.to_string_lossy()))
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

/// Whether nobody else reaches it. Loopback addresses of IPv4 may be written as IPv6 has them.
fn is_of_this_machine(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Binds a unix socket. The socket of a server that was killed is in the way and nobody answers on it: it goes.
fn bind_unix(path: &Path, bind: impl Fn(&Path) -> io::Result<UnixListener>) -> io::Result<UnixListener> {
    match bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let is_socket = std::os::unix::fs::FileTypeExt::is_socket(&path.symlink_metadata()?.file_type());
            // A server that is too busy to take one more is there, too.
            let is_refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
            if !is_socket || !UnixStream::connect(path).is_err_and(is_refused) {
                return Err(error);
            }
            std::fs::remove_file(path)?;
            bind(path)
        }
        bound => bound,
    }
}

/// Binds a unix socket that from the beginning is its owner's alone: its mode is set before it has a name.
fn bind_owners(path: &Path) -> io::Result<UnixListener> {
    use rustix::fs::{Mode, fchmod};
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
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
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename => AddressError::TooLong(name.into()),
        _ => AddressError::System(name.into(), error),
    }
}

#[cfg(test)]
mod tests;
