//! The table of a cache that outlives a loss of power: which dirty block lies where, with the times from which
//! that holds.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use nacre_media::persistence::{Change, Pending};
use std::collections::BTreeMap;
use std::ops::Range;

/// Dirty blocks with their places. Of the changes of a block, the one noted last among those whose time has come
/// holds: later ones are interrupted by a loss of power.
#[derive(Debug, Default, State)]
pub(super) struct Table {
    /// As it is when the time of all has come.
    #[state(varies)]
    places: BTreeMap<u64, u64>,
    pending: Pending<Noted>,
}

#[derive(Clone, Copy, Debug, Value)]
struct Noted {
    block: u64,
    from: Time,
    /// Where the block was before; nowhere when it was not dirty.
    before: Option<u64>,
}

impl Change for Noted {
    type Ends = ();

    fn place(&self) -> Range<u64> {
        self.block..self.block + 1
    }

    fn landed_at(&self, (): &()) -> Time {
        self.from
    }

    fn check(&self) -> Result<(), String> {
        match self.block {
            u64::MAX => Err("a block that is none".into()),
            _ => Ok(()),
        }
    }
}

impl Table {
    /// From `from` on `block` is dirty and lies at `place`, or is not dirty. No loss of power comes before `floor`.
    pub(super) fn note(&mut self, block: u64, place: Option<u64>, from: Time, floor: Time) {
        let before = self.put(block, place);
        self.pending.push(Noted { block, from, before }, from);
        self.pending.settle(floor, &());
    }

    /// The power fails at `at`: dirty blocks and their places.
    pub(super) fn fail(&mut self, at: Time) -> Vec<(u64, u64)> {
        let mut pending = std::mem::take(&mut self.pending);
        pending.fail(at, &(), |lost| {
            self.put(lost.change.block, lost.change.before);
        });
        self.places.iter().map(|(&block, &place)| (block, place)).collect()
    }

    /// Puts `block` at `place`; where it was.
    fn put(&mut self, block: u64, place: Option<u64>) -> Option<u64> {
        match place {
            Some(place) => self.places.insert(block, place),
            None => self.places.remove(&block),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_changes_whose_time_has_come_the_last_one_holds() {
        let us = Time::from_us;
        for (at, floor, expected) in [
            (9, 0, vec![]),
            (12, 0, vec![(7, 1)]),
            (29, 0, vec![(7, 1), (8, 2)]),
            (29, 20, vec![(7, 1), (8, 2)]),
            (50, 0, vec![(7, 1)]),
            (50, 45, vec![(7, 1)]),
        ] {
            let mut table = Table::default();
            table.note(7, Some(1), us(10), us(0));
            // Written back until 40, and written again before that.
            table.note(7, None, us(40), us(0));
            table.note(7, Some(1), us(20), us(0));
            table.note(8, Some(2), us(15), us(0));
            table.note(8, None, us(30), us(floor));
            assert_eq!(table.fail(us(at)), expected, "at {at} us");
            assert_eq!(table.fail(us(99)), expected, "and nothing of it comes later");
        }
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let mut table = Table::default();
        for time in 0..1000 {
            table.note(time % 7, Some(time), Time::from_us(time + 5), Time::from_us(time));
        }
        assert_eq!((table.places.len(), table.pending.len()), (7, 5));
    }
}
