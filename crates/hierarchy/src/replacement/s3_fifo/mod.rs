//! S3-FIFO: a small queue, a main queue, and a ghost queue, all of which are FIFO.
//!
//! # Model
//! The ghost queue tracks blocks that were evicted from the small queue. If a new block is in the ghost
//! queue, it enters the main queue. All other new blocks enter the small queue. A hit increments the counter
//! of the block, up to three, and does not move the block. An eviction has two cases:
//!
//! - If the small queue holds at least its share of the blocks, the policy examines the block at the tail of
//!   the small queue. If this block had more than one hit, it moves to the main queue. Otherwise, it is
//!   evicted, and the ghost queue tracks it.
//! - If the small queue holds less than its share of the blocks, the policy examines the block at the tail of
//!   the main queue. If the counter of this block is zero, the block is evicted. If the counter is positive,
//!   the block moves to the head, and its counter is decremented.
//!
//! The maximum length of the ghost queue is `ghosts` times the number of slots in the main queue.
//!
//! # Not modeled
//! The model omits repeated evictions. In the paper, `evictS` can overfill the main queue, evict a block
//! from it, and continue with another eviction. The cache then holds one block less than its capacity. In
//! this model, an eviction is complete when one block has left the cache.
//!
//! # Sources
//! Yang et al., "FIFO queues are all you need for cache eviction", SOSP'23, algorithm 1 and section 4.1.
//!
//! # Checks
//! A simple reference implementation with queues produces the same hits and evictions. If a Zipf sequence is
//! interrupted by scans, S3-FIFO has fewer misses than LRU.

use super::ReplacementFamily;
use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::{self, Policy};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Ratio;
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// Settings of S3-FIFO.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Share of the capacity for the small queue of new blocks.
    #[config(default = "10 %", min = "0 %", max = "100 %", source = "paper: Yang 2023, section 4.1")]
    pub small: Ratio,
    /// Maximum length of the ghost queue, as a share of the slots of the main queue.
    #[config(default = "100 %", min = "0 %", max = "1000 %", source = "paper: Yang 2023, section 4.1")]
    pub ghosts: Ratio,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "s3_fifo",
        "a small, a main, and a ghost queue, all FIFO",
        &["Yang et al. 2023, FIFO queues are all you need for cache eviction, algorithm 1"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(S3Fifo::new(context.capacity(), &slot.config(context.families())))),
};

const SMALL: usize = 0;
const MAIN: usize = 1;
const GHOST: usize = 2;

/// Maximum hit count (two bits).
const MOST_USES: u32 = 3;

/// Number of hits above which a block is promoted from the small queue to the main queue.
const PROMOTED_ABOVE: u32 = 1;

/// An S3-FIFO cache with its three queues.
#[derive(Debug, State)]
pub struct S3Fifo {
    arena: Arena<3, 2>,
    /// Target length of the small queue. If the small queue has at least this length, victims come from it.
    #[state(same)]
    small: usize,
    /// Maximum number of ghosts.
    #[state(same)]
    ghosts: usize,
}

impl S3Fifo {
    /// Creates an empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// Panics if `capacity` is zero.
    pub fn new(capacity: usize, config: &Config) -> S3Fifo {
        assert!(capacity >= 1, "a cache holds at least one block");
        let small = policy::blocks(config.small, capacity);
        let ghosts = (config.ghosts.0 * (capacity - small) as f64).round() as usize;
        S3Fifo { arena: Arena::new(capacity, ghosts), small, ghosts }
    }

    /// Evicts and returns one block from a full cache. The algorithm in the paper evicts a block before it
    /// looks for the ghost of the `newcomer`. The ghost of the evicted block may therefore replace the ghost
    /// of the newcomer. In this case, sets `remembered` to false.
    fn evict(&mut self, newcomer: Slot, remembered: &mut bool) -> u64 {
        loop {
            if self.arena.len(SMALL) >= self.small {
                let Some(slot) = self.arena.pop_back(SMALL) else {
                    unreachable!("the share is at least one")
                };
                if self.arena.uses(slot) > PROMOTED_ABOVE {
                    self.arena.set_uses(slot, 0);
                    self.arena.link_front(MAIN, slot);
                    continue;
                }
                let block = self.arena.block(slot);
                *remembered &= !self.arena.remember(GHOST, slot, self.ghosts, newcomer);
                return block;
            }
            let Some(slot) = self.arena.pop_back(MAIN) else { unreachable!("small is below its share") };
            let uses = self.arena.uses(slot);
            if uses == 0 {
                return self.arena.forget(slot);
            }
            self.arena.set_uses(slot, uses - 1);
            self.arena.link_front(MAIN, slot);
        }
    }
}

impl Policy for S3Fifo {
    type Tracked = Arena<3, 2>;

    #[inline]
    fn tracked(&self) -> &Arena<3, 2> {
        &self.arena
    }

    #[inline]
    fn hit(&mut self, slot: Slot) {
        self.arena.set_uses(slot, (self.arena.uses(slot) + 1).min(MOST_USES));
    }

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        let mut remembered = found.is_ok();
        let slot = found.unwrap_or_else(|vacancy| self.arena.enter(vacancy, block));
        let full = self.arena.resident() == self.arena.capacity();
        let evicted = full.then(|| self.evict(slot, &mut remembered));
        if remembered {
            self.arena.unlink(GHOST, slot);
        }
        self.arena.set_uses(slot, 0);
        self.arena.link_front(if remembered { MAIN } else { SMALL }, slot);
        evicted
    }

    fn discard(&mut self, slot: Slot) {
        self.arena.unlink(self.arena.queue(slot), slot);
        self.arena.forget(slot);
    }
}
