//! The server: it listens, gives every client a thread, and ends when it is asked to.

use crate::connection::{LAST_WORDS, talk};
use crate::image::ImageError;
use crate::listen::{Address, AddressError, Listener, Stream};
use crate::model::{Latencies, Timing};
use crate::opening::{self, Watch};
use crate::serving::Disk;
use nacre_kernel::Device;
use nacre_nbd::Export;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Clients that may be there at a time; more are turned away.
const CLIENTS_MAX: usize = 256;
/// How often the server looks for clients and for its end.
const GLANCE: Duration = Duration::from_millis(10);

/// A device to be served.
pub struct Offer {
    /// What clients call it.
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// Its model, and with it its size.
    pub device: Box<dyn Device>,
    /// Lines `key = value` of everything that decides how the device behaves.
    pub identity: String,
    /// Chooses what a loss of power leaves of writes under way.
    pub seed: u64,
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
    notices: Vec<String>,
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
    /// Latencies, by export.
    pub latencies: Vec<Latencies>,
}

impl Server {
    /// Opens the image and the address. What was asked of the devices before is played back; `watch` is told how
    /// far that is and may stop it. Errors: one of them cannot be had; nothing was changed.
    pub fn open(
        offers: Vec<Offer>,
        address: &Address,
        timing: Timing,
        watch: &mut Watch<'_>,
    ) -> Result<Server, ServeError> {
        let (mut disks, mut notices) = (Vec::new(), Vec::new());
        for offer in offers {
            let (disk, told) = opening::open(offer, timing, watch)?;
            disks.push(disk);
            notices.extend(told);
        }
        let listener = Listener::bind(address)?;
        let exports = disks.iter().map(|disk| disk.export.clone()).collect();
        Ok(Server { listener, disks, exports, notices })
    }

    /// What was found while opening that its user should know.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Where clients find each export.
    pub fn uris(&self) -> Vec<String> {
        self.exports.iter().map(|export| self.listener.uri(&export.name)).collect()
    }

    /// Bytes of each export.
    pub fn sizes(&self) -> Vec<u64> {
        self.exports.iter().map(|export| export.bytes).collect()
    }

    /// Answers clients until `stop` says so; it is asked about ten times a second. Then whoever is there gets
    /// the answers that are under way, and the images are brought to the disk.
    pub fn run(self, stop: &mut dyn FnMut() -> bool) -> Life {
        let clients = Clients::default();
        std::thread::scope(|scope| {
            let mut glances = 0u32;
            loop {
                glances = glances.wrapping_add(1);
                if glances.is_multiple_of(10) && stop() {
                    break;
                }
                match self.listener.accept() {
                    Ok(Some(stream)) => {
                        let Some(entry) = clients.enter(&stream) else { continue };
                        let (clients, disks, exports) = (&clients, &self.disks, &self.exports);
                        scope.spawn(move || {
                            let ended = talk(&stream, disks, exports).map_err(|dropped| dropped.to_string());
                            stream.end();
                            clients.leave(entry, ended.err());
                        });
                    }
                    Ok(None) => pause(GLANCE),
                    // A client that left before it was met, or too many open files: others still come.
                    Err(_) => pause(GLANCE),
                }
            }
            clients.send_home();
        });
        let mut life = clients.life();
        for disk in &self.disks {
            // Nobody is left to be told; what was flushed is safe, and the kernel keeps the rest.
            if !disk.image.is_read_only() {
                let _ = disk.image.sync();
            }
            life.latencies.push(disk.model.latencies());
        }
        life
    }
}

/// The clients that are there.
#[derive(Default)]
struct Clients {
    streams: Mutex<BTreeMap<u64, Stream>>,
    came: AtomicU64,
    dropped: AtomicU64,
    last_drop: Mutex<Option<String>>,
}

impl Clients {
    /// A place for a client; `None` where there is none left.
    fn enter(&self, stream: &Stream) -> Option<u64> {
        let mut streams = self.streams.lock().expect("nobody panics with the lock");
        let number = self.came.fetch_add(1, Ordering::Relaxed);
        if streams.len() >= CLIENTS_MAX {
            stream.end();
            return None;
        }
        streams.insert(number, stream.try_clone().ok()?);
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
        self.streams.lock().expect("nobody panics with the lock").values().for_each(Stream::end_reading);
        let mut waited = Duration::ZERO;
        while count() > 0 && waited < LAST_WORDS {
            pause(GLANCE);
            waited += GLANCE;
        }
        self.streams.lock().expect("nobody panics with the lock").values().for_each(Stream::end);
    }

    fn life(&self) -> Life {
        Life {
            clients: self.came.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            last_drop: self.last_drop.lock().expect("nobody panics with the lock").clone(),
            latencies: Vec::new(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the server waits for clients in wall time")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
