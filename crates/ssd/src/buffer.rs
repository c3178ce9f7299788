//! The slots of the write buffer. Each page program occupies one slot until the program ends.

use crate::config::BufferPlaces;
use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Slots, and the programs that occupy them.
#[derive(Clone, Debug, State)]
pub(crate) struct Slots {
    #[state(skip = "from the configuration")]
    how: BufferPlaces,
    /// Number of slots, excluding those of open operations.
    #[state(skip = "from the configuration")]
    count: u64,
    /// In a ring, the programs that hold a slot, in the order of allocation: the number of each program, and
    /// whether it has ended.
    #[state(varies)]
    holding: VecDeque<(u64, bool)>,
    /// Number of programs that have not ended.
    under_way: u64,
}

impl Slots {
    /// Creates `count` free slots. `how` determines the order in which slots are freed.
    pub(crate) fn new(how: BufferPlaces, count: u64) -> Slots {
        Slots { how, count, holding: VecDeque::new(), under_way: 0 }
    }

    /// Allocates a slot to program `number`.
    #[inline]
    pub(crate) fn take(&mut self, number: u64) {
        self.under_way += 1;
        if self.how == BufferPlaces::Ring {
            self.holding.push_back((number, false));
        }
    }

    /// Ends program `number` and frees its slot. A ring frees slots in the order of allocation.
    #[inline]
    pub(crate) fn give_back(&mut self, number: u64) {
        self.under_way -= 1;
        if self.how == BufferPlaces::Pool {
            return;
        }
        let place = self.holding.binary_search_by_key(&number, |(number, _)| *number);
        self.holding[place.expect("it holds a place")].1 = true;
        while self.holding.front().is_some_and(|(_, has_ended)| *has_ended) {
            self.holding.pop_front();
        }
    }

    /// Returns whether a slot is free for the next host write.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        let held = match self.how {
            BufferPlaces::Ring => self.holding.len() as u64,
            BufferPlaces::Pool => self.under_way,
        };
        held <= self.count
    }

    /// Frees all slots.
    pub(crate) fn clear(&mut self) {
        self.holding.clear();
        self.under_way = 0;
    }

    /// Panics if the number of running programs differs from the number of slots that they hold.
    pub(crate) fn check_invariants(&self) {
        if self.how == BufferPlaces::Ring {
            let under_way = self.holding.iter().filter(|(_, has_ended)| !has_ended).count();
            assert_eq!(under_way as u64, self.under_way, "programs with a place");
        }
    }
}
