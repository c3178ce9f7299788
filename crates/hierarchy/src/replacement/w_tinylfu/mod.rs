//! W-TinyLFU: a small LRU window in front of a segmented LRU that admits only frequent blocks.
//!
//! # Model
//! New blocks enter the window. The policy compares the block that leaves the window with the victim of the
//! main segment. The block with the higher recent frequency stays in the cache. In a tie, the main segment
//! keeps its block. The main segment has a probation segment and a protected segment. If a block in the
//! probation segment is hit, it moves to the protected segment. A full protected segment returns its least
//! recently used block to the probation segment. A four-bit count-min sketch behind a doorkeeper stores the
//! frequencies of all requested blocks, resident or not. After `sample` requests per block of capacity, all
//! counts are halved.
//!
//! # Not modeled
//! The model does not adapt the window size to the workload. If a block is admitted without a request, the
//! admission is not counted.
//!
//! # Sources
//! Einziger et al., "TinyLFU: a highly efficient cache admission policy", ACM Transactions on Storage 13(4),
//! 2017: section 3 (sketch, reset, doorkeeper) and section 4 (window of 1 %, 80 % protected).
//!
//! # Checks
//! A simple implementation of these rules with lists and counters produces the same hits and evictions.
//! Between two halvings, the estimated count of a block is never below its true count.

use super::ReplacementFamily;
use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::{self, Policy};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Ratio;
use nacre_kernel::state::State;

mod sketch;
#[cfg(test)]
mod tests;

use sketch::Sketch;

/// Settings of W-TinyLFU.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Share of the capacity for the window of new blocks.
    #[config(default = "1 %", min = "0 %", max = "100 %", source = "paper: Einziger 2017, section 4")]
    pub window: Ratio,
    /// Share of the remaining capacity for the protected segment.
    #[config(default = "80 %", min = "0 %", max = "100 %", source = "paper: Einziger 2017, section 4")]
    pub protected: Ratio,
    /// Number of requests per block of capacity after which all counts are halved.
    #[config(default = 10, min = 1, max = 1000, source = "assumed: ten times the capacity, like Caffeine")]
    pub sample: u32,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "w_tinylfu",
        "a window for new blocks, then only blocks that are more frequent than their victims",
        &["Einziger, Friedman and Manes 2017, TinyLFU: a highly efficient cache admission policy"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(WTinyLfu::new(context.capacity(), &slot.config(context.families())))),
};

const WINDOW: usize = 0;
const PROBATION: usize = 1;
const PROTECTED: usize = 2;

/// A W-TinyLFU cache with its three segments and the frequencies of blocks.
#[derive(Debug, State)]
pub struct WTinyLfu {
    arena: Arena<3>,
    sketch: Sketch,
    /// Capacity of the window, in blocks.
    #[state(same)]
    window: usize,
    /// Capacity of the protected segment, in blocks.
    #[state(same)]
    protected: usize,
}

impl WTinyLfu {
    /// Creates an empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// Panics if `capacity` is zero.
    pub fn new(capacity: usize, config: &Config) -> WTinyLfu {
        assert!(capacity >= 1, "a cache holds at least one block");
        let window = policy::blocks(config.window, capacity);
        let protected = (config.protected.0 * (capacity - window) as f64).round() as usize;
        let sketch = Sketch::new(capacity, config.sample);
        WTinyLfu { arena: Arena::new(capacity, 0), sketch, window, protected }
    }

    /// Inserts the block at `slot`, which left the window, into the full main segment if its frequency is
    /// higher than that of the victim. Returns the evicted block, which may be the block at `slot`.
    fn contest(&mut self, slot: Slot) -> u64 {
        let (queue, rival) = match (self.arena.back(PROBATION), self.arena.back(PROTECTED)) {
            (Some(rival), _) => (PROBATION, rival),
            (None, Some(rival)) => (PROTECTED, rival),
            (None, None) => return self.arena.forget(slot),
        };
        let [newcomer, kept] = [slot, rival].map(|slot| self.sketch.estimate(self.arena.block(slot)));
        if newcomer <= kept {
            return self.arena.forget(slot);
        }
        self.arena.unlink(queue, rival);
        self.arena.link_front(PROBATION, slot);
        self.sketch.prefetch(&[self.arena.prefetch_back(PROBATION)]);
        self.arena.forget(rival)
    }
}

impl Policy for WTinyLfu {
    type Tracked = Arena<3>;

    #[inline]
    fn tracked(&self) -> &Arena<3> {
        &self.arena
    }

    #[inline]
    fn ask(&mut self, block: u64) {
        self.sketch.note(block);
    }

    #[inline]
    fn hit(&mut self, slot: Slot) {
        let queue = self.arena.queue(slot);
        if queue != PROBATION {
            return self.arena.move_front(queue, slot);
        }
        self.arena.unlink(PROBATION, slot);
        self.arena.link_front(PROTECTED, slot);
        if self.arena.len(PROTECTED) > self.protected
            && let Some(oldest) = self.arena.pop_back(PROTECTED)
        {
            self.arena.link_front(PROBATION, oldest);
        }
    }

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        let vacancy = found.expect_err("nothing is remembered after it left");
        let slot = self.arena.enter(vacancy, block);
        self.arena.link_front(WINDOW, slot);
        if self.arena.len(WINDOW) <= self.window {
            self.sketch.fit(self.arena.resident());
            return None;
        }
        let oldest = self.arena.pop_back(WINDOW)?;
        if let Some(next) = self.arena.back(WINDOW) {
            self.sketch.prefetch(&[self.arena.block(next)]);
        }
        if self.arena.resident() < self.arena.capacity() {
            self.arena.link_front(PROBATION, oldest);
            self.sketch.fit(self.arena.resident());
            return None;
        }
        Some(self.contest(oldest))
    }

    fn discard(&mut self, slot: Slot) {
        self.arena.unlink(self.arena.queue(slot), slot);
        self.arena.forget(slot);
    }

    #[inline]
    fn read_ahead(&self, blocks: &[u64]) {
        self.sketch.prefetch(blocks);
        self.arena.prefetch_neighbors(blocks);
    }

    fn audit(&self) {
        assert!(self.arena.len(WINDOW) <= self.window && self.arena.len(PROTECTED) <= self.protected);
    }
}
