//! Listening sockets: a Unix socket or TCP. A socket that is reachable from other machines requires
//! encryption.

#![expect(clippy::disallowed_types, reason = "sockets belong here")]

use crate::socket::{Socket, pause, wait_for};
use nacre_kernel::ErrorCode;
use std::fs::{File, TryLockError};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of connections to a private socket that wait to be accepted.
const BACKLOG: i32 = 16;

/// Number of attempts to lock the folder of a socket.
const LOCK_TRIES: u32 = 500;
/// Pause between two attempts to lock the folder of a socket. All attempts together take one second.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket at a path.
    Unix(PathBuf),
    /// A host and a port.
    Tcp(String),
}

/// Reason why the server cannot listen on an address.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// The text is not an address.
    #[error("{0:?} is not an address; write unix:PATH or tcp:HOST:PORT")]
    Unreadable(String),
    /// The address would be reachable from other machines.
    #[error(
        "{0} is reachable from other machines, but connections are not encrypted; add certificates with \
         --tls FOLDER, or use unix:PATH or tcp:127.0.0.1:PORT"
    )]
    NotLoopback(String),
    /// The metrics would be reachable from other machines.
    #[error(
        "{0} is reachable from other machines; metrics are local only: use tcp:127.0.0.1:PORT or unix:PATH"
    )]
    MetricsNotLoopback(String),
    /// The path is longer than the system allows for a socket.
    #[error("{0}: the path is too long for a socket, which has about 100 characters; give a shorter one")]
    TooLong(String),
    /// Another server listens on the address.
    #[error("{0}: another server listens on it; stop it first, or use another address")]
    InUse(String),
    /// The system refuses to open the socket.
    #[error("{0}: {1}")]
    System(String, io::Error),
}

impl AddressError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            AddressError::InUse(_) => ErrorCode::InUse,
            AddressError::System(_, error) => ErrorCode::of_io(error),
            _ => ErrorCode::InvalidAddress,
        }
    }
}

impl Address {
    /// Parses an address of the form `unix:PATH` or `tcp:HOST:PORT`.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Address::Unix(PathBuf::from(path))),
            Some(("tcp", host)) if host.contains(':') => Ok(Address::Tcp(host.into())),
            _ => Err(AddressError::Unreadable(text.into())),
        }
    }
}

/// A socket that waits for clients.
pub(crate) enum Listener {
    /// A Unix socket. Its file is removed before the socket is closed, because no other file can have the
    /// inode number of the file while the socket exists.
    Unix(Bound, UnixListener),
    /// A TCP socket, and the host as the user specified it.
    Tcp(TcpListener, String),
}

/// File of a bound Unix socket. Dropping it removes the file unless another server has replaced it.
pub(crate) struct Bound {
    path: PathBuf,
    /// Device and inode number of the socket file, if known.
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
            // The file may already have been removed, so errors are ignored.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = path.symlink_metadata().ok()?;
    Some((found.dev(), found.ino()))
}

impl Listener {
    /// Listens on `address`. An address that is reachable from other machines is permitted only if
    /// `are_encrypted` is set.
    pub(crate) fn bind(address: &Address, are_encrypted: bool) -> Result<Listener, AddressError> {
        let listener = match address {
            Address::Unix(path) => {
                let name = format!("unix:{}", path.display());
                let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let bound = bind_unix(path, |path| UnixListener::bind(path));
                let of = bound.map_err(|error| refused(&name, error))?;
                Listener::Unix(Bound::new(whole), of)
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
                let bound = TcpListener::bind(&*addresses).map_err(|error| refused(&name, error))?;
                let (given, _) = host.rsplit_once(':').unwrap_or((host, ""));
                Listener::Tcp(bound, given.into())
            }
        };
        match &listener {
            Listener::Unix(_, of) => of.set_nonblocking(true),
            Listener::Tcp(of, _) => of.set_nonblocking(true),
        }
        .map_err(|error| AddressError::System("the socket".into(), error))?;
        Ok(listener)
    }

    /// Listens on a Unix socket that only its owner can use.
    pub(crate) fn bind_private(path: &Path) -> Result<Listener, AddressError> {
        let name = path.display().to_string();
        let bind = || {
            let listener = bind_unix(path, bind_owners)?;
            listener.set_nonblocking(true)?;
            Ok(Listener::Unix(Bound::new(std::path::absolute(path)?), listener))
        };
        bind().map_err(|error| refused(&name, error))
    }

    /// Listens for metrics requests. Only addresses of this machine are permitted, because metrics are not
    /// encrypted.
    pub(crate) fn bind_for_metrics(address: &Address) -> Result<Listener, AddressError> {
        Listener::bind(address, false).map_err(|error| match error {
            AddressError::NotLoopback(name) => AddressError::MetricsNotLoopback(name),
            error => error,
        })
    }

    /// Returns the URL of the metrics.
    pub(crate) fn url(&self) -> String {
        match self {
            Listener::Unix(bound, _) => format!("unix:{}", bound.path.display()),
            Listener::Tcp(of, _) => {
                let address = of.local_addr().map_or_else(|_| "?".into(), |address| address.to_string());
                format!("http://{address}/metrics")
            }
        }
    }

    /// Returns whether `host` is a valid host in an HTTP request to this listener: an address or the name of
    /// this machine, with the port. Other names that resolve to this machine are invalid. With a Unix socket,
    /// every host is valid.
    pub(crate) fn is_host(&self, host: Option<&str>) -> bool {
        let Listener::Tcp(of, given) = self else { return true };
        let Some((name, port)) = host.and_then(|host| host.rsplit_once(':')) else { return false };
        let is_port = of.local_addr().is_ok_and(|address| port == address.port().to_string());
        let literal = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let is_loopback = literal.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
        let is_name = name.eq_ignore_ascii_case("localhost") || name.eq_ignore_ascii_case(given);
        is_port && (is_loopback || is_name)
    }

    /// Returns the NBD URI with which clients connect to `export`.
    pub(crate) fn uri(&self, export: &str, are_encrypted: bool) -> String {
        let scheme = if are_encrypted { "nbds" } else { "nbd" };
        let export = escaped(export);
        match self {
            Listener::Unix(bound, _) => {
                format!("{scheme}+unix:///{export}?socket={}", escaped(&bound.path.to_string_lossy()))
            }
            Listener::Tcp(of, _) => {
                let address = of.local_addr().map_or_else(|_| "?".into(), |address| address.to_string());
                format!("{scheme}://{address}/{export}")
            }
        }
    }

    /// Waits up to `limit` until a client connects.
    pub(crate) fn wait(&self, limit: Duration) -> io::Result<()> {
        match self {
            Listener::Unix(_, of) => wait_for(of, limit),
            Listener::Tcp(of, _) => wait_for(of, limit),
        }
    }

    /// Accepts the next waiting client. Returns `None` if no client waits.
    pub(crate) fn accept(&self) -> io::Result<Option<Socket>> {
        let accepted = match self {
            Listener::Unix(_, of) => of.accept().map(|(stream, _)| Socket::Unix(stream)),
            Listener::Tcp(of, _) => of.accept().map(|(stream, _)| Socket::Tcp(stream)),
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

/// Returns whether `address` is reachable only from this machine. Loopback addresses of IPv4 may be in IPv6
/// form.
fn is_of_this_machine(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Binds a Unix socket at `path`. If a socket file of a killed server exists there, removes the file first.
///
/// Servers lock the folder of the socket while they start. Without the lock, a server could take the socket
/// of a starting server, which is bound but does not listen yet, for a stale one. It could also remove a
/// socket with which another server has just replaced a stale one.
fn bind_unix(path: &Path, bind: impl Fn(&Path) -> io::Result<UnixListener>) -> io::Result<UnixListener> {
    let alone = alone_in_folder_of(path)?;
    match bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            if alone.is_none() || !is_dead(path)? {
                return Err(error);
            }
            std::fs::remove_file(path)?;
            bind(path)
        }
        bound => bound,
    }
}

/// Returns whether no server listens on the socket at `path`.
fn is_dead(path: &Path) -> io::Result<bool> {
    let is_socket = std::os::unix::fs::FileTypeExt::is_socket(&path.symlink_metadata()?.file_type());
    // A server that is too busy to accept a connection is still running.
    let is_refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    Ok(is_socket && UnixStream::connect(path).is_err_and(is_refused))
}

/// Opens and locks the folder of `path`. Returns `None` if the folder is not accessible, and an error if
/// another process holds the lock for too long.
#[expect(clippy::disallowed_methods, reason = "the folder of a socket")]
fn alone_in_folder_of(path: &Path) -> io::Result<Option<File>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) else { return Ok(None) };
    for _ in 0..LOCK_TRIES {
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) => pause(LOCK_PAUSE),
            // On a file system without locks, concurrent starts are not supported.
            _ => return Ok(Some(folder)),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another program keeps its folder locked"))
}

/// Binds a Unix socket that only its owner can use. The file mode is set before the socket has a name, so
/// that other users can never connect.
fn bind_owners(path: &Path) -> io::Result<UnixListener> {
    use rustix::fs::{Mode, fchmod};
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// Escapes `text` for a URI (RFC 3986).
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
