//! One queue of blocks as a ring, with a hand that determines the victim.

use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::policy::Policy;
use nacre_kernel::state::State;
use std::marker::PhantomData;

const QUEUE: usize = 0;

/// Number of blocks ahead of the hand whose index positions are prefetched for a group of requests.
const VICTIMS: usize = 8;

/// Rules for the movement of the hand and for marking blocks.
pub trait Turn: Send {
    /// Whether a hit marks a block. The hand removes the mark of a marked block and skips the block.
    const MARKS: bool;
    /// Whether the hand moves from the oldest toward the newest block of a queue. Otherwise, the hand is at
    /// the oldest block of a ring, and new blocks are inserted directly before the hand.
    const FRONT_IS_NEWEST: bool;
}

/// The blocks on a ring with a hand. A block is marked if the hit count of its node is positive.
///
/// If new blocks are inserted before the hand, a full cache reuses the victim's position and advances the
/// hand without changing a link.
#[derive(Debug, State)]
#[state(bound = "T: Turn")]
pub struct Ring<T> {
    arena: Arena<1>,
    /// Position at which the next search for a victim starts. The head of the queue represents the oldest
    /// block.
    hand: Slot,
    #[state(skip = "it has none")]
    turn: PhantomData<fn() -> T>,
}

impl<T: Turn> Ring<T> {
    /// Creates an empty cache of `capacity` blocks.
    ///
    /// # Panics
    /// Panics if `capacity` is zero.
    pub fn new(capacity: usize) -> Ring<T> {
        Ring { arena: Arena::new(capacity, 0), hand: QUEUE as Slot, turn: PhantomData }
    }

    /// Neighbor of `slot` in the direction of the hand, or the head of the queue.
    #[inline]
    fn after(&self, slot: Slot) -> Slot {
        if T::FRONT_IS_NEWEST { self.arena.before(slot) } else { self.arena.after(slot) }
    }

    /// Returns `slot`, or the next block if `slot` is the head of the queue.
    #[inline]
    fn round(&self, slot: Slot) -> Slot {
        if slot as usize == QUEUE { self.after(slot) } else { slot }
    }

    /// Finds the first unmarked block, starting at the hand. Removes the marks of the blocks before it.
    #[inline]
    fn victim(&mut self) -> Slot {
        let mut slot = self.round(self.hand);
        while T::MARKS && self.arena.uses(slot) > 0 {
            self.arena.set_uses(slot, 0);
            slot = self.round(self.after(slot));
        }
        slot
    }
}

impl<T: Turn> Policy for Ring<T> {
    type Tracked = Arena<1>;

    #[inline]
    fn tracked(&self) -> &Arena<1> {
        &self.arena
    }

    #[inline]
    fn hit(&mut self, slot: Slot) {
        if T::MARKS {
            self.arena.set_uses(slot, 1);
        }
    }

    #[inline]
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64> {
        let vacancy = found.expect_err("nothing is remembered after it left");
        if self.arena.resident() < self.arena.capacity() {
            let slot = self.arena.enter(vacancy, block);
            if T::FRONT_IS_NEWEST {
                self.arena.link_front(QUEUE, slot);
            } else {
                self.arena.link_before(QUEUE, slot, self.hand);
            }
            return None;
        }
        let victim = self.victim();
        self.hand = self.after(victim);
        let evicted = self.arena.rename(victim, vacancy, block);
        if T::FRONT_IS_NEWEST {
            self.arena.move_front(QUEUE, victim);
        }
        Some(evicted)
    }

    #[inline]
    fn read_ahead(&self, blocks: &[u64]) {
        self.arena.prefetch(blocks);
        if self.arena.resident() == self.arena.capacity() {
            let mut slot = self.hand;
            let next = || {
                slot = self.round(slot);
                let block = self.arena.block(slot);
                slot = self.after(slot);
                block
            };
            self.arena.prefetch_places(std::iter::repeat_with(next).take(VICTIMS));
        }
    }

    fn discard(&mut self, slot: Slot) {
        if slot == self.hand {
            self.hand = self.after(slot);
        }
        self.arena.unlink(QUEUE, slot);
        self.arena.forget(slot);
    }
}
