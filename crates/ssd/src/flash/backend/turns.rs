//! Limits on the number of dies that erase or program simultaneously.

use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Grants that limit the number of dies that erase or program simultaneously. Limited erases keep other dies
/// writable. Limited programs respect a power budget.
#[derive(Debug, State)]
pub(super) struct Turns {
    /// Maximum number of operations; `None` means no limit.
    #[state(skip = "from the configuration")]
    most: Option<u32>,
    under_way: u32,
    /// Waiting operations, oldest first. Each entry has the number of the operation in issue order, and the
    /// command of an erase or the die of a program.
    #[state(varies)]
    waiting: VecDeque<(u64, u32)>,
}

impl Turns {
    /// Creates grants for at most `most` of `dies` dies.
    pub(super) fn new(most: Option<u32>, dies: u32) -> Turns {
        Turns { most: most.filter(|&most| most < dies), under_way: 0, waiting: VecDeque::new() }
    }

    /// Returns whether the number of simultaneous operations is limited.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        self.most.is_some()
    }

    /// Queues an operation for a grant, after the operations with a lower or equal number. A program may be
    /// queued repeatedly.
    pub(super) fn ask(&mut self, order: u64, who: u32) {
        let place = self.waiting.partition_point(|&(other, _)| other <= order);
        if place == 0 || self.waiting[place - 1] != (order, who) {
            self.waiting.insert(place, (order, who));
        }
    }

    /// Removes and returns the oldest waiting operation if `is_ready` accepts it and the limit permits
    /// another operation.
    pub(super) fn next(&mut self, is_ready: impl Fn(u32) -> bool) -> Option<u32> {
        let may_start = Some(self.under_way) != self.most;
        self.waiting.pop_front_if(|(_, first)| may_start && is_ready(*first)).map(|(_, first)| first)
    }

    /// Removes and returns the first waiting operation that `is_it` accepts. It starts without a grant.
    pub(super) fn take(&mut self, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let place = self.waiting.iter().position(|&(_, who)| is_it(who))?;
        self.waiting.remove(place).map(|(_, who)| who)
    }

    /// Records the start of a granted operation.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.under_way += 1;
    }

    /// Records the end of a granted operation.
    #[inline]
    pub(super) fn end(&mut self) {
        self.under_way -= 1;
    }

    pub(super) fn clear(&mut self) {
        self.under_way = 0;
        self.waiting.clear();
    }
}
