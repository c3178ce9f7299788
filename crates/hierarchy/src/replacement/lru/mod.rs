//! Least recently used (LRU).
//!
//! # Model
//! The policy evicts the least recently used block. The order of the blocks is stored as a log of accesses,
//! not as a linked list. Every access appends an entry, and only the last entry of each resident block is
//! valid. The victim is the block with the oldest valid entry.
//!
//! # Not modeled
//! Nothing is left out: this is exact LRU, without sampling.
//!
//! # Sources
//! Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2), 1970. The
//! closed form for independent references is from Che et al., "Hierarchical Web caching systems", IEEE JSAC
//! 20(7), 2002.
//!
//! # Checks
//! For every capacity, the number of hits equals the number that Mattson's stack algorithm computes. A larger
//! cache holds every block that a smaller cache holds. The hit ratio is within 0.005 of Che's approximation.
//! A simple reference implementation with a list produces the same hits and evictions.

use super::ReplacementFamily;
use super::arena::Slot;
use super::index::{Vacancy, tag};
use super::policy::{Policy, Tracked};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;

mod keyed;
mod log;
#[cfg(test)]
mod tests;

use keyed::Keyed;
use log::Log;

/// LRU has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "lru",
        "evicts the least recently used block",
        &["Mattson, Gecsei, Slutz, Traiger 1970, Evaluation techniques for storage hierarchies"],
        3,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(Lru::new(context.capacity(), &slot.config(context.families())))),
};

/// Number of upcoming victims whose index positions are prefetched for a group of requests.
const VICTIMS: usize = 16;

/// An LRU cache, whose blocks are in a log of accesses.
#[derive(Debug, State)]
pub struct Lru {
    index: Keyed,
    log: Log,
    #[state(same)]
    capacity: usize,
}

impl Lru {
    /// Creates an empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// Panics if `capacity` is zero.
    pub fn new(capacity: usize, _config: &Config) -> Lru {
        assert!(capacity >= 1, "a cache holds at least one block");
        Lru { index: Keyed::new(capacity.saturating_add(1)), log: Log::new(capacity), capacity }
    }
}

impl Tracked for Lru {
    #[inline]
    fn find(&self, block: u64) -> Result<Slot, Vacancy> {
        self.index.find(block)
    }

    #[inline]
    fn is_resident(&self, _slot: Slot) -> bool {
        true
    }

    #[inline]
    fn resident(&self) -> usize {
        self.index.len()
    }

    #[inline]
    fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline]
    fn prefetch(&self, blocks: &[u64]) {
        if self.index.is_cached() {
            return;
        }
        blocks.iter().for_each(|&block| self.index.prefetch(tag(block)));
        self.log.oldest(VICTIMS, |tag| self.index.prefetch(tag));
    }

    fn check_invariants(&self) {
        self.index.check_invariants();
        self.log.check_invariants(&self.index);
    }
}

impl Policy for Lru {
    type Tracked = Lru;

    #[inline]
    fn tracked(&self) -> &Lru {
        self
    }

    #[inline(always)]
    fn hit(&mut self, place: Slot) {
        let latest = self.log.append(tag(self.index.block(place)));
        let before = std::mem::replace(self.index.slot_mut(place), latest);
        self.log.kill(before);
        self.log.make_room(&mut self.index);
    }

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        let vacancy = found.expect_err("nothing is remembered after it left");
        let oldest = if self.resident() == self.capacity { self.log.pop_oldest() } else { None };
        let latest = self.log.append(vacancy.tag);
        self.index.occupy(vacancy, block, latest);
        let evicted = oldest.map(|slot| self.index.vacate(self.log.tag(slot), slot));
        self.log.make_room(&mut self.index);
        evicted
    }

    fn discard(&mut self, place: Slot) {
        let (block, slot) = (self.index.block(place), *self.index.slot_mut(place));
        self.index.vacate(tag(block), slot);
        self.log.kill(slot);
    }
}
