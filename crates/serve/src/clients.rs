//! Connected clients, their limit, and disconnection.

use crate::dropped::{Dropped, PATIENCE};
use crate::socket::{Socket, pause};
use crate::statistics::{Connections, Life};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Time for the last replies at the end of the server, before clients are disconnected.
const LAST_REPLIES: Duration = Duration::from_millis(800);
/// Time for the threads of disconnected clients to end. They wait only for the disk.
const CUT_OFF: Duration = Duration::from_secs(5);
/// Interval of checking whether the last clients have disconnected.
const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Connected clients.
pub(crate) struct Clients {
    most: usize,
    /// Whether new clients are rejected and connected ones are cut off at once.
    are_out: AtomicBool,
    /// Whether no more requests are read, while the last replies are sent.
    are_last: AtomicBool,
    present: Mutex<BTreeMap<u64, Present>>,
    came: AtomicU64,
    dropped: AtomicU64,
    last_drop: Mutex<Option<String>>,
}

/// A connected client.
struct Present {
    socket: Socket,
    /// Connection time until it selects an export; `None` if there is nothing to select.
    undecided_since: Option<Instant>,
    was_cut: bool,
}

impl Clients {
    /// No clients, with a limit of `most` at a time.
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

    /// Admits a client; `None` if the limit is reached. `undecided_since` is the start of its time to select
    /// an export.
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

    /// Notes that a client has selected an export: it may then be silent for any time.
    pub(crate) fn chose(&self, number: u64) {
        if let Some(client) = self.present().get_mut(&number) {
            client.undecided_since = None;
        }
    }

    /// Cuts off clients that connected [`PATIENCE`] before `now` and have not selected an export, active or
    /// not.
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

    /// Whether connected clients must leave without their last replies.
    pub(crate) fn are_out(&self) -> bool {
        self.are_out.load(Ordering::Relaxed)
    }

    /// Whether no more requests are accepted from connected clients, which may still wait for their last
    /// replies.
    pub(crate) fn are_last(&self) -> bool {
        self.are_last.load(Ordering::Relaxed)
    }

    /// A client was dropped.
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

    /// Cuts off all clients and rejects new ones until [`Clients::welcome`]; returns false if one does not
    /// disconnect.
    pub(crate) fn cut(&self) -> bool {
        // With the lock held, no client is between admission and registration.
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

    /// Waits for the last client to disconnect, with a timeout; returns false if one is still connected.
    fn are_gone(&self, patience: Duration) -> bool {
        let count = || self.present().len();
        let mut waited = Duration::ZERO;
        while count() > 0 && waited < patience {
            pause(CHECK_INTERVAL);
            waited += CHECK_INTERVAL;
        }
        count() == 0
    }

    /// Stops reading from all clients; those that do not accept the last replies in time are cut off.
    pub(crate) fn stop_reading(&self) {
        self.are_last.store(true, Ordering::Relaxed);
        self.present().values().for_each(|client| client.socket.end_reading());
        self.are_gone(LAST_REPLIES);
        self.cut();
    }

    /// Current and total number of clients.
    pub(crate) fn counted(&self) -> Connections {
        Connections {
            now: self.present().len() as u64,
            ever: self.came.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            last_drop: self.last_drop.lock().expect("the lock is not poisoned").clone(),
        }
    }

    pub(crate) fn life(&self) -> Life {
        let Connections { ever, dropped, last_drop, .. } = self.counted();
        Life { clients: ever, dropped, last_drop, ..Life::default() }
    }

    fn present(&self) -> MutexGuard<'_, BTreeMap<u64, Present>> {
        self.present.lock().expect("the lock is not poisoned")
    }
}

#[cfg(test)]
mod tests;
