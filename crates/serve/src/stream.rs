//! A connection to one client, encrypted or not.

use crate::socket::{Socket, wait_for};
use crate::tls::{Certificates, Encryption};
use std::io;
use std::time::Duration;

/// What one client sends and is sent.
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

    /// All that follows is encrypted; the client begins. Errors: it cannot, or shows no certificate that counts.
    pub(crate) fn encrypt(&mut self, certificates: &Certificates) -> io::Result<()> {
        let mut encryption = Box::new(Encryption::new(certificates)?);
        encryption.shake_hands(&self.socket)?;
        self.encryption = Some(encryption);
        Ok(())
    }

    /// Waits for bytes and takes them; 0 at the end.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.encryption {
            None => self.socket.read(into),
            Some(encryption) => encryption.read(&self.socket, into),
        }
    }

    /// Takes what is there: 0 at the end, and `None` where there is nothing.
    pub(crate) fn read_now(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.encryption {
            None => self.socket.read_now(into),
            Some(encryption) => encryption.read_now(&self.socket, into),
        }
    }

    /// Waits until there may be something to take, and so long at most.
    pub(crate) fn wait(&self, limit: Duration) -> io::Result<()> {
        wait_for(&self.socket, limit)
    }

    /// Sends all of it.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.encryption {
            None => self.socket.write_all(bytes),
            Some(encryption) => encryption.write_all(&self.socket, bytes),
        }
    }

    /// The connection ends; an encrypted one says so, lest its end is taken for an attack.
    pub(crate) fn end(mut self) {
        if let Some(encryption) = &mut self.encryption {
            encryption.say_goodbye(&self.socket);
        }
        self.socket.end();
    }
}
