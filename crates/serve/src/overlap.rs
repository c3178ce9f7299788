//! Which of many numbered ranges of bytes overlap a given one, without looking at all of them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Numbered ranges. Those that are the same stand together; the others are found by how long they are and where
/// they begin: among ranges of less than twice a length, only few that begin before a place reach it.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    /// By start and end, for each power of two that the length reaches; the oldest number first.
    by_length: Vec<BTreeMap<(u64, u64), VecDeque<u64>>>,
}

impl Overlaps {
    /// Adds `range`, whose `number` is higher than those before. A range of no bytes overlaps none.
    pub(crate) fn insert(&mut self, range: &Range<u64>, number: u64) {
        let Some(class) = class_of(range) else { return };
        if self.by_length.len() <= class {
            self.by_length.resize_with(class + 1, BTreeMap::new);
        }
        self.by_length[class].entry((range.start, range.end)).or_default().push_back(number);
    }

    /// Takes `range` with its `number` out, which is the lowest of all; it may be out already.
    pub(crate) fn remove(&mut self, range: &Range<u64>, number: u64) {
        let Some(ranges) = class_of(range).and_then(|class| self.by_length.get_mut(class)) else { return };
        let key = (range.start, range.end);
        let Some(numbers) = ranges.get_mut(&key) else { return };
        if numbers.front() == Some(&number) {
            numbers.pop_front();
        }
        if numbers.is_empty() {
            ranges.remove(&key);
        }
    }

    /// Shows `visit` every range that overlaps `range`, with its numbers; what it takes out of them is out. Gives
    /// how many ranges were looked at.
    pub(crate) fn visit(
        &mut self,
        range: &Range<u64>,
        mut visit: impl FnMut(Range<u64>, &mut VecDeque<u64>),
    ) -> usize {
        let mut looked_at = 0;
        for (class, ranges) in self.by_length.iter_mut().enumerate() {
            let reach = 1_u64.checked_shl(class as u32 + 1).unwrap_or(u64::MAX);
            let first = range.start.saturating_sub(reach);
            let near = ranges.range_mut((first, 0)..(range.end, 0));
            for (&(start, end), numbers) in near {
                looked_at += 1;
                if end > range.start {
                    visit(start..end, numbers);
                }
            }
        }
        looked_at
    }
}

/// The power of two that the length of `range` reaches.
fn class_of(range: &Range<u64>) -> Option<usize> {
    range.end.checked_sub(range.start).and_then(u64::checked_ilog2).map(|class| class as usize)
}
