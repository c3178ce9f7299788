//! State of power losses.

use crate::book::Book;
use crate::flash::backend::Unfinished;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Recovery, Time};

/// State left by power losses.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Outage {
    /// Time from which the drive serves requests.
    pub(crate) ready: Time,
    /// Effects of the last power loss, until power is restored.
    pub(crate) interrupted: Recovery,
    /// Erases that recovery repeats.
    pub(crate) erases: Erases,
    /// Total units programmed when the mapping was last saved at the end of a recovery, and at the end of the
    /// recovery that may be in progress.
    pub(crate) checkpoint: u64,
    pub(crate) next_checkpoint: u64,
}

/// Repeated erases, and their maximum per die.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Erases {
    pub(crate) all: u64,
    pub(crate) most: u64,
}

impl Outage {
    /// Records a power failure at `at`, with `unfinished` operations and its effects in `interrupted`.
    pub(crate) fn interrupt(
        &mut self,
        at: Time,
        unfinished: &Unfinished,
        interrupted: Recovery,
        book: &mut Book,
    ) {
        if at < self.ready {
            // The power loss interrupts a recovery: its erases are repeated, and it made no checkpoint.
            book.recovering = book.recovering - (self.ready - at);
        } else {
            self.checkpoint = self.next_checkpoint;
            self.erases = Erases::default();
        }
        self.erases.all += unfinished.erases;
        self.erases.most += unfinished.most_erases;
        self.interrupted = interrupted;
        self.ready = Time::ZERO;
    }

    /// Records restored power at `at`; `recovery` determines when the drive is ready.
    pub(crate) fn recovered(&mut self, at: Time, recovery: &Recovery, book: &mut Book) {
        self.ready = recovery.done;
        book.recoveries += 1;
        book.recovering += recovery.done - at;
        book.pages_scanned += recovery.pages_scanned;
    }
}
