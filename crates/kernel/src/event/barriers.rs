//! Barriers, e.g. flushes, which wait until all earlier operations have ended.

use crate::state::{State, Value};

/// Marks the start of an operation relative to the barriers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Ticket(u64);

/// Barriers for operations, e.g. flushes for writes. A barrier completes when all operations that started
/// before it have ended. Later operations do not delay the barrier.
#[derive(Clone, Debug, State)]
#[state(bound = "W: Value")]
pub struct Barriers<W> {
    /// Number of operations in progress.
    open: u32,
    /// Number of barriers added so far.
    number: u64,
    #[state(varies)]
    waiting: Vec<Barrier<W>>,
}

#[derive(Clone, Debug, Value)]
#[state(bound = "W: Value")]
struct Barrier<W> {
    who: W,
    left: u32,
    number: u64,
}

impl<W> Default for Barriers<W> {
    fn default() -> Barriers<W> {
        Barriers { open: 0, number: 0, waiting: Vec::new() }
    }
}

impl<W> Barriers<W> {
    /// Creates an object without operations and barriers.
    pub fn new() -> Barriers<W> {
        Barriers::default()
    }

    /// Starts an operation and returns its ticket.
    #[inline]
    pub fn begin(&mut self) -> Ticket {
        self.open += 1;
        Ticket(self.number)
    }

    /// Ends the operation with this ticket. Calls `over` for each barrier that no longer waits for an
    /// operation, oldest first.
    #[inline]
    pub fn end(&mut self, ticket: Ticket, over: impl FnMut(W)) {
        self.open -= 1;
        if !self.waiting.is_empty() {
            self.release(ticket, over);
        }
    }

    #[cold]
    fn release(&mut self, Ticket(before): Ticket, mut over: impl FnMut(W)) {
        for barrier in self.waiting.iter_mut().filter(|barrier| barrier.number > before) {
            barrier.left -= 1;
        }
        self.waiting.extract_if(.., |barrier| barrier.left == 0).for_each(|barrier| over(barrier.who));
    }

    /// Adds the barrier `who`, which waits until all operations in progress have ended. Returns `who` if no
    /// operation is in progress.
    pub fn wait(&mut self, who: W) -> Option<W> {
        self.number += 1;
        if self.open == 0 {
            return Some(who);
        }
        self.waiting.push(Barrier { who, left: self.open, number: self.number });
        None
    }

    /// Number of operations in progress.
    pub fn open(&self) -> u32 {
        self.open
    }

    /// Removes all operations and barriers.
    pub fn clear(&mut self) {
        self.open = 0;
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_waits_for_what_began_before_it_and_nothing_else() {
        let mut barriers = Barriers::new();
        assert_eq!(barriers.wait("first"), Some("first"), "nothing is open");
        let (one, two) = (barriers.begin(), barriers.begin());
        assert_eq!(barriers.wait("second"), None);
        let three = barriers.begin();
        assert_eq!(barriers.wait("third"), None);
        let mut over = Vec::new();
        barriers.end(two, |who| over.push(who));
        assert!(over.is_empty());
        barriers.end(three, |who| over.push(who));
        assert!(over.is_empty(), "the third waits for the first piece, too");
        barriers.end(one, |who| over.push(who));
        assert_eq!(over, ["second", "third"]);
        assert_eq!(barriers.open(), 0);
    }
}
