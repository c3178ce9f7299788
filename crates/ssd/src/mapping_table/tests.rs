//! The mapping table against a standard map.

use super::*;
use crate::tests::random;

/// A table over pages that are programmed sequentially, and its expected contents.
struct Model {
    table: Table,
    owners: Vec<u32>,
    expected: std::collections::BTreeMap<u32, u32>,
}

impl Model {
    fn new(units: usize) -> Model {
        let table = Table::hashed(units);
        Model { table, owners: Vec::new(), expected: std::collections::BTreeMap::new() }
    }

    fn write(&mut self, unit: u32) {
        self.owners.push(unit);
        self.table.set(unit, self.owners.len() as u32, &self.owners);
        self.expected.insert(unit, self.owners.len() as u32);
    }

    fn trim(&mut self, unit: u32) {
        self.table.set(unit, 0, &self.owners);
        self.expected.remove(&unit);
    }

    fn check(&self, units: impl Iterator<Item = u32>) {
        for unit in units {
            let expected = self.expected.get(&unit).copied().unwrap_or(0);
            assert_eq!(self.table.get(unit, &self.owners), expected, "unit {unit}");
        }
        assert_eq!(self.table.mapped(), self.expected.len());
        let mut entries: Vec<u32> = self.table.entries().collect();
        let mut expected: Vec<u32> = self.expected.values().copied().collect();
        entries.sort_unstable();
        expected.sort_unstable();
        assert!(entries == expected, "the entries of all units");
    }

    fn lists(&self) -> usize {
        self.table.parts.iter().filter(|part| part.is_list()).count()
    }

    /// Bytes per mapped unit, including the owner and the valid bit of its page.
    fn bytes_each(&self) -> f64 {
        self.table.bytes() as f64 / self.expected.len() as f64 + 4.0 + 1.0 / 8.0
    }
}

#[test]
fn a_hashed_table_equals_a_map() {
    let mut random = random("hashed");
    let units = 2 * PART_UNITS as u32 + 1000;
    let mut model = Model::new(units as usize);
    for step in 0..60_000 {
        // Half of the steps use few units, so that these units are written and trimmed repeatedly.
        let unit = random.below(if step % 2 == 0 { 900 } else { u64::from(units) }) as u32;
        if random.chance(0.3) { model.trim(unit) } else { model.write(unit) }
    }
    assert_eq!(model.lists(), 0);
    model.check((0..units).step_by(7).chain(0..900));
    let all: Vec<u32> = model.expected.keys().copied().collect();
    all.iter().for_each(|&unit| model.trim(unit));
    model.check(0..units);
}

#[test]
fn a_part_that_is_written_in_order_or_nearly_full_is_a_list() {
    let mut model = Model::new(2 * PART_UNITS);
    (1000..=1000 + RUN).for_each(|unit| model.write(unit));
    assert_eq!(model.lists(), 1);
    let mut random = random("lists");
    let second = PART_UNITS as u32;
    while model.lists() == 1 {
        model.write(second + random.below(u64::from(second)) as u32);
    }
    let mapped = model.expected.range(second..).count();
    assert!((HASHED_MAX..=HASHED_MAX + 1).contains(&mapped), "{mapped}");
    model.trim(second + 5);
    model.check(0..2 * second);
    model.table.clear();
    model.expected.clear();
    model.check(0..2 * second);
}

/// Random writes to a large drive, for which a list would use a page of system memory per written unit.
#[test]
fn random_writes_to_a_large_drive_take_at_most_ten_bytes_a_unit() {
    let mut random = random("large");
    let mut model = Model::new(1 << 26);
    let mut most = 0.0_f64;
    for count in 1..=1_500_000 {
        model.write(random.below(1 << 26) as u32);
        if count >= 100_000 && count % 1000 == 0 {
            most = most.max(model.bytes_each());
        }
    }
    assert_eq!(model.lists(), 0);
    assert!(most <= 10.0, "{most}");
    model.check((0..1 << 26).step_by(1001));
}
