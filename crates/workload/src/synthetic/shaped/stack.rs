//! An LRU stack of objects of several sizes that can be searched by depth.
//!
//! Each access uses the next position of a row. A position holds an object until the object is accessed
//! again. A Fenwick tree (P. Fenwick, A new data structure for cumulative frequency tables, Software:
//! Practice and Experience 24(3), 1994) sums the blocks of the objects over positions. For each size, an
//! ordered set finds the nearest position with an object of that size. When the row is full, objects are
//! compacted in order.

use nacre_kernel::state::State;
use std::collections::BTreeSet;

/// Minimum number of positions of a row.
const PLACES_MIN: usize = 1 << 12;

/// Maximum distance in blocks between consecutive objects of a run. Objects of other runs can be between
/// them.
const BETWEEN_MAX: u64 = 256;

/// A stack of objects. The most recently accessed object is at the end of the row.
#[derive(State)]
#[state(after = "Stack::check_restored")]
pub(super) struct Stack {
    /// First block and number of blocks of the object at each position. Zero blocks mean an empty position.
    #[state(varies)]
    objects: Vec<(u64, u32)>,
    /// Sums of blocks over positions, as a Fenwick tree.
    #[state(varies)]
    sums: Vec<u64>,
    /// Positions of the objects of each group.
    groups: Vec<BTreeSet<u32>>,
    next: usize,
    held: usize,
    blocks: u64,
}

impl Stack {
    /// Creates an empty stack for `groups` object sizes.
    pub(super) fn new(groups: usize) -> Stack {
        let groups = vec![BTreeSet::new(); groups];
        let (objects, sums) = (vec![(0, 0); PLACES_MIN], vec![0; PLACES_MIN + 1]);
        Stack { objects, sums, groups, next: 0, held: 0, blocks: 0 }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let places = self.objects.len();
        let known = self.groups.iter().all(|group| group.last().is_none_or(|&last| (last as usize) < places));
        match known && self.sums.len() == places + 1 && self.next <= places && places >= PLACES_MIN {
            true => Ok(()),
            false => Err(format!("objects beyond the {places} places")),
        }
    }

    /// Position of the object of `group` that is nearest to a depth of `behind` blocks. `None` if the group
    /// is empty.
    pub(super) fn at_depth(&self, group: usize, behind: u64) -> Option<u32> {
        let target = self.place_below(self.blocks.saturating_sub(behind)) as u32;
        let group = &self.groups[group];
        let (older, newer) = (group.range(..=target).next_back(), group.range(target + 1..).next());
        match (older, newer) {
            (Some(&older), Some(&newer)) => {
                let depth = |place: u32| self.blocks - self.before(place as usize + 1);
                let off = |place: u32| depth(place).abs_diff(behind);
                Some(if off(newer) < off(older) { newer } else { older })
            }
            (one, other) => one.or(other).copied(),
        }
    }

    /// Position of the object of `group` that was accessed next after the object at `place`. `None` if it is
    /// more than [`BETWEEN_MAX`] blocks away.
    pub(super) fn following(&self, group: usize, place: u32) -> Option<u32> {
        let &next = self.groups[group].range(place + 1..).next()?;
        let between = self.before(next as usize) - self.before(place as usize);
        (between <= BETWEEN_MAX).then_some(next)
    }

    /// Position of the least recently accessed object of `group`, if any.
    pub(super) fn oldest(&self, group: usize) -> Option<u32> {
        self.groups[group].first().copied()
    }

    /// Pushes a new object.
    pub(super) fn push(&mut self, group: usize, first: u64, blocks: u32) {
        self.make_room();
        self.lay(group, first, blocks);
        self.held += 1;
    }

    /// Moves the object at `place` to the top, and returns its first block.
    pub(super) fn renew(&mut self, group: usize, place: u32, blocks: u32) -> u64 {
        let (first, held) = std::mem::take(&mut self.objects[place as usize]);
        assert_eq!(held, blocks, "objects of a group have one size");
        self.groups[group].remove(&place);
        self.add(place as usize, u64::from(blocks).wrapping_neg());
        self.blocks -= u64::from(blocks);
        self.make_room();
        self.lay(group, first, blocks);
        first
    }

    fn lay(&mut self, group: usize, first: u64, blocks: u32) {
        self.objects[self.next] = (first, blocks);
        self.groups[group].insert(self.next as u32);
        self.add(self.next, u64::from(blocks));
        self.blocks += u64::from(blocks);
        self.next += 1;
    }

    fn add(&mut self, place: usize, blocks: u64) {
        let mut node = place + 1;
        while node < self.sums.len() {
            self.sums[node] = self.sums[node].wrapping_add(blocks);
            node += node & node.wrapping_neg();
        }
    }

    /// Total number of blocks of the objects before `place`.
    fn before(&self, place: usize) -> u64 {
        let (mut node, mut sum) = (place, 0u64);
        while node > 0 {
            sum = sum.wrapping_add(self.sums[node]);
            node &= node - 1;
        }
        sum
    }

    /// The last position with fewer than `blocks` blocks before it.
    fn place_below(&self, blocks: u64) -> usize {
        let (mut place, mut left) = (0, blocks);
        let mut step = self.objects.len();
        while step > 0 {
            if place + step < self.sums.len() && self.sums[place + step] < left {
                place += step;
                left -= self.sums[place];
            }
            step /= 2;
        }
        place.min(self.objects.len() - 1)
    }

    /// Compacts the objects if the row is full. Positions change, but their order does not.
    fn make_room(&mut self) {
        if self.next < self.objects.len() {
            return;
        }
        let places = ((self.held + 1) * 4).next_power_of_two().max(PLACES_MIN);
        let group_of = |groups: &[BTreeSet<u32>], place: u32| {
            groups.iter().position(|group| group.contains(&place)).expect("every object has a group")
        };
        let old = std::mem::replace(&mut self.objects, vec![(0, 0); places]);
        let empty = vec![BTreeSet::new(); self.groups.len()];
        let groups = std::mem::replace(&mut self.groups, empty);
        (self.sums, self.next, self.blocks) = (vec![0; places + 1], 0, 0);
        for (place, (first, blocks)) in old.into_iter().enumerate().filter(|(_, object)| object.1 > 0) {
            self.lay(group_of(&groups, place as u32), first, blocks);
        }
    }
}
