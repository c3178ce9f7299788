//! Blocks, either resident or ghosts, in a few doubly linked queues over one index.
//!
//! A node takes 16 bytes: the key, and two links of 30 bits with four bits of state, which hold its queue and
//! its hit count. With the index, a tracked block takes 30 bytes. Slots `0..QUEUES` are the heads of circular
//! queues, so that linking has no special cases.

use super::index::{Index, Vacancy};
use nacre_kernel::state::{State, Value};
use prefetch_index::prefetch_index;
use std::hint::select_unpredictable;

/// Position of a node.
pub(super) type Slot = u32;

/// Number of bits of a link. The other two bits of its word hold state.
const LINK_BITS: u32 = 30;
const LINK: u32 = (1 << LINK_BITS) - 1;

/// Marks the end of the list of unused slots.
const NONE: Slot = LINK;

#[derive(Clone, Copy, Debug, Value)]
struct Node {
    block: u64,
    /// Link toward the front, and the queue.
    prev: u32,
    /// Link toward the back, and the hit count.
    next: u32,
}

impl Node {
    #[inline]
    fn prev(&self) -> Slot {
        self.prev & LINK
    }

    #[inline]
    fn next(&self) -> Slot {
        self.next & LINK
    }

    #[inline]
    fn set_prev(&mut self, slot: Slot) {
        self.prev = self.prev & !LINK | slot;
    }

    #[inline]
    fn set_next(&mut self, slot: Slot) {
        self.next = self.next & !LINK | slot;
    }
}

/// Tracked blocks in at most four queues. The first `RESIDENT` queues hold resident blocks. Blocks usually
/// enter at the front and leave at the back.
#[derive(Debug, State)]
#[state(after = "Self::check_restored")]
pub(super) struct Arena<const QUEUES: usize, const RESIDENT: usize = QUEUES> {
    index: Index,
    #[state(varies)]
    nodes: Vec<Node>,
    /// First unused slot. Unused slots are chained by `next`.
    unused: Slot,
    lengths: [usize; QUEUES],
    /// Maximum number of resident blocks.
    #[state(same)]
    capacity: usize,
    /// Maximum number of tracked blocks.
    #[state(same)]
    bound: usize,
}

impl<const QUEUES: usize, const RESIDENT: usize> Arena<QUEUES, RESIDENT> {
    /// Creates an empty arena for at most `capacity` resident blocks and `remembered` ghosts. The arena can
    /// hold one more block, because an insertion precedes the eviction that it causes.
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is zero.
    pub(super) fn new(capacity: usize, remembered: usize) -> Arena<QUEUES, RESIDENT> {
        const { assert!(QUEUES >= 1 && QUEUES <= 4, "two bits name the queue") };
        const { assert!(RESIDENT >= 1 && RESIDENT <= QUEUES, "resident blocks are in queues") };
        assert!(capacity >= 1, "a cache holds at least one block");
        let bound = capacity.saturating_add(remembered).saturating_add(1);
        let heads = (0..QUEUES as u32)
            .map(|queue| Node { block: u64::MAX, prev: queue << LINK_BITS | queue, next: queue })
            .collect();
        Arena { index: Index::new(bound), nodes: heads, unused: NONE, lengths: [0; QUEUES], capacity, bound }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let count = self.nodes.len() as u32;
        let is_known = |slot: Slot| slot < count || slot == NONE;
        let is_wrong = |node: &Node| {
            !is_known(node.prev()) || !is_known(node.next()) || (node.prev >> LINK_BITS) as usize >= QUEUES
        };
        if (count as usize) < QUEUES || !is_known(self.unused) || self.index.slots().any(|slot| slot >= count)
        {
            return Err(format!("{count} nodes, of which some are missing"));
        }
        match self.nodes.iter().find(|node| is_wrong(node)) {
            None => Ok(()),
            Some(node) => Err(format!("{node:?} of {count}")),
        }
    }

    /// Slot of `block`, or the index position where it can be inserted.
    #[inline]
    pub(super) fn find(&self, block: u64) -> Result<Slot, Vacancy> {
        self.index.find(block, |slot| self.nodes[slot as usize].block == block)
    }

    /// The queue that contains `slot`.
    #[inline]
    pub(super) fn queue(&self, slot: Slot) -> usize {
        (self.nodes[slot as usize].prev >> LINK_BITS) as usize
    }

    /// Whether the block at `slot` is resident; false for a ghost.
    #[inline]
    pub(super) fn is_resident(&self, slot: Slot) -> bool {
        RESIDENT == QUEUES || self.queue(slot) < RESIDENT
    }

    /// Number of resident blocks.
    #[inline]
    pub(super) fn resident(&self) -> usize {
        self.lengths[..RESIDENT].iter().sum()
    }

    /// Maximum number of resident blocks.
    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Hit count of `slot`, 0 to 3.
    #[inline]
    pub(super) fn uses(&self, slot: Slot) -> u32 {
        self.nodes[slot as usize].next >> LINK_BITS
    }

    /// Sets the hit count of `slot`, 0 to 3. Writes to memory only if the count changes.
    #[inline]
    pub(super) fn set_uses(&mut self, slot: Slot, uses: u32) {
        let node = &mut self.nodes[slot as usize];
        if node.next >> LINK_BITS != uses {
            node.next = node.next & LINK | uses << LINK_BITS;
        }
    }

    /// The block at `slot`.
    #[inline]
    pub(super) fn block(&self, slot: Slot) -> u64 {
        self.nodes[slot as usize].block
    }

    /// Number of blocks in `queue`.
    #[inline]
    pub(super) fn len(&self, queue: usize) -> usize {
        self.lengths[queue]
    }

    /// The last block of `queue`, if any.
    #[inline]
    pub(super) fn back(&self, queue: usize) -> Option<Slot> {
        let slot = self.nodes[queue].prev();
        (slot as usize != queue).then_some(slot)
    }

    /// Neighbor of `slot` toward the front. A result below `QUEUES` means that `slot` is the first of its
    /// queue.
    #[inline]
    pub(super) fn before(&self, slot: Slot) -> Slot {
        self.nodes[slot as usize].prev()
    }

    /// Neighbor of `slot` toward the back. A result below `QUEUES` means that `slot` is the last of its
    /// queue.
    #[inline]
    pub(super) fn after(&self, slot: Slot) -> Slot {
        self.nodes[slot as usize].next()
    }

    /// Starts to track `block` at `vacancy`, with a hit count of zero. Returns its slot, which the caller
    /// links into a queue.
    #[inline]
    pub(super) fn enter(&mut self, vacancy: Vacancy, block: u64) -> Slot {
        let node = Node { block, prev: 0, next: 0 };
        let slot = self.unused;
        if slot == NONE {
            let slot = self.nodes.len() as Slot;
            self.push(node);
            self.index.occupy(vacancy, slot);
            return slot;
        }
        self.unused = self.nodes[slot as usize].next();
        self.nodes[slot as usize] = node;
        self.index.occupy(vacancy, slot);
        slot
    }

    /// Appends a node. If memory is full, doubles it, up to the bound.
    #[inline]
    fn push(&mut self, node: Node) {
        let length = self.nodes.len();
        if length == self.nodes.capacity() {
            assert!(length < NONE as usize, "one cache tracks at most 2^{LINK_BITS} blocks");
            let most = self.bound.saturating_add(QUEUES);
            self.nodes.reserve_exact(length.max(16).min(most - length));
        }
        self.nodes.push(node);
    }

    /// Stops tracking the block at `slot`, which must be in no queue, and returns the block.
    #[inline]
    pub(super) fn forget(&mut self, slot: Slot) -> u64 {
        let block = self.nodes[slot as usize].block;
        self.index.vacate(block, slot);
        self.nodes[slot as usize].set_next(self.unused);
        self.unused = slot;
        block
    }

    /// Replaces the block at `slot` with `block`, with a hit count of zero, at the same position in the
    /// queue. Returns the old block.
    #[inline]
    pub(super) fn rename(&mut self, slot: Slot, vacancy: Vacancy, block: u64) -> u64 {
        let old = self.nodes[slot as usize].block;
        self.index.occupy(vacancy, slot);
        self.index.vacate(old, slot);
        self.nodes[slot as usize].block = block;
        self.set_uses(slot, 0);
        old
    }

    /// Removes `slot` from `queue`.
    #[inline]
    pub(super) fn unlink(&mut self, queue: usize, slot: Slot) {
        debug_assert_eq!(self.queue(slot), queue, "slot {slot} is in the queue the policy thinks");
        let Node { prev, next, .. } = self.nodes[slot as usize];
        let (prev, next) = (prev & LINK, next & LINK);
        self.nodes[prev as usize].set_next(next);
        self.nodes[next as usize].set_prev(prev);
        self.lengths[queue] -= 1;
    }

    /// Inserts `slot`, which is in no queue, at the front of `queue`.
    #[inline]
    pub(super) fn link_front(&mut self, queue: usize, slot: Slot) {
        self.link(queue, queue as Slot, slot, self.nodes[queue].next());
    }

    /// Inserts `slot`, which is in no queue, into `queue` directly before `place`. If `place` is the head of
    /// the queue, inserts it at the back.
    #[inline]
    pub(super) fn link_before(&mut self, queue: usize, slot: Slot, place: Slot) {
        self.link(queue, self.nodes[place as usize].prev(), slot, place);
    }

    #[inline]
    fn link(&mut self, queue: usize, prev: Slot, slot: Slot, next: Slot) {
        self.nodes[prev as usize].set_next(slot);
        self.nodes[next as usize].set_prev(slot);
        let node = &mut self.nodes[slot as usize];
        node.prev = (queue as u32) << LINK_BITS | prev;
        node.set_next(next);
        self.lengths[queue] += 1;
    }

    /// Moves `slot` within `queue` to the front.
    #[inline]
    pub(super) fn move_front(&mut self, queue: usize, slot: Slot) {
        self.unlink(queue, slot);
        self.link_front(queue, slot);
    }

    /// Removes the last block of `queue`, if any.
    #[inline]
    pub(super) fn pop_back(&mut self, queue: usize) -> Option<Slot> {
        let slot = self.back(queue)?;
        self.unlink(queue, slot);
        self.prefetch_back(queue);
        Some(slot)
    }

    /// Inserts `slot`, which must be in no queue, at the front of `queue`. If the queue then exceeds `most`
    /// blocks, removes its last block. Stops tracking the removed block unless it is at slot `spared`.
    /// Returns whether the block at `spared` was removed.
    #[inline]
    pub(super) fn remember(&mut self, queue: usize, slot: Slot, most: usize, spared: Slot) -> bool {
        self.link_front(queue, slot);
        if self.len(queue) <= most {
            return false;
        }
        let Some(last) = self.pop_back(queue) else { return false };
        if last != spared {
            self.forget(last);
        }
        last == spared
    }
}

/// Prefetching. The memory accesses of several requests are started together, so that their latencies
/// overlap.
impl<const QUEUES: usize, const RESIDENT: usize> Arena<QUEUES, RESIDENT> {
    /// Prefetches the index positions and the nodes of `blocks`.
    #[inline]
    pub(super) fn prefetch(&self, blocks: &[u64]) {
        self.each_home(blocks, |_| {});
    }

    /// Prefetches the index positions, the nodes, and the neighbors of `blocks`, for policies that move a
    /// block at every hit.
    #[inline]
    pub(super) fn prefetch_neighbors(&self, blocks: &[u64]) {
        self.each_home(blocks, |slots| {
            for &slot in slots {
                let node = &self.nodes[slot as usize];
                prefetch_index(&self.nodes, node.prev() as usize);
                prefetch_index(&self.nodes, node.next() as usize);
            }
        });
    }

    /// Prefetches the memory that the eviction of the last block of `queue` needs. Returns this block. The
    /// node before it can be located only after the block was read.
    #[inline]
    pub(super) fn prefetch_back(&self, queue: usize) -> u64 {
        let last = self.before(queue as Slot);
        let block = self.block(last);
        if !self.index.is_cached() {
            self.index.prefetch(block);
            prefetch_index(&self.nodes, self.before(last) as usize);
        }
        block
    }

    /// Prefetches the index positions of `blocks`.
    #[inline]
    pub(super) fn prefetch_places(&self, blocks: impl Iterator<Item = u64>) {
        if !self.index.is_cached() {
            blocks.for_each(|block| self.index.prefetch(block));
        }
    }

    /// Prefetches the index positions and nodes of `blocks`, and passes groups of nodes to `each`. In a
    /// group, zero represents a block that is not at its home position.
    #[inline]
    fn each_home(&self, blocks: &[u64], each: impl Fn(&[Slot])) {
        if self.index.is_cached() {
            return;
        }
        blocks.iter().for_each(|&block| self.index.prefetch(block));
        for group in blocks.chunks(super::GROUP) {
            let mut slots = [0; super::GROUP];
            for (slot, &block) in slots.iter_mut().zip(group) {
                let home = self.index.glance(block);
                *slot = select_unpredictable(home == Slot::MAX, 0, home);
                prefetch_index(&self.nodes, *slot as usize);
            }
            each(&slots[..group.len()]);
        }
    }
}

impl<const QUEUES: usize, const RESIDENT: usize> Arena<QUEUES, RESIDENT> {
    /// Panics unless index, queues, and unused slots are consistent.
    pub(super) fn check_invariants(&self) {
        self.index.check_invariants();
        for queue in 0..QUEUES {
            let (mut at, mut length) = (queue as Slot, 0);
            loop {
                let next = self.nodes[at as usize].next();
                assert_eq!(self.nodes[next as usize].prev(), at, "links of queue {queue} agree");
                if next as usize == queue {
                    break;
                }
                assert_eq!(self.queue(next), queue, "slot {next} knows its queue");
                let found = self.find(self.block(next));
                assert!(matches!(found, Ok(slot) if slot == next), "slot {next} is in the index");
                (at, length) = (next, length + 1);
            }
            assert_eq!(length, self.lengths[queue], "queue {queue} is counted right");
        }
        let tracked = self.lengths.iter().sum::<usize>();
        assert_eq!(tracked, self.index.len(), "every entry of the index is in a queue");
        let (mut slot, mut unused) = (self.unused, 0);
        while slot != NONE {
            (slot, unused) = (self.nodes[slot as usize].next(), unused + 1);
        }
        assert_eq!(QUEUES + tracked + unused, self.nodes.len(), "no slot is lost");
        assert!(tracked < self.bound, "{tracked} blocks are tracked, bound {}", self.bound - 1);
    }
}
