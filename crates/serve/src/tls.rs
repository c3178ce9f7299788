//! Encryption: TLS with certificates. Clients request it with the NBD option `STARTTLS`.
//!
//! The folder of certificates has the layout of other NBD servers and clients: `server-cert.pem` with the
//! certificate chain, `server-key.pem`, and `ca-cert.pem`. If `ca-cert.pem` exists, clients need a
//! certificate from the certificate authority in this file. The library does not support pre-shared keys
//! (PSK).

use crate::socket::Socket;
use nacre_files::open_file;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of bytes of TLS records that are read from the socket at a time.
const RECORDS_BYTES: usize = 64 << 10;

/// Certificates of the server, and the certificate authority that must have issued the certificates of
/// clients, if any.
#[derive(Clone, Debug)]
pub struct Certificates {
    config: Arc<ServerConfig>,
    is_choosy: bool,
}

/// Error of a certificate file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct CertificateError {
    /// Path of the file.
    pub path: PathBuf,
    /// Description of the error.
    pub problem: String,
}

impl Certificates {
    /// Reads `server-cert.pem`, `server-key.pem`, and, if it exists, `ca-cert.pem` of `folder`.
    pub fn read(folder: &Path) -> Result<Certificates, CertificateError> {
        let own = folder.join("server-cert.pem");
        let chain = chain(&own)?;
        let key = folder.join("server-key.pem");
        let secret =
            PrivateKeyDer::from_pem_slice(&contents(&key)?).map_err(|error| unusable(&key, &error))?;
        let authority = folder.join("ca-cert.pem");
        // For a dangling link or an unreadable file, the read returns the error. The server accepts clients
        // without a certificate only if the folder has no entry with this name.
        let is_choosy = match authority.symlink_metadata() {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(unusable(&authority, &error)),
        };
        let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(folder, &error))?;
        let builder = if is_choosy {
            let mut roots = RootCertStore::empty();
            for certificate in self::chain(&authority)? {
                roots.add(certificate).map_err(|error| unusable(&authority, &error))?;
            }
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| unusable(&authority, &error))?)
        } else {
            builder.with_no_client_auth()
        };
        let config = builder.with_single_cert(chain, secret).map_err(|error| unusable(&own, &error))?;
        Ok(Certificates { config: Arc::new(config), is_choosy })
    }

    /// Returns whether the server accepts only clients with a certificate.
    pub fn is_choosy(&self) -> bool {
        self.is_choosy
    }
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let read = CertificateDer::pem_slice_iter(&contents(path)?).collect::<Result<Vec<_>, _>>();
    let chain = read.map_err(|error| unusable(path, &error))?;
    if chain.is_empty() {
        return Err(unusable(path, &"there is no certificate in it"));
    }
    Ok(chain)
}

fn contents(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let mut bytes = Vec::new();
    let read = open_file(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| unusable(path, &error))
}

fn unusable(path: &Path, problem: &impl ToString) -> CertificateError {
    CertificateError { path: path.to_path_buf(), problem: problem.to_string() }
}

/// TLS state of a connection.
pub(crate) struct Encryption {
    connection: ServerConnection,
    /// Received TLS records. The bytes between `from` and `to` are not decrypted yet.
    records: Vec<u8>,
    from: usize,
    to: usize,
}

impl Encryption {
    pub(crate) fn new(certificates: &Certificates) -> io::Result<Encryption> {
        let connection = ServerConnection::new(certificates.config.clone()).map_err(io::Error::other)?;
        Ok(Encryption { connection, records: vec![0; RECORDS_BYTES], from: 0, to: 0 })
    }

    /// Performs the handshake.
    pub(crate) fn shake_hands(&mut self, socket: &Socket) -> io::Result<()> {
        while self.connection.is_handshaking() {
            let bytes = socket.read(&mut self.records)?;
            if bytes == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            (self.from, self.to) = (0, bytes);
            while self.from < self.to && self.connection.is_handshaking() {
                self.decrypt(socket)?;
            }
        }
        self.send(socket)
    }

    pub(crate) fn read(&mut self, socket: &Socket, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(taken) = self.decrypted(socket, into)? {
                return Ok(taken);
            }
            (self.from, self.to) = (0, socket.read(&mut self.records)?);
            if self.to == 0 {
                return Ok(0);
            }
        }
    }

    pub(crate) fn read_now(&mut self, socket: &Socket, into: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            if let Some(taken) = self.decrypted(socket, into)? {
                return Ok(Some(taken));
            }
            let Some(bytes) = socket.read_now(&mut self.records)? else { return Ok(None) };
            (self.from, self.to) = (0, bytes);
            if bytes == 0 {
                return Ok(Some(0));
            }
        }
    }

    pub(crate) fn write_all(&mut self, socket: &Socket, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let taken = self.connection.writer().write(bytes)?;
            bytes = &bytes[taken..];
            self.send(socket)?;
        }
        Ok(())
    }

    pub(crate) fn say_goodbye(&mut self, socket: &Socket) {
        self.connection.send_close_notify();
        // If the client has disconnected, it does not need this data.
        let _ = self.send(socket);
    }

    /// Decrypts received data until some decrypted data is available, and copies this data to `into`. Returns
    /// `None` if more data must be received first.
    fn decrypted(&mut self, socket: &Socket, into: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.connection.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                taken => return taken.map(Some),
            }
            if self.from == self.to {
                return Ok(None);
            }
            self.decrypt(socket)?;
        }
    }

    /// Passes received data to the TLS library, which accepts a limited amount per call.
    fn decrypt(&mut self, socket: &Socket) -> io::Result<()> {
        let mut records = &self.records[self.from..self.to];
        self.from += self.connection.read_tls(&mut records)?;
        if let Err(error) = self.connection.process_new_packets() {
            // The alert with the reason is sent before the client is disconnected.
            let _ = self.send(socket);
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        self.send(socket)
    }

    /// Sends all encrypted data that is pending.
    fn send(&mut self, socket: &Socket) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut Sink(socket))?;
        }
        Ok(())
    }
}

/// A socket to which the TLS library writes encrypted data.
struct Sink<'a>(&'a Socket);

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
