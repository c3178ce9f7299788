//! First in, first out.
//!
//! # Models
//! One queue in the order of arrival; the block that came first leaves, used or not.
//!
//! # Leaves out
//! Nothing.
//!
//! # Sources
//! L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems
//! Journal 5(2), 1966.
//!
//! # Checks
//! Hits and victims equal a naive queue; Belady's anomaly appears on his example.

use super::ReplacementFamily;
use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::Policy;
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// First in, first out has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The room.
pub const ROOM: Room<ReplacementFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "fifo",
        "the block that came first leaves",
        &["Belady 1966, A study of replacement algorithms for a virtual-storage computer"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| Ok(Box::new(Fifo::new(context.capacity(), &slot.config(context.families())))),
};

const QUEUE: usize = 0;

/// The blocks in the order of arrival.
///
/// The queue is a ring, and the hand stands at the oldest block: a full cache gives the place of
/// the oldest to the newest and moves the hand, and no link changes.
#[derive(Debug, State)]
pub struct Fifo {
    arena: Arena<1>,
    hand: Slot,
    #[state(same)]
    capacity: usize,
}

impl Fifo {
    /// An empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// If `capacity` is zero.
    pub fn new(capacity: usize, _config: &Config) -> Fifo {
        assert!(capacity >= 1, "a cache holds at least one block");
        Fifo { arena: Arena::new(capacity), hand: QUEUE as Slot, capacity }
    }
}

impl Policy for Fifo {
    #[inline]
    fn find(&self, block: u64) -> Result<Slot, Vacancy> {
        self.arena.find(block)
    }

    #[inline]
    fn is_resident(&self, _slot: Slot) -> bool {
        true
    }

    #[inline]
    fn hit(&mut self, _slot: Slot) {}

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        let vacancy = found.expect_err("nothing is remembered after it left");
        if self.resident() < self.capacity {
            let slot = self.arena.enter(vacancy, block);
            self.arena.link_before(QUEUE, slot, self.hand);
            return None;
        }
        let oldest = self.arena.round(QUEUE, self.hand);
        self.hand = self.arena.after(oldest);
        Some(self.arena.rename(oldest, vacancy, block))
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
