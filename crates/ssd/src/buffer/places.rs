//! Places of the write buffer: a program holds one until it ends.

use crate::config::BufferPlaces;
use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Which programs hold a place.
#[derive(Clone, Debug, State)]
pub(crate) struct Places {
    #[state(skip = "from the configuration")]
    how: BufferPlaces,
    /// How many there are in addition to those that are being filled.
    #[state(skip = "from the configuration")]
    count: u64,
    /// Programs that hold a place, by their numbers in the order in which they took it, and whether each has ended.
    #[state(varies)]
    holding: VecDeque<(u64, bool)>,
    /// How many of them have not ended.
    under_way: u64,
}

impl Places {
    /// So many free places.
    pub(crate) fn new(how: BufferPlaces, count: u64) -> Places {
        Places { how, count, holding: VecDeque::new(), under_way: 0 }
    }

    /// The program with this number takes a place.
    #[inline]
    pub(crate) fn take(&mut self, number: u64) {
        self.under_way += 1;
        if self.how == BufferPlaces::Ring {
            self.holding.push_back((number, false));
        }
    }

    /// The program with this number has ended. As a ring, places are given back in the order in which they were taken.
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

    /// Whether there is a place for what the host writes next.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        let held = match self.how {
            BufferPlaces::Ring => self.holding.len() as u64,
            BufferPlaces::Pool => self.under_way,
        };
        held <= self.count
    }

    /// All are free.
    pub(crate) fn clear(&mut self) {
        self.holding.clear();
        self.under_way = 0;
    }

    /// Panics if places are counted wrong.
    pub(crate) fn check_invariants(&self) {
        if self.how == BufferPlaces::Ring {
            let under_way = self.holding.iter().filter(|(_, has_ended)| !has_ended).count();
            assert_eq!(under_way as u64, self.under_way, "programs with a place");
        }
    }
}
