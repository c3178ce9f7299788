//! The parts of one request, and which of them is done last.

use nacre_kernel::{Breakdown, Completion, Status, Time};

/// The parts of one request, served side by side: the breakdown keeps the one that is done last.
pub(crate) struct Parts {
    pub(crate) start: Time,
    pub(crate) from: usize,
    done: Time,
    status: Status,
}

impl Parts {
    #[inline]
    pub(crate) fn new(start: Time, breakdown: &Breakdown) -> Parts {
        Parts { start, from: breakdown.mark(), done: start, status: Status::Done }
    }

    /// Adds a part whose spans begin at mark `from`.
    #[inline]
    pub(crate) fn add(&mut self, part: Completion, from: usize, breakdown: &mut Breakdown) {
        if part.done > self.done {
            self.done = part.done;
            breakdown.drop_range(self.from, from);
        } else {
            breakdown.drop_range(from, breakdown.mark());
        }
        if part.status != Status::Done {
            self.status = part.status;
        }
    }

    #[inline]
    pub(crate) fn completion(&self) -> Completion {
        Completion { done: self.done, status: self.status }
    }
}
