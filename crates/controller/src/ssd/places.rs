//! The places of the write buffer: which programs hold one, and whose a write takes that finds none.

use super::config::BufferPlaces;
use super::die::Die;
use nacre_kernel::Time;
use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Programs of the host's data under way, each with the data of one operation in the buffer.
#[derive(State)]
pub(super) struct Places {
    /// How many of the ring there are; 0 where the places are a pool.
    #[state(skip = "from the configuration")]
    ring_size: usize,
    /// Those of a ring, oldest first: the die, and the end on its clock.
    ring: VecDeque<(u32, Time)>,
    #[state(skip = "from the configuration")]
    pool_size: usize,
    /// Those of a pool by die, each oldest first.
    pool: Vec<VecDeque<Time>>,
    /// Programs in the pool.
    pooled: usize,
}

impl Places {
    /// So many places, at least one, for programs of so many `dies`.
    pub(super) fn new(kind: BufferPlaces, count: u64, dies: u32) -> Places {
        let count = usize::try_from(count.max(1)).unwrap_or(usize::MAX);
        let (ring_size, pool_size, dies) = match kind {
            BufferPlaces::Ring => (count, 0, 0),
            BufferPlaces::Pool => (0, count, dies as usize),
        };
        Places { ring_size, ring: VecDeque::new(), pool_size, pool: vec![VecDeque::new(); dies], pooled: 0 }
    }

    /// A program of `die` takes a place; gives the one that leaves its own to it, where all are taken.
    #[inline]
    pub(super) fn take(&mut self, die: u32, end: Time, dies: &[Die]) -> Option<(u32, Time)> {
        if self.ring.len() < self.ring_size {
            self.ring.push_back((die, end));
            return None;
        }
        self.take_another(die, end, dies)
    }

    /// The same where the ring is full, or is none.
    #[inline(never)]
    fn take_another(&mut self, die: u32, end: Time, dies: &[Die]) -> Option<(u32, Time)> {
        if self.ring_size > 0 {
            let oldest = self.ring.pop_front();
            self.ring.push_back((die, end));
            return oldest;
        }
        let first = if self.pooled == self.pool_size { self.first_to_end(dies) } else { None };
        self.pool[die as usize].push_back(end);
        self.pooled += 1;
        first
    }

    /// The same of a page that joins a program of `die` which waits until `end`.
    pub(super) fn take_joined(&mut self, die: u32, end: Time, dies: &[Die]) -> Option<(u32, Time)> {
        let left = self.take(die, end, dies);
        if let Some(ends) = self.pool.get_mut(die as usize) {
            ends.make_contiguous().sort_unstable();
        }
        left
    }

    /// Takes out the program of the pool that ends first. Those of one die end in their order.
    fn first_to_end(&mut self, dies: &[Die]) -> Option<(u32, Time)> {
        let ends = self.pool.iter().zip(dies).enumerate().filter_map(|(number, (programs, die))| {
            let end = *programs.front()?;
            Some((die.time_of(end), number))
        });
        let (_, die) = ends.min()?;
        self.pooled -= 1;
        Some((die as u32, self.pool[die].pop_front()?))
    }

    /// All programs that hold a place: the die, and the end on its clock.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, Time)> {
        let of_die =
            |(die, ends): (u32, &VecDeque<Time>)| ends.iter().map(|&end| (die, end)).collect::<Vec<_>>();
        self.ring.iter().copied().chain((0..).zip(&self.pool).flat_map(of_die))
    }

    /// The buffer is empty.
    pub(super) fn clear(&mut self) {
        self.ring.clear();
        self.pool.iter_mut().for_each(VecDeque::clear);
        self.pooled = 0;
    }

    pub(super) fn check_invariants(&self) {
        assert!(self.ring.len() <= self.ring_size, "the write buffer holds more than it has places");
        assert!(self.pooled <= self.pool_size, "the write buffer holds more than it has places");
        let counted: usize = self.pool.iter().map(VecDeque::len).sum();
        assert_eq!(counted, self.pooled, "programs with a place");
    }
}
