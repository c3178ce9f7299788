//! Numbers in order of recent use.

use nacre_kernel::state::State;

/// No number, or the end of the list. Links count numbers from 1, so that tables are zero until they are
/// used.
const NONE: u32 = 0;

/// A list of numbers, most recently used first.
#[derive(State)]
pub(super) struct Recency {
    #[state(sparse)]
    newer: Vec<u32>,
    #[state(sparse)]
    older: Vec<u32>,
    newest: u32,
    oldest: u32,
    held: u32,
}

impl Recency {
    /// An empty list for numbers below `count`.
    pub(super) fn new(count: usize) -> Recency {
        Recency { newer: vec![NONE; count], older: vec![NONE; count], newest: NONE, oldest: NONE, held: 0 }
    }

    /// Length of the list.
    pub(super) fn len(&self) -> u32 {
        self.held
    }

    /// Adds `number`, which is not in the list, as the most recently used.
    pub(super) fn add(&mut self, number: u32) {
        (self.newer[number as usize], self.older[number as usize]) = (NONE, self.newest);
        match self.newest {
            NONE => self.oldest = number + 1,
            newest => self.newer[newest as usize - 1] = number + 1,
        }
        self.newest = number + 1;
        self.held += 1;
    }

    /// Moves `number`, which is in the list, to the front.
    #[inline]
    pub(super) fn touch(&mut self, number: u32) {
        if self.newest != number + 1 {
            self.remove(number);
            self.add(number);
        }
    }

    /// Removes the least recently used number.
    pub(super) fn take_oldest(&mut self) -> Option<u32> {
        let oldest = self.oldest.checked_sub(1)?;
        self.remove(oldest);
        Some(oldest)
    }

    fn remove(&mut self, number: u32) {
        let (newer, older) = (self.newer[number as usize], self.older[number as usize]);
        match newer {
            NONE => self.newest = older,
            newer => self.older[newer as usize - 1] = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.newer[older as usize - 1] = newer,
        }
        self.held -= 1;
    }
}
