//! ARC: adaptive replacement cache.
//!
//! # Model
//! Queue T1 holds blocks that were accessed once recently, and T2 holds blocks that were accessed at least
//! twice. Queues B1 and B2 track the blocks that were evicted from T1 and T2. A miss on a block in B1 shows
//! that T1 is too small, so it increases p, the target size of T1. A miss on a block in B2 decreases p. The
//! four queues together track at most twice as many blocks as the cache holds.
//!
//! # Not modeled
//! In the paper, blocks leave the cache only by replacement. In Nacre, a device can also remove a block. The
//! cache then has a free slot, and the procedure REPLACE of the paper does nothing until the cache is full
//! again.
//!
//! # Sources
//! Megiddo and Modha, "ARC: a self-tuning, low overhead replacement cache", FAST'03, figure 4. As in the
//! paper, the target size is a real number.
//!
//! # Checks
//! A simple implementation of figure 4 with lists produces the same hits and evictions. If a Zipf sequence is
//! interrupted by scans, ARC has fewer misses than LRU.

use super::ReplacementFamily;
use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::Policy;
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// ARC is self-tuning and has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "arc",
        "balances recency and frequency using its recent evictions",
        &["Megiddo and Modha 2003, ARC: a self-tuning, low overhead replacement cache, figure 4"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(Arc::new(context.capacity(), &slot.config(context.families())))),
};

const T1: usize = 0;
const T2: usize = 1;
const B1: usize = 2;
const B2: usize = 3;

/// An ARC cache with its four queues and the target length of T1.
#[derive(Debug, State)]
pub struct Arc {
    arena: Arena<4, 2>,
    /// Target length of T1, called p in the paper.
    target: f64,
}

impl Arc {
    /// Creates an empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// Panics if `capacity` is zero.
    pub fn new(capacity: usize, _config: &Config) -> Arc {
        assert!(capacity >= 1, "a cache holds at least one block");
        Arc { arena: Arena::new(capacity, capacity), target: 0.0 }
    }

    /// Handles cases II and III of the paper: the block at `slot` is in B1 or B2. Returns the evicted block,
    /// if any.
    fn recall(&mut self, slot: Slot) -> Option<u64> {
        let (first, second) = (self.arena.len(B1) as f64, self.arena.len(B2) as f64);
        let queue = self.arena.queue(slot);
        self.target = if queue == B1 {
            (self.target + (second / first).max(1.0)).min(self.arena.capacity() as f64)
        } else {
            (self.target - (first / second).max(1.0)).max(0.0)
        };
        let evicted = self.replace(queue == B2);
        self.arena.unlink(queue, slot);
        self.arena.link_front(T2, slot);
        evicted
    }

    /// Handles case IV of the paper: `block` is in none of the lists. Returns the evicted block, if any.
    fn meet(&mut self, vacancy: Vacancy, block: u64) -> Option<u64> {
        let slot = self.arena.enter(vacancy, block);
        let once = self.arena.len(T1) + self.arena.len(B1);
        let tracked = once + self.arena.len(T2) + self.arena.len(B2);
        let evicted = if once == self.arena.capacity() {
            match self.arena.pop_back(B1) {
                Some(oldest) => {
                    self.arena.forget(oldest);
                    self.replace(false)
                }
                None => self.arena.pop_back(T1).map(|oldest| self.arena.forget(oldest)),
            }
        } else {
            if tracked == 2 * self.arena.capacity()
                && let Some(oldest) = self.arena.pop_back(B2)
            {
                self.arena.forget(oldest);
            }
            self.replace(false)
        };
        self.arena.link_front(T1, slot);
        evicted
    }

    /// REPLACE of the paper: evicts a block if the cache is full. Returns the evicted block, if any.
    /// `in_b2` means that the new block is in B2.
    fn replace(&mut self, in_b2: bool) -> Option<u64> {
        if self.arena.resident() < self.arena.capacity() {
            return None;
        }
        let once = self.arena.len(T1) as f64;
        let from_first = once >= 1.0 && (once > self.target || (in_b2 && once == self.target));
        let (from, to) = if from_first { (T1, B1) } else { (T2, B2) };
        let victim = self.arena.pop_back(from).expect("the other queue is shorter than the cache");
        self.arena.link_front(to, victim);
        Some(self.arena.block(victim))
    }
}

impl Policy for Arc {
    type Tracked = Arena<4, 2>;

    #[inline]
    fn tracked(&self) -> &Arena<4, 2> {
        &self.arena
    }

    #[inline]
    fn hit(&mut self, slot: Slot) {
        self.arena.unlink(self.arena.queue(slot), slot);
        self.arena.link_front(T2, slot);
    }

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        match found {
            Ok(slot) => self.recall(slot),
            Err(vacancy) => self.meet(vacancy, block),
        }
    }

    fn discard(&mut self, slot: Slot) {
        self.arena.unlink(self.arena.queue(slot), slot);
        self.arena.forget(slot);
    }

    #[inline]
    fn read_ahead(&self, blocks: &[u64]) {
        self.arena.prefetch_neighbors(blocks);
    }
}
