//! Numbers in the order in which they were used last.

use nacre_kernel::state::State;

/// No number, or the end of the list: in links, numbers count from 1, so that tables are zero until they are touched.
const NONE: u32 = 0;

/// A list of numbers, the one used last first.
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
    /// Of numbers below `count`; none is listed.
    pub(super) fn new(count: usize) -> Recency {
        Recency { newer: vec![NONE; count], older: vec![NONE; count], newest: NONE, oldest: NONE, held: 0 }
    }

    /// How many are listed.
    pub(super) fn len(&self) -> u32 {
        self.held
    }

    /// `number`, which is not listed, is used.
    pub(super) fn add(&mut self, number: u32) {
        (self.newer[number as usize], self.older[number as usize]) = (NONE, self.newest);
        match self.newest {
            NONE => self.oldest = number + 1,
            newest => self.newer[newest as usize - 1] = number + 1,
        }
        self.newest = number + 1;
        self.held += 1;
    }

    /// `number`, which is listed, is used.
    #[inline]
    pub(super) fn touch(&mut self, number: u32) {
        if self.newest != number + 1 {
            self.remove(number);
            self.add(number);
        }
    }

    /// Takes the one used longest ago.
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
