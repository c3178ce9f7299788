//! What is known of power losses.

use crate::book::Book;
use crate::flash::backend::Unfinished;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Recovery, Time};

/// What power losses left behind.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Outage {
    /// From when on the drive serves requests.
    pub(crate) ready: Time,
    /// What the last power loss did, until the power is back.
    pub(crate) interrupted: Recovery,
    /// Erases that recovery does again.
    pub(crate) erases: Erases,
    /// Units programmed in all when the mapping was last saved at the end of a recovery, and at the end of the one
    /// that may still be under way.
    pub(crate) checkpoint: u64,
    pub(crate) next_checkpoint: u64,
}

/// Erases that are done again, and how many on the die that has most.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Erases {
    pub(crate) all: u64,
    pub(crate) most: u64,
}

impl Outage {
    /// The power fails at `at`, with so much `unfinished`: what that did is `interrupted`.
    pub(crate) fn interrupt(
        &mut self,
        at: Time,
        unfinished: &Unfinished,
        interrupted: Recovery,
        book: &mut Book,
    ) {
        if at < self.ready {
            // A recovery is interrupted: its erases begin anew, and its checkpoint was not made.
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

    /// The power is back at `at`, and `recovery` says when the drive is ready.
    pub(crate) fn recovered(&mut self, at: Time, recovery: &Recovery, book: &mut Book) {
        self.ready = recovery.done;
        book.recoveries += 1;
        book.recovering += recovery.done - at;
        book.pages_scanned += recovery.pages_scanned;
    }
}
