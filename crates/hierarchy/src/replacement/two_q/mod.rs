//! 2Q: a FIFO queue for new blocks in front of an LRU queue for blocks that are accessed again.
//!
//! # Model
//! The model implements the full version of 2Q. New blocks enter the FIFO queue A1in, and hits do not
//! change their order. When a block leaves A1in, the queue A1out records its address. If a block in A1out is
//! requested, it enters Am, which is an LRU queue. If A1in holds more than Kin blocks, the victim comes from
//! A1in. Otherwise, the victim comes from Am.
//!
//! # Not modeled
//! In very small caches, Am can be empty although A1in holds at most Kin blocks. The paper does not define
//! the victim in this case. In this model, the victim comes from A1in.
//!
//! # Sources
//! Johnson and Shasha, "2Q: a low overhead high performance buffer management replacement algorithm",
//! VLDB'94, section 3.1, "2Q, full version". The values of Kin (25 %) and Kout (50 %) are from the same
//! section.
//!
//! # Checks
//! A simple implementation of the procedure in the paper produces the same hits and evictions.

use super::ReplacementFamily;
use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::{self, Policy};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Ratio;
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// Lengths of the queues A1in and A1out.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Kin, the share of the capacity for new blocks (A1in).
    #[config(
        default = "25 %",
        min = "0 %",
        max = "100 %",
        source = "paper: Johnson and Shasha 1994, section 3.1"
    )]
    pub newcomers: Ratio,
    /// Kout, the number of blocks that are tracked after they left A1in, as a share of the capacity.
    #[config(
        default = "50 %",
        min = "0 %",
        max = "1000 %",
        source = "paper: Johnson and Shasha 1994, section 3.1"
    )]
    pub remembered: Ratio,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "two_q",
        "new blocks enter a queue first; only blocks that are used again enter the LRU part",
        &[
            "Johnson and Shasha 1994, 2Q: a low overhead high performance buffer management replacement algorithm",
        ],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(TwoQ::new(context.capacity(), &slot.config(context.families())))),
};

const A1_IN: usize = 0;
const AM: usize = 1;
const A1_OUT: usize = 2;

/// A 2Q cache with its three queues.
#[derive(Debug, State)]
pub struct TwoQ {
    arena: Arena<3, 2>,
    /// Kin of the paper, in blocks.
    #[state(same)]
    newcomers: usize,
    /// Kout of the paper, in blocks.
    #[state(same)]
    remembered: usize,
}

impl TwoQ {
    /// Creates an empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// Panics if `capacity` is zero.
    pub fn new(capacity: usize, config: &Config) -> TwoQ {
        assert!(capacity >= 1, "a cache holds at least one block");
        let remembered = (config.remembered.0 * capacity as f64).round() as usize;
        let newcomers = policy::blocks(config.newcomers, capacity);
        TwoQ { arena: Arena::new(capacity, remembered), newcomers, remembered }
    }

    /// `reclaimfor` of the paper for a full cache. Returns the evicted block. Sets `remembered` to false if
    /// the `newcomer` was removed from A1out.
    fn reclaim(&mut self, newcomer: Slot, remembered: &mut bool) -> u64 {
        if self.arena.len(A1_IN) <= self.newcomers
            && let Some(slot) = self.arena.pop_back(AM)
        {
            return self.arena.forget(slot);
        }
        let slot = self.arena.pop_back(A1_IN).expect("a full cache has a block in A1in or Am");
        let block = self.arena.block(slot);
        *remembered &= !self.arena.remember(A1_OUT, slot, self.remembered, newcomer);
        block
    }
}

impl Policy for TwoQ {
    type Tracked = Arena<3, 2>;

    #[inline]
    fn tracked(&self) -> &Arena<3, 2> {
        &self.arena
    }

    #[inline]
    fn hit(&mut self, slot: Slot) {
        if self.arena.queue(slot) == AM {
            self.arena.move_front(AM, slot);
        }
    }

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        let comes_back = found.is_ok();
        let slot = found.unwrap_or_else(|vacancy| self.arena.enter(vacancy, block));
        let mut remembered = comes_back;
        let full = self.arena.resident() == self.arena.capacity();
        let evicted = full.then(|| self.reclaim(slot, &mut remembered));
        if remembered {
            self.arena.unlink(A1_OUT, slot);
        }
        self.arena.link_front(if comes_back { AM } else { A1_IN }, slot);
        evicted
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
