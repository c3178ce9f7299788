//! SIEVE: lazy promotion and quick demotion with one queue and one moving hand.
//!
//! # Models
//! Newcomers enter at the head of a queue. A use sets the block's visited bit and moves nothing. On
//! a miss the hand moves from where it stopped towards the head, clears visited bits, and takes out
//! the first block that has none; after the head it starts at the tail again. Kept blocks stay where
//! they are, so newcomers are sifted soon.
//!
//! # Leaves out
//! Nothing.
//!
//! # Sources
//! Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi, "SIEVE is simpler than LRU: an efficient
//! turn-key eviction algorithm for Web caches", NSDI'24, algorithm 1.
//!
//! # Checks
//! Hits and victims equal a naive list with a hand; fewer misses than LRU on a Zipf sequence polluted
//! by scans.

use super::ReplacementFamily;
use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::Policy;
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// SIEVE has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The room.
pub const ROOM: Room<ReplacementFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "sieve",
        "a use marks a block, a moving hand takes the first unmarked one",
        &["Zhang et al. 2024, SIEVE is simpler than LRU, algorithm 1"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(Sieve::new(context.capacity(), &slot.config(context.families())))),
};

const QUEUE: usize = 0;

/// The queue and the hand. The use count of a node is its visited bit.
#[derive(Debug, State)]
pub struct Sieve {
    arena: Arena<1>,
    /// Where the search goes on; the end of the queue means at the tail.
    hand: Slot,
    #[state(same)]
    capacity: usize,
}

impl Sieve {
    /// An empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// If `capacity` is zero.
    pub fn new(capacity: usize, _config: &Config) -> Sieve {
        assert!(capacity >= 1, "a cache holds at least one block");
        Sieve { arena: Arena::new(capacity), hand: QUEUE as Slot, capacity }
    }

    /// The first block from the hand on that was not visited; clears the bits on the way. The hand
    /// is at no block only when the queue's end was reached, and its neighbour there is the tail.
    #[inline]
    fn sift(&mut self) -> Slot {
        let mut slot = self.hand;
        loop {
            if slot as usize == QUEUE {
                slot = self.arena.before(slot);
            }
            if self.arena.uses(slot) == 0 {
                return slot;
            }
            self.arena.set_uses(slot, 0);
            slot = self.arena.before(slot);
        }
    }
}

impl Policy for Sieve {
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
            self.arena.link_front(QUEUE, slot);
            return None;
        }
        let victim = self.sift();
        self.hand = self.arena.before(victim);
        let evicted = self.arena.rename(victim, vacancy, block);
        self.arena.move_front(QUEUE, victim);
        Some(evicted)
    }

    fn discard(&mut self, slot: Slot) {
        if slot == self.hand {
            self.hand = self.arena.before(slot);
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
