//! Sets of numbers, e.g. byte addresses, stored as ranges that neither overlap nor touch.

use crate::state::State;
use std::collections::BTreeMap;
use std::ops::Range;

/// A set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub struct Ranges {
    /// End of each range, indexed by its start.
    #[state(varies)]
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Ranges in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ends.iter().map(|(&start, &end)| start..end)
    }

    /// Adds a range.
    pub fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        while let Some((&from, &to)) = self.ends.range(..=end).next_back().filter(|&(_, &to)| to >= start) {
            self.ends.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.ends.insert(start, end);
    }

    /// Removes a range. Returns whether any number of the range was in the set.
    pub fn remove(&mut self, range: Range<u64>) -> bool {
        let mut was_there = false;
        while let Some((&from, &to)) = self.last_overlapping(&range) {
            was_there = true;
            self.ends.remove(&from);
            if from < range.start {
                self.ends.insert(from, range.start);
            }
            if to > range.end {
                self.ends.insert(range.end, to);
            }
        }
        was_there
    }

    /// Whether `at` is in the set, and for how many consecutive values, from `at` up to at most `end`, this
    /// answer holds.
    pub fn run(&self, at: u64, end: u64) -> (bool, u64) {
        match self.last_overlapping(&(at..at + 1)) {
            Some((_, &to)) => (true, to.min(end) - at),
            None => {
                let next = self.ends.range(at..).next().map_or(end, |(&from, _)| from.min(end));
                (false, next - at)
            }
        }
    }

    /// Whether any number of `range` is in the set.
    pub fn overlaps(&self, range: &Range<u64>) -> bool {
        self.last_overlapping(range).is_some()
    }

    /// Subranges of `range` that are not in the set, in ascending order.
    pub fn gaps(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut at = range.start;
        std::iter::from_fn(move || {
            while at < range.end {
                let (is_in, count) = self.run(at, range.end);
                let part = at..at + count;
                at = part.end;
                if !is_in {
                    return Some(part);
                }
            }
            None
        })
    }

    fn last_overlapping(&self, range: &Range<u64>) -> Option<(&u64, &u64)> {
        if range.is_empty() {
            return None;
        }
        self.ends.range(..range.end).next_back().filter(|&(_, &to)| to > range.start)
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_a_set_of_numbers(steps in prop::collection::vec((any::<bool>(), 0u64..64, 0u64..20), 0..40), at in 0u64..64, length in 1u64..30) {
            let mut ranges = Ranges::default();
            let mut set = [false; 128];
            for (inserts, start, length) in steps {
                let range = start..start + length;
                let members = &mut set[start as usize..(start + length) as usize];
                if inserts {
                    ranges.insert(range);
                } else {
                    prop_assert_eq!(ranges.remove(range), members.contains(&true));
                }
                members.fill(inserts);
            }
            let held: Vec<_> = ranges.iter().collect();
            prop_assert!(held.windows(2).all(|pair| pair[0].end < pair[1].start), "{:?}", held);
            let gaps: Vec<_> = ranges.gaps(0..128).collect();
            for number in 0..128 {
                prop_assert_eq!(held.iter().any(|range| range.contains(&number)), set[number as usize]);
                prop_assert_eq!(gaps.iter().any(|range| range.contains(&number)), !set[number as usize]);
            }
            let window = &set[at as usize..(at + length) as usize];
            prop_assert_eq!(ranges.overlaps(&(at..at + length)), window.contains(&true));
            let alike = window.iter().take_while(|&&member| member == window[0]).count() as u64;
            prop_assert_eq!(ranges.run(at, at + length), (window[0], alike));
        }
    }
}
