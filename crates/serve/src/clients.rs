//! The list of connected clients, the limit on their number, and their disconnection.

use crate::dropped::{Dropped, PATIENCE};
use crate::socket::{Socket, pause};
use crate::statistics::{Connections, ServerSummary};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Time that clients have to receive their last replies when the server stops. Afterwards, the server
/// disconnects them.
const LAST_REPLIES: Duration = Duration::from_millis(800);
/// Maximum time for which the server waits for the threads of disconnected clients to end. These threads
/// wait only for the disk.
const CUT_OFF: Duration = Duration::from_secs(5);
/// Interval at which the server checks whether the last clients have disconnected.
const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Connected clients.
pub(crate) struct Clients {
    most: usize,
    /// Whether the server rejects new clients and disconnects connected clients immediately.
    are_out: AtomicBool,
    /// Whether the server has stopped reading requests and only sends the last replies.
    are_last: AtomicBool,
    present: Mutex<BTreeMap<u64, Present>>,
    came: AtomicU64,
    dropped: AtomicU64,
    last_drop: Mutex<Option<String>>,
}

/// A connected client.
struct Present {
    socket: Socket,
    /// Time at which the client connected, if it still has to select an export. `None` otherwise.
    undecided_since: Option<Instant>,
    was_cut: bool,
}

impl Clients {
    /// Creates an empty list with a limit of `most` concurrent clients.
    pub(crate) fn of_at_most(most: usize) -> Clients {
        Clients {
            most,
            are_out: AtomicBool::default(),
            are_last: AtomicBool::default(),
            present: Mutex::default(),
            came: AtomicU64::default(),
            dropped: AtomicU64::default(),
            last_drop: Mutex::default(),
        }
    }

    /// Admits a client and returns its number. Returns `None` if clients are rejected or the limit is
    /// reached. `undecided_since` is the time at which the client connected, if it has to select an export.
    pub(crate) fn enter(&self, socket: &Socket, undecided_since: Option<Instant>) -> Option<u64> {
        let mut present = self.present();
        if self.are_out.load(Ordering::Relaxed) {
            socket.end();
            return None;
        }
        let number = self.came.fetch_add(1, Ordering::Relaxed);
        if present.len() >= self.most {
            socket.end();
            self.note(format!("the limit of {} clients was reached", self.most));
            return None;
        }
        let socket = socket.try_clone().inspect_err(|error| self.note(error.to_string())).ok()?;
        present.insert(number, Present { socket, undecided_since, was_cut: false });
        Some(number)
    }

    /// Records that a client has selected an export. The client may then be silent for any time.
    pub(crate) fn chose(&self, number: u64) {
        if let Some(client) = self.present().get_mut(&number) {
            client.undecided_since = None;
        }
    }

    /// Disconnects clients that connected at least [`PATIENCE`] before `now` and have not selected an export,
    /// even if they are active.
    pub(crate) fn cut_undecided(&self, now: Instant) {
        for client in self.present().values_mut() {
            let is_late = |since| now.saturating_duration_since(since) > PATIENCE;
            if client.undecided_since.is_some_and(is_late) {
                client.socket.end();
                client.was_cut = true;
                client.undecided_since = None;
            }
        }
    }

    /// Returns whether connected clients must be disconnected without their last replies.
    pub(crate) fn are_out(&self) -> bool {
        self.are_out.load(Ordering::Relaxed)
    }

    /// Returns whether no more requests are accepted. Connected clients may still wait for their last
    /// replies.
    pub(crate) fn are_last(&self) -> bool {
        self.are_last.load(Ordering::Relaxed)
    }

    /// Records the reason why a client was disconnected.
    pub(crate) fn note(&self, why: String) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        *self.last_drop.lock().expect("the lock is not poisoned") = Some(why);
    }

    pub(crate) fn leave(&self, number: u64, why: Option<String>) {
        let left = self.present().remove(&number);
        let was_cut = left.is_some_and(|client| client.was_cut).then(|| Dropped::Undecided.to_string());
        if let Some(why) = was_cut.or(why).filter(|_| !self.are_out()) {
            self.note(why);
        }
    }

    /// Disconnects all clients and rejects new ones until [`Clients::welcome`]. Returns `false` if a client
    /// does not disconnect.
    pub(crate) fn cut(&self) -> bool {
        // While the lock is held, no client is between admission and registration.
        let present = self.present();
        self.are_out.store(true, Ordering::Relaxed);
        present.values().for_each(|client| client.socket.end());
        drop(present);
        self.are_gone(CUT_OFF)
    }

    /// Admits clients again.
    pub(crate) fn welcome(&self) {
        self.are_out.store(false, Ordering::Relaxed);
    }

    /// Waits up to `patience` until all clients have disconnected. Returns `false` if a client is still
    /// connected.
    fn are_gone(&self, patience: Duration) -> bool {
        let count = || self.present().len();
        let mut waited = Duration::ZERO;
        while count() > 0 && waited < patience {
            pause(CHECK_INTERVAL);
            waited += CHECK_INTERVAL;
        }
        count() == 0
    }

    /// Stops reading from all clients, and waits until they have received the last replies. Then disconnects
    /// all remaining clients.
    pub(crate) fn stop_reading(&self) {
        self.are_last.store(true, Ordering::Relaxed);
        self.present().values().for_each(|client| client.socket.end_reading());
        self.are_gone(LAST_REPLIES);
        self.cut();
    }

    /// Returns the current and total numbers of clients.
    pub(crate) fn counted(&self) -> Connections {
        Connections {
            now: self.present().len() as u64,
            ever: self.came.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            last_drop: self.last_drop.lock().expect("the lock is not poisoned").clone(),
        }
    }

    pub(crate) fn summary(&self) -> ServerSummary {
        let Connections { ever, dropped, last_drop, .. } = self.counted();
        ServerSummary { clients: ever, dropped, last_drop, ..ServerSummary::default() }
    }

    fn present(&self) -> MutexGuard<'_, BTreeMap<u64, Present>> {
        self.present.lock().expect("the lock is not poisoned")
    }
}

#[cfg(test)]
mod tests;
