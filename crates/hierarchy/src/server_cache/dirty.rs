//! Which blocks the backing does not have yet. Knows neither bytes nor devices.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A dirty block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Entry {
    /// The order in which blocks became dirty; of a block that waits to be written back.
    age: u64,
    /// When it has been written back, if it is; otherwise the end of an earlier time, before which it may not be.
    pub(super) until: Time,
    /// Whether it waits to be written back.
    pub(super) waits: bool,
    /// From when on its level holds all of it: the end of the first write of the whole block that is done.
    whole_from: Time,
}

/// Dirty blocks: those that wait to be written back, by age, and those that are being written back.
#[derive(Debug, State)]
#[state(after = "Dirty::check_restored")]
pub(super) struct Dirty {
    #[state(varies)]
    blocks: BTreeMap<u64, Entry>,
    /// Blocks that wait, by age.
    #[state(varies)]
    waiting: BTreeMap<u64, u64>,
    /// Blocks that are being written back, by when that is done.
    #[state(varies)]
    under_way: BTreeSet<(Time, u64)>,
    /// Blocks that are not dirty any more, by when the backing has them: a loss of power may come before.
    #[state(varies)]
    landing: BTreeSet<(Time, u64)>,
    ages: u64,
}

impl Dirty {
    /// No block is.
    pub(super) fn new() -> Dirty {
        Dirty {
            blocks: BTreeMap::new(),
            waiting: BTreeMap::new(),
            under_way: BTreeSet::new(),
            landing: BTreeSet::new(),
            ages: 0,
        }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let fits = |(&age, block): (&u64, &u64)| {
            self.blocks.get(block).is_some_and(|entry| entry.waits && entry.age == age) && age < self.ages
        };
        let is_under_way = |&(until, block): &(Time, u64)| {
            self.blocks.get(&block).is_some_and(|of| !of.waits && of.until == until)
        };
        let count = self.waiting.len() + self.under_way.len();
        match count == self.blocks.len()
            && self.waiting.iter().all(fits)
            && self.under_way.iter().all(is_under_way)
        {
            true => Ok(()),
            false => Err(format!("{} dirty blocks in a wrong order", self.blocks.len())),
        }
    }

    /// Dirty blocks, those being written back included.
    pub(super) fn len(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Blocks that wait to be written back.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Whether the backing does not have `block` as it is.
    pub(super) fn contains(&self, block: u64) -> bool {
        self.blocks.contains_key(&block)
    }

    /// All of them.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks.keys().copied()
    }

    /// `block` was written. Its level holds all of it from `whole_from` on, or from when an earlier write of the whole block
    /// says. Whether it has to be written back once more for it.
    pub(super) fn mark(&mut self, block: u64, whole_from: Time) -> bool {
        let before = self.blocks.get_mut(&block).map(|entry| {
            entry.whole_from = entry.whole_from.min(whole_from);
            *entry
        });
        if before.is_some_and(|entry| entry.waits) {
            return false;
        }
        let until = before.map_or(Time::ZERO, |entry| entry.until);
        let whole_from = before.map_or(whole_from, |entry| entry.whole_from);
        self.under_way.remove(&(until, block));
        self.blocks.insert(block, Entry { age: self.ages, until, waits: true, whole_from });
        self.waiting.insert(self.ages, block);
        self.ages += 1;
        true
    }

    /// The `count` blocks that wait longest.
    pub(super) fn oldest(&self, count: u64) -> Vec<u64> {
        self.waiting.values().copied().take(count as usize).collect()
    }

    /// Before this `block` may not be written back: an earlier time is not over.
    pub(super) fn free_from(&self, block: u64) -> Time {
        self.blocks.get(&block).map_or(Time::ZERO, |entry| entry.until)
    }

    /// From when on the level of `block` holds all of it.
    pub(super) fn whole_from(&self, block: u64) -> Time {
        self.blocks.get(&block).map_or(Time::ZERO, |entry| entry.whole_from)
    }

    /// `block`, which waits, is being written back until `until`.
    pub(super) fn begin(&mut self, block: u64, until: Time) {
        let entry = self.blocks.get_mut(&block).expect("a block that is written back is dirty");
        assert!(self.waiting.remove(&entry.age) == Some(block), "block {block} is written back twice");
        *entry = Entry { until, waits: false, ..*entry };
        self.under_way.insert((until, block));
    }

    /// What has been written back by `now` is clean. No loss of power comes before `floor`.
    pub(super) fn settle(&mut self, now: Time, floor: Time) {
        while let Some(&(until, block)) = self.under_way.first()
            && until <= now
        {
            self.under_way.pop_first();
            self.blocks.remove(&block);
            self.landing.insert((until, block));
        }
        while self.landing.first().is_some_and(|&(until, _)| until <= floor) {
            self.landing.pop_first();
        }
    }

    /// `block` left the cache, and the backing has it at `until`.
    pub(super) fn left(&mut self, block: u64, until: Time) {
        self.landing.insert((until, block));
    }

    /// Blocks that the backing does not have when the power fails at `at`.
    pub(super) fn missing(&self, at: Time) -> BTreeSet<u64> {
        let landed = |until: &Time| *until <= at;
        let dirty = self.blocks.iter().filter(|(_, entry)| entry.waits || !landed(&entry.until));
        let landing = self.landing.iter().filter(|(until, _)| !landed(until));
        dirty.map(|(&block, _)| block).chain(landing.map(|&(_, block)| block)).collect()
    }

    /// When the backing has the last of those being written back, those included that left; zero without any.
    pub(super) fn last_until(&self) -> Time {
        let last = |of: &BTreeSet<(Time, u64)>| of.last().map_or(Time::ZERO, |&(until, _)| until);
        last(&self.under_way).max(last(&self.landing))
    }

    /// `block` leaves the cache; what it was if it was dirty.
    pub(super) fn take(&mut self, block: u64) -> Option<Entry> {
        let entry = self.blocks.remove(&block)?;
        if entry.waits {
            self.waiting.remove(&entry.age);
        } else {
            self.under_way.remove(&(entry.until, block));
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_written_back_oldest_first_and_once_for_all_writes_before() {
        let us = Time::from_us;
        let (mut dirty, now) = (Dirty::new(), us(0));
        assert!(dirty.mark(7, now) && dirty.mark(3, now) && !dirty.mark(7, now) && dirty.mark(5, now));
        assert_eq!((dirty.oldest(2), dirty.waiting(), dirty.len()), (vec![7, 3], 3, 3));
        dirty.begin(7, us(10));
        dirty.begin(3, us(20));
        assert_eq!((dirty.waiting(), dirty.len(), dirty.last_until()), (1, 3, us(20)));
        assert!(dirty.mark(7, now), "what is written meanwhile has to be written back again");
        assert_eq!(dirty.free_from(7), us(10), "after the first time");
        dirty.settle(us(20), us(15));
        assert_eq!(dirty.oldest(9), [5, 7]);
        assert!(!dirty.contains(3));
        assert_eq!(
            (dirty.missing(us(19)).len(), dirty.missing(us(20)).len()),
            (3, 2),
            "block 3 is on its way until then"
        );
        assert_eq!(dirty.take(5).map(|entry| entry.waits), Some(true));
        assert_eq!((dirty.take(5), dirty.blocks().collect::<Vec<_>>()), (None, vec![7]));
        dirty.check_restored().expect("the books agree");
    }

    #[test]
    fn a_level_holds_a_block_when_the_first_of_its_whole_writes_is_done() {
        let us = Time::from_us;
        let mut dirty = Dirty::new();
        let mut from = |whole| {
            dirty.mark(7, whole);
            dirty.whole_from(7)
        };
        assert_eq!(from(us(30)), us(30));
        assert_eq!(from(Time::MAX), us(30), "a part does not make it whole");
        assert_eq!(from(us(40)), us(30), "it was whole before");
        assert_eq!(from(us(20)), us(20), "the newer write is done first");
        dirty.begin(7, us(50));
        assert!(dirty.mark(7, Time::MAX), "it is written while it is written back");
        assert_eq!(dirty.whole_from(7), us(20));
    }
}
