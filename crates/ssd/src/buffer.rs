//! Space in the write buffer. Each program occupies the space of its data until it ends.

use crate::config::BufferPlaces;
use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Space of the write buffer, and the programs that occupy it.
#[derive(Clone, Debug, State)]
pub(crate) struct Slots {
    #[state(skip = "from the configuration")]
    how: BufferPlaces,
    /// Size in bytes, excluding the space of open operations.
    #[state(skip = "from the configuration")]
    size: u64,
    /// Number and bytes of each program, in the order of allocation, and whether the program has ended. Ended
    /// programs behind an older program in progress remain.
    #[state(varies)]
    holding: VecDeque<(u64, u64, bool)>,
    /// Number of occupied bytes.
    used: u64,
}

impl Slots {
    /// Creates `size` bytes of free space. `how` determines the order in which space is freed.
    pub(crate) fn new(how: BufferPlaces, size: u64) -> Slots {
        Slots { how, size, holding: VecDeque::new(), used: 0 }
    }

    /// Allocates `bytes` to the program with this number.
    #[inline]
    pub(crate) fn take(&mut self, number: u64, bytes: u64) {
        self.used += bytes;
        self.holding.push_back((number, bytes, false));
    }

    /// Ends the program with this number and frees its space. A ring frees space in the order of allocation.
    #[inline]
    pub(crate) fn give_back(&mut self, number: u64) {
        let is_ring = self.how == BufferPlaces::Ring;
        let place = self.holding.binary_search_by_key(&number, |(number, ..)| *number);
        let (_, bytes, has_ended) = &mut self.holding[place.expect("it holds space")];
        *has_ended = true;
        self.used -= if is_ring { 0 } else { *bytes };
        while let Some((_, bytes, _)) = self.holding.pop_front_if(|(_, _, has_ended)| *has_ended) {
            self.used -= if is_ring { bytes } else { 0 };
        }
    }

    /// Returns whether the next host write has space.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.used <= self.size
    }

    /// Frees all space.
    pub(crate) fn clear(&mut self) {
        self.holding.clear();
        self.used = 0;
    }

    /// Panics if the occupied space is not that of the programs.
    pub(crate) fn check_invariants(&self) {
        let is_ring = self.how == BufferPlaces::Ring;
        let holding = self.holding.iter().filter(|(.., has_ended)| is_ring || !has_ended);
        assert_eq!(holding.map(|(_, bytes, _)| bytes).sum::<u64>(), self.used, "space of programs");
    }
}
