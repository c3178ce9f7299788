//! A connection to one client, which may be encrypted.

use crate::socket::{Socket, wait_for};
use crate::tls::{Certificates, Encryption};
use std::io;
use std::time::Duration;

/// Connection to a client, encrypted or not.
pub(crate) struct Stream {
    socket: Socket,
    encryption: Option<Box<Encryption>>,
}

impl Stream {
    pub(crate) fn new(socket: Socket) -> Stream {
        Stream { socket, encryption: None }
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Encrypts all following data, after a handshake that the client starts. Returns an error if the client
    /// cannot encrypt or has no valid certificate.
    pub(crate) fn encrypt(&mut self, certificates: &Certificates) -> io::Result<()> {
        let mut encryption = Box::new(Encryption::new(certificates)?);
        encryption.shake_hands(&self.socket)?;
        self.encryption = Some(encryption);
        Ok(())
    }

    /// Waits for bytes and reads them. Returns 0 at the end of the stream.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.encryption {
            None => self.socket.read(into),
            Some(encryption) => encryption.read(&self.socket, into),
        }
    }

    /// Reads available bytes. Returns 0 at the end of the stream, and `None` if no bytes are available.
    pub(crate) fn read_now(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.encryption {
            None => self.socket.read_now(into),
            Some(encryption) => encryption.read_now(&self.socket, into),
        }
    }

    /// Waits up to `limit` until the stream may be readable.
    pub(crate) fn wait(&self, limit: Duration) -> io::Result<()> {
        wait_for(&self.socket, limit)
    }

    /// Sends all bytes.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.encryption {
            None => self.socket.write_all(bytes),
            Some(encryption) => encryption.write_all(&self.socket, bytes),
        }
    }

    /// Closes the connection. An encrypted connection first sends a close notification, so that the client
    /// does not interpret the end as an attack.
    pub(crate) fn end(mut self) {
        if let Some(encryption) = &mut self.encryption {
            encryption.say_goodbye(&self.socket);
        }
        self.socket.end();
    }
}
