//! Prerequisites of commands. Programs and erases wait for copies, and flushes wait for programs.

use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Operations in start order, and the commands or flushes that wait for all earlier operations.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Prerequisites {
    /// Number of operations that have started.
    begun: u64,
    /// Number below which all operations have ended.
    ended_below: u64,
    /// Whether each operation has ended, starting with number `ended_below`.
    #[state(varies)]
    ended: VecDeque<bool>,
    /// Waiting commands or flushes. Each has the number of the first operation on which it does not depend,
    /// and these numbers are in ascending order.
    #[state(varies)]
    waiting: VecDeque<(u64, u32)>,
}

impl Prerequisites {
    /// Starts an operation and returns its number.
    #[inline]
    pub(crate) fn begin(&mut self) -> u64 {
        self.ended.push_back(false);
        self.begun += 1;
        self.begun - 1
    }

    /// Ends the operation with this number. Waiters that have no unfinished prerequisites are then available
    /// from [`Prerequisites::take_over`].
    #[inline]
    pub(crate) fn end(&mut self, number: u64) {
        self.ended[(number - self.ended_below) as usize] = true;
        while self.ended.front() == Some(&true) {
            self.ended.pop_front();
            self.ended_below += 1;
        }
    }

    /// Makes `who` wait for all operations that have started. Returns false if all of them have already
    /// ended.
    #[inline]
    pub(crate) fn wait(&mut self, who: u32) -> bool {
        if self.ended_below == self.begun {
            return false;
        }
        self.waiting.push_back((self.begun, who));
        true
    }

    /// Removes and returns a waiter that has no unfinished prerequisites, if any.
    #[inline]
    pub(crate) fn take_over(&mut self) -> Option<u32> {
        let &(before, who) = self.waiting.front()?;
        if before > self.ended_below {
            return None;
        }
        self.waiting.pop_front();
        Some(who)
    }

    /// Returns the number of operations that have started and not ended.
    pub(crate) fn open(&self) -> usize {
        self.ended.iter().filter(|ended| !**ended).count()
    }

    /// Removes all operations and waiters.
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
    fn waiters_wait_for_all_earlier_items_and_no_others() {
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
