//! Timers: one pending event for each resource.

use crate::state::{State, StateError, StateReader, StateWriter, Value};
use crate::time::Time;

/// Number of children of a node. Their times fill a cache line.
const FAN: usize = 8;
/// Maximum number of levels of the tree.
const LEVELS: usize = 8;

/// The next event time of each resource. The number of resources is fixed. Simultaneous events are in the
/// order of the resource numbers.
///
/// The timers are a tournament tree, in which each node holds the earliest times of its eight children. The
/// cost of setting a timer depends on the number of resources and not on the number of pending events. The
/// tree is cheaper than an [`Agenda`](super::Agenda) if no resource ever has two pending events. Eight
/// children are compared without branches. A binary tree makes fewer comparisons, but the processor
/// mispredicts a branch at each level.
#[derive(Clone, Debug)]
pub struct Timers {
    /// Nodes of all levels, from the timers to the root.
    nodes: Vec<Node>,
    /// Index of the first node of each level.
    starts: [u32; LEVELS],
    levels: usize,
    /// Time of the next event.
    first: u64,
    count: usize,
}

/// Times of eight events in picoseconds; `u64::MAX` means no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
struct Node([u64; FAN]);

impl Node {
    const EMPTY: Node = Node([u64::MAX; FAN]);

    /// Earliest time in the node.
    #[inline]
    fn first(&self) -> u64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        (a.min(b).min(c.min(d))).min(e.min(f).min(g.min(h)))
    }

    /// Index of the first child whose time is `at`.
    #[inline]
    fn position(&self, at: u64) -> usize {
        let mask = self.0.iter().rev().fold(0_u32, |mask, &time| mask << 1 | u32::from(time == at));
        mask.trailing_zeros() as usize
    }
}

impl Timers {
    /// Creates `count` timers, none of which is set.
    pub fn new(count: usize) -> Timers {
        let (mut starts, mut levels, mut all) = ([0; LEVELS], 0, 0);
        let mut of_level = count.max(1);
        loop {
            of_level = of_level.div_ceil(FAN);
            starts[levels] = all as u32;
            levels += 1;
            all += of_level;
            if of_level == 1 {
                break;
            }
        }
        Timers { nodes: vec![Node::EMPTY; all], starts, levels, first: u64::MAX, count }
    }

    /// Sets the event of resource `number` to `at`, replacing its earlier event.
    #[inline]
    pub fn set(&mut self, number: usize, at: Time) {
        let at = at.as_ps();
        if self.nodes[number / FAN].0[number % FAN] != u64::MAX {
            return self.replace(number, at);
        }
        // The times in all levels can only decrease here.
        self.first = self.first.min(at);
        let mut place = number;
        for &start in &self.starts[..self.levels] {
            let time = &mut self.nodes[start as usize + place / FAN].0[place % FAN];
            *time = at.min(*time);
            place /= FAN;
        }
    }

    /// Removes the event of resource `number`.
    #[inline]
    pub fn clear(&mut self, number: usize) {
        self.replace(number, u64::MAX);
    }

    /// Sets a timer and updates the earliest times of its nodes up to the root.
    #[inline]
    fn replace(&mut self, number: usize, at: u64) {
        let (mut place, mut at) = (number, at);
        for &start in &self.starts[..self.levels] {
            let node = &mut self.nodes[start as usize + place / FAN];
            node.0[place % FAN] = at;
            (place, at) = (place / FAN, node.first());
        }
        self.first = at;
    }

    /// Time of the next event; [`Time::MAX`] if no timer is set.
    #[inline]
    pub fn next(&self) -> Time {
        Time::from_ps(self.first)
    }

    /// Removes the next event and returns the number of its resource.
    ///
    /// # Panics
    /// Panics if no timer is set.
    #[inline]
    pub fn take_next(&mut self) -> usize {
        assert!(self.first != u64::MAX, "no timer is set");
        let mut place = 0;
        for &start in self.starts[..self.levels].iter().rev() {
            place = place * FAN + self.nodes[start as usize + place].position(self.first);
        }
        self.clear(place);
        place
    }

    /// Clears all timers.
    pub fn clear_all(&mut self) {
        self.nodes.fill(Node::EMPTY);
        self.first = u64::MAX;
    }
}

impl State for Timers {
    fn save(&self, state: &mut StateWriter) {
        state.put_u64(self.count as u64);
        for &at in self.nodes.iter().flat_map(|node| &node.0).take(self.count) {
            state.put_u64(at);
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        let count = u64::read(state)?;
        if count != self.count as u64 {
            return Err(state.error(format!("{} timers", self.count), count.to_string()));
        }
        self.clear_all();
        for number in 0..self.count {
            let at = u64::read(state)?;
            self.set(number, Time::from_ps(at));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;

    #[test]
    fn events_come_in_time_order_and_simultaneous_ones_in_that_of_their_resources() {
        let mut random = Streams::new(3).stream("timers");
        for count in [1, 2, 3, 7, 8, 9, 40, 64, 65, 600] {
            let mut timers = Timers::new(count);
            let mut known = vec![u64::MAX; count];
            for _ in 0..2_000 {
                let number = random.below(count as u64) as usize;
                known[number] = random.below(50);
                timers.set(number, Time::from_ps(known[number]));
                if random.chance(0.4) {
                    let (at, first) = (0..count).map(|number| (known[number], number)).min().unwrap();
                    assert_eq!(timers.next(), Time::from_ps(at));
                    assert_eq!(timers.take_next(), first);
                    known[first] = u64::MAX;
                    if known.iter().all(|&at| at == u64::MAX) {
                        assert_eq!(timers.next(), Time::MAX);
                    }
                }
            }
        }
    }
}
