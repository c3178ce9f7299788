//! Compares the mapping table with a standard map.

use super::*;
use crate::tests::random;

/// A table of pages that are programmed sequentially, with its expected contents.
struct Model {
    table: Table,
    owners: Numbers,
    /// Page that was programmed last, counted from 1.
    newest: u64,
    expected: std::collections::BTreeMap<u64, u64>,
}

impl Model {
    /// Creates the table of a drive with 2^21 pages. If `is_wide`, the drive instead has more than 2^33
    /// pages and has already programmed almost 2^33 of them.
    fn new(units: usize, is_wide: bool) -> Model {
        let (owners, newest) = match is_wide {
            false => (Numbers::Narrow(vec![0; 1 << 21]), 0),
            true => (Numbers::new(5 << 31, 5 << 31), (1 << 33) - 30_000),
        };
        let expected = std::collections::BTreeMap::new();
        Model { table: Table::hashed(units, is_wide), owners, newest, expected }
    }

    fn write(&mut self, unit: u64) {
        self.owners.set(self.newest as usize, unit);
        self.newest += 1;
        self.table.set(unit, self.newest, &self.owners);
        self.expected.insert(unit, self.newest);
    }

    fn trim(&mut self, unit: u64) {
        self.table.set(unit, 0, &self.owners);
        self.expected.remove(&unit);
    }

    fn check(&self, units: impl Iterator<Item = u64>) {
        for unit in units {
            let expected = self.expected.get(&unit).copied().unwrap_or(0);
            assert_eq!(self.table.get(unit, &self.owners), expected, "unit {unit}");
        }
        assert_eq!(self.table.mapped(), self.expected.len());
        let mut entries: Vec<u64> = self.table.entries().collect();
        let mut expected: Vec<u64> = self.expected.values().copied().collect();
        entries.sort_unstable();
        expected.sort_unstable();
        assert!(entries == expected, "the entries of all units");
    }

    fn lists(&self) -> usize {
        self.table.parts.iter().filter(|part| part.is_list()).count()
            + self.table.wide.iter().filter(|part| part.is_list()).count()
    }

    /// Returns the memory in bytes per mapped unit, without the memory of an empty table. The owner and the
    /// valid bit of each page are included.
    fn bytes_each(&self) -> f64 {
        let is_wide = !self.table.wide.is_empty();
        let owner = if is_wide { 4.25 } else { 4.0 };
        let empty = Table::hashed(self.table.len(), is_wide).bytes();
        (self.table.bytes() - empty) as f64 / self.expected.len() as f64 + owner + 1.0 / 8.0
    }
}

#[test]
fn a_hashed_table_equals_a_map() {
    for is_wide in [false, true] {
        let mut random = random("hashed");
        let units = 2 * PART_UNITS as u64 + 1000;
        let mut model = Model::new(units as usize, is_wide);
        for step in 0..60_000 {
            // Half of the steps use few units, so that these units are written and trimmed repeatedly.
            let unit = random.below(if step % 2 == 0 { 900 } else { units });
            if random.chance(0.3) { model.trim(unit) } else { model.write(unit) }
        }
        assert_eq!(model.lists(), 0);
        model.check((0..units).step_by(7).chain(0..900));
        let all: Vec<u64> = model.expected.keys().copied().collect();
        all.iter().for_each(|&unit| model.trim(unit));
        model.check(0..units);
    }
}

#[test]
fn a_part_that_is_written_in_order_or_nearly_full_is_a_list() {
    let mut model = Model::new(2 * PART_UNITS, true);
    (1000..=1000 + u64::from(RUN)).for_each(|unit| model.write(unit));
    assert_eq!(model.lists(), 1);
    let mut random = random("lists");
    let second = PART_UNITS as u64;
    while model.lists() == 1 {
        model.write(second + random.below(second));
    }
    let mapped = model.expected.range(second..).count();
    assert!((HASHED_MAX..=HASHED_MAX + 1).contains(&mapped), "{mapped}");
    model.trim(second + 5);
    model.check(0..2 * second);
    model.table.clear();
    model.expected.clear();
    model.check(0..2 * second);
}

/// Checks the memory of the table after random writes to a large drive. A list would use a page of system
/// memory per written unit.
#[test]
fn random_writes_to_a_large_drive_take_at_most_ten_bytes_a_unit() {
    for (units, is_wide) in [(1 << 26, false), (1 << 33, true)] {
        let mut random = random("large");
        let mut model = Model::new(units, is_wide);
        let (mut most, first) = (0.0_f64, (units as u64) - (1 << 26));
        for count in 1..=1_500_000 {
            model.write(first + random.below(1 << 26));
            if count >= 100_000 && count % 1000 == 0 {
                most = most.max(model.bytes_each());
            }
        }
        assert_eq!(model.lists(), 0);
        assert!(most <= 10.0, "{most} in a drive of {units} units");
        model.check((first..units as u64).step_by(1001));
    }
}

/// Checks that a table uses wide entries as soon as an entry can exceed the narrow limit. In the tests of
/// this crate, numbers below 2^16 are narrow. An entry is a page number plus one.
#[test]
fn the_entry_of_the_last_narrow_page_is_wide() {
    assert!(Table::new(10, (1 << 16) - 1).wide.is_empty());
    assert!(!Table::new(10, 1 << 16).wide.is_empty());
}
