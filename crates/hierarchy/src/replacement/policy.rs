//! Decisions of a policy on hits, misses, and removals. All functions of [`Replacement`] are derived from
//! these decisions.

use super::arena::{Arena, Slot};
use super::index::Vacancy;
use super::{Access, Replacement};
use nacre_kernel::Ratio;
use nacre_kernel::state::State;

/// Number of blocks in `share` of `capacity`, rounded to the nearest block; at least one and at most
/// `capacity`.
pub(super) fn blocks(share: Ratio, capacity: usize) -> usize {
    ((share.0 * capacity as f64).round() as usize).clamp(1, capacity)
}

/// Container of a policy's blocks.
pub(super) trait Tracked {
    /// Slot of `block`, which may be resident or a ghost, or the position where it can be inserted.
    fn find(&self, block: u64) -> Result<Slot, Vacancy>;

    /// Whether the block at `slot` is resident; false for a ghost.
    fn is_resident(&self, slot: Slot) -> bool;

    /// Number of resident blocks.
    fn resident(&self) -> usize;

    /// Maximum number of resident blocks.
    fn capacity(&self) -> usize;

    /// Prefetches the memory for look-ups of `blocks`.
    fn prefetch(&self, blocks: &[u64]);

    /// Panics if the state is inconsistent.
    fn check_invariants(&self);
}

impl<const QUEUES: usize, const RESIDENT: usize> Tracked for Arena<QUEUES, RESIDENT> {
    #[inline]
    fn find(&self, block: u64) -> Result<Slot, Vacancy> {
        Arena::find(self, block)
    }

    #[inline]
    fn is_resident(&self, slot: Slot) -> bool {
        Arena::is_resident(self, slot)
    }

    #[inline]
    fn resident(&self) -> usize {
        Arena::resident(self)
    }

    #[inline]
    fn capacity(&self) -> usize {
        Arena::capacity(self)
    }

    #[inline]
    fn prefetch(&self, blocks: &[u64]) {
        Arena::prefetch(self, blocks);
    }

    fn check_invariants(&self) {
        Arena::check_invariants(self);
    }
}

/// Decisions of one policy. They are expressed in slots, so that an access needs only one look-up.
pub(super) trait Policy: State + Send {
    /// Type of the container of the policy's blocks.
    type Tracked: Tracked;

    /// The container of the policy's blocks.
    fn tracked(&self) -> &Self::Tracked;

    /// Records a request for `block`, resident or not.
    #[inline]
    fn ask(&mut self, _block: u64) {}

    /// Records a hit on the resident block at `slot`.
    fn hit(&mut self, slot: Slot);

    /// Inserts `block`, which is a ghost at the found slot or not tracked. Returns the evicted block, if any.
    fn miss(&mut self, found: Result<Slot, Vacancy>, block: u64) -> Option<u64>;

    /// Removes the resident block at `slot`.
    fn discard(&mut self, slot: Slot);

    /// Prefetches the memory for accesses to `blocks`.
    #[inline]
    fn read_ahead(&self, blocks: &[u64]) {
        self.tracked().prefetch(blocks);
    }

    /// Panics if the policy's state is inconsistent with its blocks.
    fn audit(&self) {}
}

impl<P: Policy> Replacement for P {
    #[inline]
    fn touch(&mut self, block: u64) -> bool {
        self.ask(block);
        match self.tracked().find(block) {
            Ok(slot) if self.tracked().is_resident(slot) => {
                self.hit(slot);
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn admit(&mut self, block: u64) -> Option<u64> {
        let found = self.tracked().find(block);
        let resident = found.is_ok_and(|slot| self.tracked().is_resident(slot));
        assert!(!resident, "block {block} comes in but is resident already");
        self.miss(found, block)
    }

    fn remove(&mut self, block: u64) -> bool {
        match self.tracked().find(block) {
            Ok(slot) if self.tracked().is_resident(slot) => {
                self.discard(slot);
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn contains(&self, block: u64) -> bool {
        self.tracked().find(block).is_ok_and(|slot| self.tracked().is_resident(slot))
    }

    #[inline]
    fn len(&self) -> usize {
        self.tracked().resident()
    }

    #[inline]
    fn capacity(&self) -> usize {
        self.tracked().capacity()
    }

    #[inline]
    fn access(&mut self, block: u64) -> Access {
        self.ask(block);
        match self.tracked().find(block) {
            Ok(slot) if self.tracked().is_resident(slot) => {
                self.hit(slot);
                Access::Hit
            }
            found => Access::Miss { evicted: self.miss(found, block) },
        }
    }

    #[inline]
    fn prefetch(&self, blocks: &[u64]) {
        self.read_ahead(blocks);
    }

    fn check_invariants(&self) {
        let (resident, capacity) = (self.tracked().resident(), self.tracked().capacity());
        assert!(resident <= capacity, "{resident} resident of {capacity}");
        self.tracked().check_invariants();
        self.audit();
    }
}
