//! The table of a cache that outlives a loss of power: which dirty block lies where, with the times from which
//! that holds.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::BTreeMap;

/// Changes that may be there before those that are settled are looked for.
const CHANGES_MIN: usize = 256;

/// Dirty blocks with their places. Of the changes of a block, the one noted last among those whose time has come
/// holds: later ones are interrupted by a loss of power.
#[derive(Debug, State)]
pub(super) struct Table {
    #[state(varies)]
    changes: BTreeMap<u64, Vec<Change>>,
    count: usize,
    limit: usize,
}

#[derive(Clone, Copy, Debug, Value)]
struct Change {
    from: Time,
    /// Where the block is; nowhere when the backing has it.
    place: Option<u64>,
}

impl Table {
    /// No block is dirty.
    pub(super) fn new() -> Table {
        Table { changes: BTreeMap::new(), count: 0, limit: CHANGES_MIN }
    }

    /// From `from` on `block` is dirty and lies at `place`, or is not dirty. No loss of power comes before `floor`.
    pub(super) fn note(&mut self, block: u64, place: Option<u64>, from: Time, floor: Time) {
        self.changes.entry(block).or_default().push(Change { from, place });
        self.count += 1;
        if self.count >= self.limit {
            self.settle(floor);
        }
    }

    /// Dirty blocks and their places when the power fails at `at`.
    pub(super) fn at(&self, at: Time) -> Vec<(u64, u64)> {
        let holds = |(&block, changes): (&u64, &Vec<Change>)| {
            let last = changes.iter().rev().find(|change| change.from <= at)?;
            Some((block, last.place?))
        };
        self.changes.iter().filter_map(holds).collect()
    }

    /// No loss of power comes before `floor`: what was before the last change by then is forgotten.
    fn settle(&mut self, floor: Time) {
        self.changes.retain(|_, changes| {
            if let Some(last) = changes.iter().rposition(|change| change.from <= floor) {
                changes.drain(..last);
            }
            !(changes.len() == 1 && changes[0].place.is_none() && changes[0].from <= floor)
        });
        self.count = self.changes.values().map(Vec::len).sum();
        self.limit = (2 * self.count).max(CHANGES_MIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_changes_whose_time_has_come_the_last_one_holds() {
        let us = Time::from_us;
        let mut table = Table::new();
        table.note(7, Some(1), us(10), us(0));
        // Written back until 40, and written again before that.
        table.note(7, None, us(40), us(0));
        table.note(7, Some(1), us(20), us(0));
        table.note(8, Some(2), us(15), us(0));
        table.note(8, None, us(30), us(0));
        for settled in [false, true] {
            if settled {
                table.settle(us(9));
            }
            assert_eq!(table.at(us(9)), []);
            assert_eq!(table.at(us(12)), [(7, 1)]);
            assert_eq!(table.at(us(29)), [(7, 1), (8, 2)]);
            assert_eq!(table.at(us(50)), [(7, 1)]);
        }
        table.settle(us(35));
        assert_eq!((table.at(us(35)), table.count), (vec![(7, 1)], 1));
    }
}
