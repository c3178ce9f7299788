//! Least recently used.
//!
//! # Models
//! One queue in the order of last use; the block whose last use is longest ago leaves.
//!
//! # Leaves out
//! Nothing: this is exact LRU, not sampled.
//!
//! # Sources
//! R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger, "Evaluation techniques for storage
//! hierarchies", IBM Systems Journal 9(2), 1970. H. Che, Y. Tung, Z. Wang, "Hierarchical Web caching
//! systems", IEEE JSAC 20(7), 2002, for the closed form under independent references.
//!
//! # Checks
//! Hits equal the stack distances of Mattson's one pass for every capacity; a larger cache holds
//! whatever a smaller one holds; Che's law within .005; hits and victims equal a naive list.

use super::ReplacementFamily;
use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::Policy;
use nacre_config::{Card, Configuration, Room};

#[cfg(test)]
mod tests;

/// Least recently used has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The room.
pub const ROOM: Room<ReplacementFamily> = Room {
    card: Card::of::<Config>(
        "lru",
        "the block unused for longest leaves",
        &["Mattson, Gecsei, Slutz, Traiger 1970, Evaluation techniques for storage hierarchies"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(Lru::new(context.capacity, &slot.config(context.families)))),
};

const QUEUE: usize = 0;

/// The blocks in the order of their last use.
#[derive(Debug)]
pub struct Lru {
    arena: Arena<1>,
    capacity: usize,
}

impl Lru {
    /// An empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// If `capacity` is zero.
    pub fn new(capacity: usize, _config: &Config) -> Lru {
        assert!(capacity >= 1, "a cache holds at least one block");
        Lru { arena: Arena::new(capacity), capacity }
    }
}

impl Policy for Lru {
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
        self.arena.move_front(QUEUE, slot);
    }

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        let vacancy = found.expect_err("nothing is remembered after it left");
        if self.resident() < self.capacity {
            let slot = self.arena.enter(vacancy, block);
            self.arena.link_front(QUEUE, slot);
            return None;
        }
        let oldest = self.arena.back(QUEUE)?;
        let evicted = self.arena.rename(oldest, vacancy, block);
        self.arena.move_front(QUEUE, oldest);
        Some(evicted)
    }

    fn discard(&mut self, slot: Slot) {
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
        self.arena.warm_neighbours(blocks);
    }

    fn audit(&self) {
        self.arena.check_invariants();
    }
}
