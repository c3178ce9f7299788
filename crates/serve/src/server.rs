//! The server: it listens, gives every client a thread, and ends when it is asked to.

use crate::connection::{LAST_WORDS, talk};
use crate::image::{Image, ImageError};
use crate::linger::Places;
use crate::listen::{Address, AddressError, Listener};
use crate::model::{Latencies, Model, Timing};
use crate::serving::Disk;
use crate::socket::Socket;
use crate::stream::Stream;
use crate::tls::{CertificateError, Certificates};
use crate::transport::Transport;
use nacre_kernel::Device;
use nacre_nbd::{BlockSizes, Export};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, Scope};
use std::time::Duration;

/// Clients that may be there at a time; more are turned away.
const CLIENTS_MAX: usize = 256;
/// How often the server asks whether it is to end.
const GLANCE: Duration = Duration::from_millis(50);
/// How often it looks whether the last clients have gone.
const BLINK: Duration = Duration::from_millis(2);
/// The stack of a client's thread; there may be many.
const STACK_BYTES: usize = 512 << 10;
/// The longest read or write, as clients are told.
const REQUEST_MAX: u32 = 32 << 20;

/// A device to be served.
pub struct Offer {
    /// What clients call it.
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// Its model, and with it its size.
    pub device: Box<dyn Device>,
    /// Where its bytes are.
    pub image: PathBuf,
    /// Whether it takes no writes.
    pub read_only: bool,
}

/// What a server cannot begin with.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Of the image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Of the address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Of the certificates.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    /// Two devices of one name.
    #[error("two devices are called {0:?}; give each a name of its own, as in --export NAME=SCENARIO:IMAGE")]
    SameName(String),
    /// The device has no size.
    #[error(
        "the stack serves every address and has no size; give it a capacity, for example --set stack.capacity=\"64 GiB\""
    )]
    NoSize,
}

/// A server that listens and has not begun to answer.
pub struct Server {
    listener: Listener,
    disks: Vec<Disk>,
    exports: Vec<Export>,
    certificates: Option<Certificates>,
    places: Places,
}

/// How a server serves.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Where clients come.
    pub address: Address,
    /// When requests are answered.
    pub timing: Timing,
    /// Who the server is: then every connection is encrypted.
    pub certificates: Option<Certificates>,
}

/// How a server's life went.
#[derive(Debug, Default)]
pub struct Life {
    /// Clients that came.
    pub clients: u64,
    /// Clients whose connection ended in the middle of a message or by a breach of the protocol, and why the
    /// last one did.
    pub dropped: u64,
    /// The reason of the last.
    pub last_drop: Option<String>,
    /// The name and the latencies of each export.
    pub exports: Vec<(String, Latencies)>,
}

impl Server {
    /// Opens the images and the address. Errors: one of them cannot be had; nothing was changed.
    pub fn open(offers: Vec<Offer>, terms: Terms) -> Result<Server, ServeError> {
        let transport = match terms.timing {
            Timing::None => Transport::default(),
            Timing::Emulated { .. } => Transport::measured(&terms.address),
        };
        let mut disks: Vec<Disk> = Vec::new();
        for offer in offers {
            if disks.iter().any(|disk| disk.export.name == offer.name) {
                return Err(ServeError::SameName(offer.name));
            }
            let bytes = offer.device.capacity().ok_or(ServeError::NoSize)?.0;
            let image = Image::open(&offer.image, bytes)?;
            let block = BlockSizes { minimum: 1, preferred: 4096, maximum: REQUEST_MAX };
            let export = Export {
                name: offer.name,
                description: offer.description,
                bytes,
                read_only: offer.read_only,
                rotational: false,
                block,
            };
            disks.push(Disk { export, image, model: Model::new(offer.device, terms.timing, transport) });
        }
        let listener = Listener::bind(&terms.address, terms.certificates.is_some())?;
        let exports = disks.iter().map(|disk| disk.export.clone()).collect();
        Ok(Server { listener, disks, exports, certificates: terms.certificates, places: Places::new() })
    }

    /// Where clients find each export.
    pub fn uris(&self) -> Vec<String> {
        let are_encrypted = self.certificates.is_some();
        self.exports.iter().map(|export| self.listener.uri(&export.name, are_encrypted)).collect()
    }

    /// Bytes of each export.
    pub fn sizes(&self) -> Vec<u64> {
        self.exports.iter().map(|export| export.bytes).collect()
    }

    /// Answers clients until `stop` says so; it is asked about twenty times a second. Then whoever is there gets
    /// the answers that are under way, and the images are brought to the disk.
    pub fn run(self, stop: &mut dyn FnMut() -> bool) -> Life {
        let clients = Clients::default();
        std::thread::scope(|scope| {
            while !stop() {
                match self.listener.accept() {
                    Ok(Some(socket)) => self.welcome(socket, &clients, scope),
                    // A signal ends the wait early.
                    Ok(None) => drop(self.listener.wait(GLANCE)),
                    // A client that left before it was met, or too many open files: others still come.
                    Err(_) => pause(GLANCE),
                }
            }
            clients.send_home();
        });
        let mut life = clients.life();
        for disk in &self.disks {
            // Nobody is left to be told; what was flushed is safe, and the kernel keeps the rest.
            let _ = disk.image.sync();
            life.exports.push((disk.export.name.clone(), disk.model.latencies()));
        }
        life
    }

    /// Gives a client a thread of its own. Where there is no place for it, its connection ends.
    fn welcome<'scope, 'env>(
        &'env self,
        socket: Socket,
        clients: &'env Clients,
        scope: &'scope Scope<'scope, 'env>,
    ) {
        let Some(number) = clients.enter(&socket) else { return };
        let talk = move || {
            let mut stream = Stream::new(socket);
            let ended =
                talk(&mut stream, &self.disks, &self.exports, self.certificates.as_ref(), &self.places);
            stream.end();
            clients.leave(number, ended.map_err(|dropped| dropped.to_string()).err());
        };
        if let Err(error) = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, talk) {
            clients.leave(number, Some(error.to_string()));
        }
    }
}

/// The clients that are there.
#[derive(Default)]
struct Clients {
    streams: Mutex<BTreeMap<u64, Socket>>,
    came: AtomicU64,
    dropped: AtomicU64,
    last_drop: Mutex<Option<String>>,
}

impl Clients {
    /// A place for a client; `None` where there is none left.
    fn enter(&self, socket: &Socket) -> Option<u64> {
        let mut streams = self.streams.lock().expect("nobody panics with the lock");
        let number = self.came.fetch_add(1, Ordering::Relaxed);
        if streams.len() >= CLIENTS_MAX {
            socket.end();
            self.dropped.fetch_add(1, Ordering::Relaxed);
            *self.last_drop.lock().expect("nobody panics with the lock") =
                Some(format!("there were {CLIENTS_MAX} clients already"));
            return None;
        }
        streams.insert(number, socket.try_clone().ok()?);
        Some(number)
    }

    fn leave(&self, number: u64, why: Option<String>) {
        self.streams.lock().expect("nobody panics with the lock").remove(&number);
        if let Some(why) = why {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            *self.last_drop.lock().expect("nobody panics with the lock") = Some(why);
        }
    }

    /// Nothing more is read from anybody; who does not take the last answers in time is cut off.
    fn send_home(&self) {
        let count = || self.streams.lock().expect("nobody panics with the lock").len();
        self.streams.lock().expect("nobody panics with the lock").values().for_each(Socket::end_reading);
        let mut waited = Duration::ZERO;
        while count() > 0 && waited < LAST_WORDS {
            pause(BLINK);
            waited += BLINK;
        }
        self.streams.lock().expect("nobody panics with the lock").values().for_each(Socket::end);
    }

    fn life(&self) -> Life {
        Life {
            clients: self.came.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            last_drop: self.last_drop.lock().expect("nobody panics with the lock").clone(),
            exports: Vec::new(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the server waits for clients in wall time")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
