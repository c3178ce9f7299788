//! One pending event for each resource.

use crate::state::{State, StateError, StateReader, StateWriter, Value};
use crate::time::Time;

/// When the next event of each of a fixed number of resources is due. Of simultaneous events that of the resource with the
/// smallest number comes first.
///
/// A tournament: each node holds the earlier of its two children, so that setting one timer looks at as many nodes as the
/// number of resources has bits, whatever is outstanding. Cheaper than an [`Agenda`](super::Agenda) if no resource ever
/// has two events.
#[derive(Clone, Debug)]
pub struct Timers {
    /// The node at 1 is the first of all; the children of `n` are `2 n` and `2 n + 1`; leaves come last.
    nodes: Vec<u64>,
    leaves: usize,
}

impl Timers {
    /// `count` timers, none of which is set.
    pub fn new(count: usize) -> Timers {
        let leaves = count.next_power_of_two();
        Timers { nodes: vec![u64::MAX; 2 * leaves], leaves }
    }

    /// The event of resource `number` is due at `at`, whatever it was before.
    #[inline]
    pub fn set(&mut self, number: usize, at: Time) {
        let mut node = self.leaves + number;
        self.nodes[node] = at.as_ps();
        while node > 1 {
            node /= 2;
            let earlier = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            if self.nodes[node] == earlier {
                return;
            }
            self.nodes[node] = earlier;
        }
    }

    /// Resource `number` has no event.
    #[inline]
    pub fn clear(&mut self, number: usize) {
        self.set(number, Time::MAX);
    }

    /// Time of the next event; [`Time::MAX`] if no timer is set.
    #[inline]
    pub fn next(&self) -> Time {
        Time::from_ps(self.nodes[1])
    }

    /// Takes the next event: its resource, whose timer is not set any more.
    ///
    /// # Panics
    /// If no timer is set.
    #[inline]
    pub fn take_next(&mut self) -> usize {
        let first = self.nodes[1];
        assert!(first != u64::MAX, "no timer is set");
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            node += usize::from(self.nodes[node] != first);
        }
        let number = node - self.leaves;
        self.clear(number);
        number
    }

    /// Clears all timers.
    pub fn clear_all(&mut self) {
        self.nodes.fill(u64::MAX);
    }
}

impl State for Timers {
    fn save(&self, state: &mut StateWriter) {
        state.put_u64(self.leaves as u64);
        for &at in &self.nodes[self.leaves..] {
            state.put_u64(at);
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        let leaves = u64::read(state)?;
        if leaves != self.leaves as u64 {
            return Err(state.error(format!("{} timers", self.leaves), leaves.to_string()));
        }
        self.clear_all();
        for number in 0..self.leaves {
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
        for count in [1, 2, 3, 7, 40] {
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
