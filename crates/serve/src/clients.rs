//! Who is there, how many may be, and how they are sent away.

use crate::dropped::{Dropped, PATIENCE};
use crate::socket::{Socket, pause};
use crate::statistics::{Connections, Life};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long the last answers may take when the server ends, before their clients are cut off.
const LAST_WORDS: Duration = Duration::from_millis(800);
/// How long the threads of clients that were cut off may take to end. They wait for nothing but the disk.
const CUT_OFF: Duration = Duration::from_secs(5);
/// How often it is looked whether the last clients have gone.
const BLINK: Duration = Duration::from_millis(2);

/// The clients that are there.
pub(crate) struct Clients {
    most: usize,
    /// Whether nobody is let in, and whoever is there goes at once.
    are_out: AtomicBool,
    /// Whether nothing more is read from whoever is there, and the last answers leave.
    are_last: AtomicBool,
    present: Mutex<BTreeMap<u64, Present>>,
    came: AtomicU64,
    dropped: AtomicU64,
    last_drop: Mutex<Option<String>>,
}

/// A client that is there.
struct Present {
    socket: Socket,
    /// When it came, as long as it has not chosen an export; none if there is nothing to choose.
    undecided_since: Option<Instant>,
    was_cut: bool,
}

impl Clients {
    /// None yet, and never more than `most` at a time.
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

    /// A place for a client; `None` if there is none left. Since `undecided_since` it may choose.
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

    /// A client has chosen an export: it may be silent as long as it likes.
    pub(crate) fn chose(&self, number: u64) {
        if let Some(client) = self.present().get_mut(&number) {
            client.undecided_since = None;
        }
    }

    /// Cuts off who came [`PATIENCE`] before `now` and has not chosen, however much it says or does not take.
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

    /// Whether a client that is there has to go without its last answers.
    pub(crate) fn are_out(&self) -> bool {
        self.are_out.load(Ordering::Relaxed)
    }

    /// Whether the server takes nothing more from a client that is there, which may still wait for its last answers.
    pub(crate) fn are_last(&self) -> bool {
        self.are_last.load(Ordering::Relaxed)
    }

    /// A client was dropped.
    pub(crate) fn note(&self, why: String) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        *self.last_drop.lock().expect("nobody panics with the lock") = Some(why);
    }

    pub(crate) fn leave(&self, number: u64, why: Option<String>) {
        let left = self.present().remove(&number);
        let was_cut = left.is_some_and(|client| client.was_cut).then(|| Dropped::Undecided.to_string());
        if let Some(why) = was_cut.or(why).filter(|_| !self.are_out()) {
            self.note(why);
        }
    }

    /// Everybody is cut off, and nobody let in until [`Clients::welcome`]; false where one does not go.
    pub(crate) fn cut(&self) -> bool {
        // With the lock held nobody is between being let in and being there.
        let present = self.present();
        self.are_out.store(true, Ordering::Relaxed);
        present.values().for_each(|client| client.socket.end());
        drop(present);
        self.are_gone(CUT_OFF)
    }

    /// Clients may come again.
    pub(crate) fn welcome(&self) {
        self.are_out.store(false, Ordering::Relaxed);
    }

    /// Waits for the last client's end, and so long at most; false where one is still there.
    fn are_gone(&self, patience: Duration) -> bool {
        let count = || self.present().len();
        let mut waited = Duration::ZERO;
        while count() > 0 && waited < patience {
            pause(BLINK);
            waited += BLINK;
        }
        count() == 0
    }

    /// Nothing more is read from anybody; who does not take the last answers in time is cut off.
    pub(crate) fn send_home(&self) {
        self.are_last.store(true, Ordering::Relaxed);
        self.present().values().for_each(|client| client.socket.end_reading());
        self.are_gone(LAST_WORDS);
        self.cut();
    }

    /// How many there are and were.
    pub(crate) fn counted(&self) -> Connections {
        Connections {
            now: self.present().len() as u64,
            ever: self.came.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            last_drop: self.last_drop.lock().expect("nobody panics with the lock").clone(),
        }
    }

    pub(crate) fn life(&self) -> Life {
        let Connections { ever, dropped, last_drop, .. } = self.counted();
        Life { clients: ever, dropped, last_drop, ..Life::default() }
    }

    fn present(&self) -> MutexGuard<'_, BTreeMap<u64, Present>> {
        self.present.lock().expect("nobody panics with the lock")
    }
}

#[cfg(test)]
mod tests;
