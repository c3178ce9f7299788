//! Work that has to end before other work begins: copies before the programs and erases that follow them, programs before
//! a flush.

use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Pieces of work in the order in which they begin, and who waits until all that began before have ended.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Prerequisites {
    /// Pieces that have begun.
    begun: u64,
    /// All pieces with numbers below have ended.
    ended_below: u64,
    /// From `ended_below` on: whether the piece has ended.
    #[state(varies)]
    ended: VecDeque<bool>,
    /// Who waits, behind the number of the first piece that need not have ended; in the order of these.
    #[state(varies)]
    waiting: VecDeque<(u64, u32)>,
}

impl Prerequisites {
    /// A piece of work begins; returns its number.
    #[inline]
    pub(crate) fn begin(&mut self) -> u64 {
        self.ended.push_back(false);
        self.begun += 1;
        self.begun - 1
    }

    /// The piece with this number has ended; those who wait no longer come out of [`Prerequisites::take_over`].
    #[inline]
    pub(crate) fn end(&mut self, number: u64) {
        self.ended[(number - self.ended_below) as usize] = true;
        while self.ended.front() == Some(&true) {
            self.ended.pop_front();
            self.ended_below += 1;
        }
    }

    /// `who` waits for all pieces that have begun. Returns whether there is something to wait for.
    #[inline]
    pub(crate) fn wait(&mut self, who: u32) -> bool {
        if self.ended_below == self.begun {
            return false;
        }
        self.waiting.push_back((self.begun, who));
        true
    }

    /// The next one who waits for nothing any more.
    #[inline]
    pub(crate) fn take_over(&mut self) -> Option<u32> {
        let &(before, who) = self.waiting.front()?;
        if before > self.ended_below {
            return None;
        }
        self.waiting.pop_front();
        Some(who)
    }

    /// Pieces that have begun and not ended.
    pub(crate) fn open(&self) -> usize {
        self.ended.iter().filter(|ended| !**ended).count()
    }

    /// Nothing is open and nobody waits.
    pub(crate) fn clear(&mut self) {
        self.ended_below = self.begun;
        self.ended.clear();
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_does_so_for_what_began_before_and_nothing_else() {
        let mut all = Prerequisites::default();
        assert!(!all.wait(1), "nothing is open");
        let (first, second) = (all.begin(), all.begin());
        assert!(all.wait(7));
        let third = all.begin();
        assert!(all.wait(8));
        all.end(second);
        assert_eq!(all.take_over(), None);
        all.end(third);
        assert_eq!(all.take_over(), None, "the first is still open");
        all.end(first);
        assert_eq!((all.take_over(), all.take_over(), all.take_over()), (Some(7), Some(8), None));
        assert_eq!(all.open(), 0);
    }
}
