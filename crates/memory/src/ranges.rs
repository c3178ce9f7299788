//! Sets of bytes, as ranges that neither overlap nor touch.

use nacre_kernel::state::State;
use std::collections::BTreeMap;
use std::ops::Range;

/// A set of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub(crate) struct Ranges {
    /// End by start.
    #[state(varies)]
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The ranges, in order.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ends.iter().map(|(&start, &end)| start..end)
    }

    pub(crate) fn insert(&mut self, range: Range<u64>) {
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

    /// Takes a range out; false where nothing of it was in.
    pub(crate) fn remove(&mut self, range: Range<u64>) -> bool {
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

    /// Whether the bytes from `at` on are in, and how many from there on, up to `end`, are the same.
    pub(crate) fn run(&self, at: u64, end: u64) -> (bool, u64) {
        match self.last_overlapping(&(at..at + 1)) {
            Some((_, &to)) => (true, to.min(end) - at),
            None => {
                let next = self.ends.range(at..).next().map_or(end, |(&from, _)| from.min(end));
                (false, next - at)
            }
        }
    }

    pub(crate) fn overlaps(&self, range: &Range<u64>) -> bool {
        self.last_overlapping(range).is_some()
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
        fn ranges_are_a_set_of_bytes(steps in prop::collection::vec((any::<bool>(), 0u64..64, 0u64..20), 0..40), at in 0u64..64, length in 1u64..30) {
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
            for byte in 0..128 {
                prop_assert_eq!(held.iter().any(|range| range.contains(&byte)), set[byte as usize]);
            }
            let window = &set[at as usize..(at + length) as usize];
            prop_assert_eq!(ranges.overlaps(&(at..at + length)), window.contains(&true));
            let alike = window.iter().take_while(|&&member| member == window[0]).count() as u64;
            prop_assert_eq!(ranges.run(at, at + length), (window[0], alike));
        }
    }
}
