//! LIRS: low inter-reference recency set.
//!
//! # Model
//! LIRS ranks blocks by the distance between their last two accesses, not by their recency. Blocks with a low
//! inter-reference recency are LIR blocks, and all other blocks are HIR blocks. The stack S orders blocks by
//! their last access. S holds all LIR blocks, which are always resident. S also holds the HIR blocks that
//! were accessed after the LIR block at the bottom of S. Some of these HIR blocks are not resident. The list
//! Q holds the resident HIR blocks, and the policy evicts the oldest block of Q. If a HIR block in S is
//! accessed, it becomes LIR, and the LIR block at the bottom of S becomes HIR. Pruning then removes HIR
//! blocks from the bottom of S until a LIR block is at the bottom. The number of tracked non-resident blocks
//! is bounded. If this bound is reached, the policy drops the non-resident block that was evicted first.
//!
//! # Not modeled
//! In the paper, blocks leave the cache only by replacement. In Nacre, a device can also remove a LIR block.
//! New blocks then become LIR blocks until the cache again has its full number of LIR blocks, as in a cache
//! that is initially empty.
//!
//! # Sources
//! Jiang and Zhang, "LIRS: an efficient low inter-reference recency set replacement policy to improve buffer
//! cache performance", SIGMETRICS'02, section 3. The HIR share of 1 % is from section 4 of this paper.
//!
//! # Checks
//! A simple implementation with lists, which distinguishes the cases of the paper, produces the same hits and
//! evictions. If a loop accesses slightly more blocks than the cache holds, LIRS has fewer misses than LRU.

use super::ReplacementFamily;
use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::{self, Policy};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Ratio;
use nacre_kernel::state::State;

mod stack;
#[cfg(test)]
mod tests;

use stack::Stack;

/// Settings of LIRS.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Share of the capacity for resident HIR blocks, i.e. for blocks with long reuse distances.
    #[config(default = "1 %", min = "0 %", max = "100 %", source = "paper: Jiang and Zhang 2002, section 4")]
    pub hir: Ratio,
    /// Maximum number of evicted blocks that are tracked, as a share of the capacity.
    #[config(
        default = "200 %",
        min = "0 %",
        max = "10000 %",
        source = "assumed: twice the number of resident blocks"
    )]
    pub remembered: Ratio,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "lirs",
        "keeps the blocks with the shortest reuse distance",
        &["Jiang and Zhang 2002, LIRS: an efficient low inter-reference recency set replacement policy"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(Lirs::new(context.capacity(), &slot.config(context.families())))),
};

/// LIR blocks, in arbitrary order.
const LIR: usize = 0;
/// Queue Q of the paper: resident HIR blocks, with the newest at the front.
const HIR: usize = 1;
/// Blocks in the stack S that are not resident.
const REMEMBERED: usize = 2;

/// A LIRS cache: the stack S, and the blocks with their states.
#[derive(Debug, State)]
pub struct Lirs {
    arena: Arena<3, 2>,
    stack: Stack,
    /// Number of LIR blocks of a full cache, Llirs in the paper.
    #[state(same)]
    lir: usize,
    /// Maximum number of non-resident blocks that are tracked.
    #[state(same)]
    remembered: usize,
}

impl Lirs {
    /// Creates an empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// Panics if `capacity` is zero.
    pub fn new(capacity: usize, config: &Config) -> Lirs {
        assert!(capacity >= 1, "a cache holds at least one block");
        let remembered = (config.remembered.0 * capacity as f64).round() as usize;
        let arena = Arena::new(capacity, remembered.saturating_add(1));
        let lir = capacity - policy::blocks(config.hir, capacity);
        Lirs { arena, stack: Stack::new(), lir, remembered }
    }

    /// Evicts the oldest block of Q from a full cache.
    fn evict(&mut self) -> u64 {
        let victim = self.arena.pop_back(HIR).expect("the LIR blocks are fewer than the capacity");
        if !self.stack.contains(victim) {
            return self.arena.forget(victim);
        }
        let block = self.arena.block(victim);
        self.arena.link_front(REMEMBERED, victim);
        if self.arena.len(REMEMBERED) > self.remembered
            && let Some(oldest) = self.arena.pop_back(REMEMBERED)
        {
            self.stack.remove(oldest);
            self.arena.forget(oldest);
        }
        block
    }

    /// Changes the block at `slot`, which must be in no queue, to LIR. If there are then too many LIR blocks,
    /// the bottom block of the stack becomes HIR.
    fn promote(&mut self, slot: Slot) {
        self.stack.raise(slot);
        self.arena.link_front(LIR, slot);
        if self.arena.len(LIR) > self.lir {
            let bottom = self.stack.bottom().expect("the promoted block is in the stack");
            self.stack.remove(bottom);
            self.arena.unlink(LIR, bottom);
            self.arena.link_front(HIR, bottom);
        }
        self.prune();
    }

    /// Removes HIR blocks from the bottom of the stack. Stops tracking the removed blocks that are not
    /// resident.
    #[inline]
    fn prune(&mut self) {
        while let Some(bottom) = self.stack.bottom() {
            let queue = self.arena.queue(bottom);
            if queue == LIR {
                return;
            }
            self.stack.remove(bottom);
            if queue == REMEMBERED {
                self.arena.unlink(REMEMBERED, bottom);
                self.arena.forget(bottom);
            }
        }
    }

    /// Pushes a HIR block onto the stack. Does nothing if there is no LIR block, because the HIR block would
    /// then be pruned immediately.
    #[inline]
    fn note(&mut self, slot: Slot) {
        if self.arena.len(LIR) > 0 {
            self.stack.raise(slot);
        }
    }
}

impl Policy for Lirs {
    type Tracked = Arena<3, 2>;

    #[inline]
    fn tracked(&self) -> &Arena<3, 2> {
        &self.arena
    }

    #[inline]
    fn hit(&mut self, slot: Slot) {
        if self.arena.queue(slot) == LIR {
            self.stack.raise(slot);
            self.prune();
        } else if self.stack.contains(slot) {
            self.arena.unlink(HIR, slot);
            self.promote(slot);
        } else {
            self.note(slot);
            self.arena.move_front(HIR, slot);
        }
    }

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        let in_stack = found.is_ok();
        let slot = match found {
            Ok(slot) => {
                self.arena.unlink(REMEMBERED, slot);
                slot
            }
            Err(vacancy) => self.arena.enter(vacancy, block),
        };
        let evicted = (self.arena.resident() == self.arena.capacity()).then(|| self.evict());
        if in_stack || self.arena.len(LIR) < self.lir {
            self.promote(slot);
        } else {
            self.note(slot);
            self.arena.link_front(HIR, slot);
        }
        evicted
    }

    fn discard(&mut self, slot: Slot) {
        self.stack.remove(slot);
        self.arena.unlink(self.arena.queue(slot), slot);
        self.arena.forget(slot);
        self.prune();
    }

    fn audit(&self) {
        assert!(self.arena.len(LIR) <= self.lir && self.arena.len(REMEMBERED) <= self.remembered);
        assert!(
            self.stack.bottom().is_none_or(|slot| self.arena.queue(slot) == LIR),
            "a LIR block is at the bottom"
        );
        let mut counts = [0; 3];
        self.stack.slots().for_each(|slot| counts[self.arena.queue(slot)] += 1);
        assert_eq!(counts[LIR], self.arena.len(LIR), "every LIR block is in the stack");
        assert_eq!(counts[REMEMBERED], self.arena.len(REMEMBERED), "only blocks in the stack are remembered");
    }
}
