//! The server. It listens, runs a thread for every client, and stops on request.

use crate::attend::{attend, control, metrics};
use crate::awake;
use crate::clients::Clients;
use crate::connection::{ServerContext, talk};
use crate::linger::PollingSlots;
use crate::listen::{Address, Listener};
use crate::model::Timing;
use crate::offer::{Offer, ServeError};
use crate::opening;
use crate::serving::Disk;
use crate::shared_memory::{SHARED_BYTES, SharedMemory};
use crate::socket::{Socket, pause};
use crate::statistics::{Denied, ServerSummary};
use crate::stream::Stream;
use crate::threads;
use crate::tls::Certificates;
use crate::transport::Transport;
use crate::watch::{Watch, record};
use nacre_nbd::Export;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// Maximum number of connected clients. Further clients are rejected.
const CLIENTS_MAX: usize = 256;
/// Interval at which the server checks whether to stop.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Stack size of a client thread in bytes. It is small because the server may have many client threads.
const STACK_BYTES: usize = 512 << 10;

/// A server that listens on its address but does not serve clients yet.
pub struct Server {
    listener: Listener,
    disks: Vec<Disk>,
    exports: Vec<Export>,
    notices: Vec<String>,
    certificates: Option<Certificates>,
    places: PollingSlots,
    shared: SharedMemory,
    control: Option<Listener>,
    metrics: Option<Listener>,
}

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Address for clients.
    pub address: Address,
    /// Timing of replies.
    pub timing: Timing,
    /// Certificates; if given, every connection is encrypted.
    pub certificates: Option<Certificates>,
    /// Path of the control socket.
    pub control: Option<PathBuf>,
    /// Address at which metrics are served.
    pub metrics: Option<Address>,
    /// Path of a trace. If set, the requests to the first device are recorded from the start of the server.
    pub record: Option<PathBuf>,
    /// Whether the trace `record` may replace an existing file.
    pub force: bool,
}

impl Server {
    /// Opens the images, and listens on the address. If an error is returned, the images are unchanged.
    pub fn open(offers: Vec<Offer>, terms: Terms) -> Result<Server, ServeError> {
        let (transport, mut notices) = match terms.timing {
            Timing::None => (Transport::default(), Vec::new()),
            Timing::Emulated { .. } => {
                (Transport::measured(&terms.address), awake::notice().into_iter().collect())
            }
        };
        let mut disks: Vec<Disk> = Vec::new();
        for offer in offers {
            if disks.iter().any(|disk| disk.export.name == offer.name) {
                return Err(ServeError::SameName(offer.name));
            }
            let (disk, notice) = opening::open(offer, terms.timing, transport)?;
            disks.push(disk);
            notices.extend(notice);
        }
        let listener = Listener::bind(&terms.address, terms.certificates.is_some())?;
        let control = terms.control.as_deref().map(Listener::bind_private).transpose();
        let metrics = terms.metrics.as_ref().map(Listener::bind_for_metrics).transpose();
        let (control, metrics) =
            (control.map_err(ServeError::Control)?, metrics.map_err(ServeError::Metrics)?);
        if let (Some(path), Some(disk)) = (&terms.record, disks.first()) {
            record(disk, &disks, path, terms.force)?;
        }
        let exports = disks.iter().map(|disk| disk.export.clone()).collect();
        let certificates = terms.certificates;
        Ok(Server {
            listener,
            disks,
            exports,
            notices,
            certificates,
            control,
            metrics,
            places: PollingSlots::new(),
            shared: SharedMemory::of(SHARED_BYTES),
        })
    }

    /// Returns notes for the user about the opened images.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Returns the URIs of the exports.
    pub fn uris(&self) -> Vec<String> {
        let are_encrypted = self.certificates.is_some();
        self.exports.iter().map(|export| self.listener.uri(&export.name, are_encrypted)).collect()
    }

    /// Returns the address of the metrics: a URL or `unix:PATH`.
    pub fn metrics(&self) -> Option<String> {
        self.metrics.as_ref().map(Listener::url)
    }

    /// Returns the size of each export in bytes.
    pub fn sizes(&self) -> Vec<u64> {
        self.exports.iter().map(|export| export.bytes).collect()
    }

    /// Serves clients until `stop` returns `true`. The server calls `stop` about 20 times per second. When
    /// the server stops, connected clients get their outstanding replies, and the images are synced. The
    /// server calls `ready` when all its threads run, and stops if `ready` returns `false`.
    #[expect(clippy::disallowed_methods, reason = "each client has its own thread")]
    pub fn run(self, ready: &mut dyn FnMut() -> bool, stop: &mut dyn FnMut() -> bool) -> ServerSummary {
        let clients = Clients::of_at_most(CLIENTS_MAX);
        let is_over = AtomicBool::new(false);
        let watch = Watch { disks: &self.disks, clients: &clients, began: now(), is_over: &is_over };
        let mut denied = None;
        std::thread::scope(|scope| {
            let (watch, over) = (&watch, &is_over);
            let (is_here, here) = channel();
            let begun = [
                self.control.as_ref().map(|listener| {
                    let is_here = is_here.clone();
                    threads::spawn(scope, Builder::new(), move || {
                        let _ = is_here.send(());
                        attend(listener, over, |socket| control(socket, watch));
                    })
                }),
                self.metrics.as_ref().map(|listener| {
                    threads::spawn(scope, Builder::new(), move || {
                        let _ = is_here.send(());
                        attend(listener, over, |socket| metrics(listener, socket, watch));
                    })
                }),
            ];
            // A new thread needs memory.
            for _ in begun.iter().flatten().filter(|begun| begun.is_ok()) {
                let _ = here.recv();
            }
            if let Some(Err(error)) = begun.into_iter().flatten().find(Result::is_err) {
                let what = "no thread for the control socket or the metrics";
                denied = Some(Denied { what, error });
                over.store(true, Ordering::Relaxed);
            } else if !ready() {
                over.store(true, Ordering::Relaxed);
            }
            while !stop() && !is_over.load(Ordering::Relaxed) {
                clients.cut_undecided(now());
                match self.listener.accept() {
                    Ok(Some(socket)) => self.welcome(socket, &clients, scope),
                    // A signal ends the wait early, which is harmless.
                    Ok(None) => drop(self.listener.wait(CHECK_INTERVAL)),
                    // The client disconnected, or too many files are open. Other clients may still connect.
                    Err(_) => pause(CHECK_INTERVAL),
                }
            }
            is_over.store(true, Ordering::Relaxed);
            self.shared.close();
            clients.stop_reading();
        });
        let mut summary = ServerSummary { denied, ..clients.summary() };
        for disk in &self.disks {
            // Flushed data is durable. The kernel writes the other data unless the disk fails.
            if let Err(error) = disk.close() {
                summary.unsynced.get_or_insert_with(|| error.to_string());
            }
            // Without a recording, there is nothing to stop.
            let _ = disk.record_end();
            summary.exports.push(disk.statistics());
        }
        summary
    }

    /// Starts a thread that serves a client. If the client limit is reached or no thread can be started,
    /// closes the connection.
    fn welcome<'scope, 'env>(
        &'env self,
        socket: Socket,
        clients: &'env Clients,
        scope: &'scope Scope<'scope, 'env>,
    ) {
        let Some(number) = clients.enter(&socket, Some(now())) else { return };
        let talk = move || {
            let mut stream = Stream::new(socket);
            let context = ServerContext {
                disks: &self.disks,
                exports: &self.exports,
                certificates: self.certificates.as_ref(),
                places: &self.places,
                shared: &self.shared,
            };
            let ended = talk(&mut stream, &context, clients, number);
            stream.end();
            clients.leave(number, ended.map_err(|dropped| dropped.to_string()).err());
        };
        if let Err(error) = threads::spawn(scope, Builder::new().stack_size(STACK_BYTES), talk) {
            clients.leave(number, Some(error.to_string()));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a server serves in wall time")]
fn now() -> Instant {
    Instant::now()
}
