//! Second chance: a clock with one reference bit.
//!
//! # Models
//! Blocks on a ring; a use sets the block's reference bit. The hand goes round: where the bit is set
//! it clears it and goes on, where it is clear the block leaves and the newcomer takes the place.
//! A newcomer's bit is clear; its first use after it came in sets it.
//!
//! # Leaves out
//! Clearing by time, as an operating system's daemon does.
//!
//! # Sources
//! F. J. Corbato, "A paging experiment with the Multics system", MIT Project MAC report MAC-M-384,
//! 1968, with one bit. The clear bit of newcomers as in J. Yang, Z. Qiu, Y. Zhang, Y. Yue,
//! K. V. Rashmi, "FIFO can be better than LRU", HotOS'23.
//!
//! # Checks
//! Hits and victims equal a naive ring; without re-use it is first in, first out.

use super::ReplacementFamily;
use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::Policy;
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// Second chance with one bit has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The room.
pub const ROOM: Room<ReplacementFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "clock",
        "second chance: first in, first out with one reference bit",
        &[
            "Corbato 1968, A paging experiment with the Multics system",
            "Yang et al. 2023, FIFO can be better than LRU",
        ],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(Clock::new(context.capacity(), &slot.config(context.families())))),
};

const QUEUE: usize = 0;

/// The blocks on a ring with a hand. The use count of a node is its reference bit.
#[derive(Debug, State)]
pub struct Clock {
    arena: Arena<1>,
    hand: Slot,
    #[state(same)]
    capacity: usize,
}

impl Clock {
    /// An empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// If `capacity` is zero.
    pub fn new(capacity: usize, _config: &Config) -> Clock {
        assert!(capacity >= 1, "a cache holds at least one block");
        Clock { arena: Arena::new(capacity), hand: QUEUE as Slot, capacity }
    }
}

impl Policy for Clock {
    #[inline]
    fn find(&self, block: u64) -> Result<Slot, Vacancy> {
        self.arena.find(block)
    }

    #[inline]
    fn is_resident(&self, _slot: Slot) -> bool {
        true
    }

    #[inline]
    fn hit(&mut self, slot: Slot) {
        self.arena.set_uses(slot, 1);
    }

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        let vacancy = found.expect_err("nothing is remembered after it left");
        if self.resident() < self.capacity {
            let slot = self.arena.enter(vacancy, block);
            self.arena.link_before(QUEUE, slot, self.hand);
            return None;
        }
        let mut victim = self.arena.round(QUEUE, self.hand);
        while self.arena.uses(victim) > 0 {
            self.arena.set_uses(victim, 0);
            victim = self.arena.round(QUEUE, self.arena.after(victim));
        }
        self.hand = self.arena.after(victim);
        Some(self.arena.rename(victim, vacancy, block))
    }

    fn discard(&mut self, slot: Slot) {
        if slot == self.hand {
            self.hand = self.arena.after(slot);
        }
        self.arena.unlink(QUEUE, slot);
        self.arena.forget(slot);
    }

    #[inline]
    fn resident(&self) -> usize {
        self.arena.len(QUEUE)
    }

    #[inline]
    fn most(&self) -> usize {
        self.capacity
    }

    #[inline]
    fn read_ahead(&self, blocks: &[u64]) {
        self.arena.prefetch(blocks);
    }

    fn audit(&self) {
        self.arena.check_invariants();
    }
}
