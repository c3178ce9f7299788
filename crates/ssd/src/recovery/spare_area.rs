//! Spare areas of pages, from which recovery rebuilds the mapping.
//!
//! The spare area of a page contains the number of its logical unit (the array's owners) and a sequence
//! number. The sequence number increases with every programmed page, including copies. Among the pages of a
//! unit, the page with the largest sequence number is valid. A trim programs no page: a journal records it
//! with a sequence number.
//!
//! State that was saved without data has no sequence numbers. If a device that stores data restores such a
//! state, it assigns numbers to the valid pages only, so that recovery finds these pages.

use crate::layout::numbers::Numbers;
use crate::mapping_table::Table;
use nacre_kernel::state::State;
use std::collections::BTreeMap;

/// Sequence numbers of pages and trims. Empty if the drive does not store data.
#[derive(State)]
pub(crate) struct SpareArea {
    /// Sequence number of each physical unit; 0 for an unused page.
    #[state(sparse, varies)]
    sequences: Vec<u64>,
    newest: u64,
    /// Sequence number of the last trim of each logical unit.
    trims: BTreeMap<u64, u64>,
}

impl SpareArea {
    /// Creates the spare areas of `units` erased units.
    pub(crate) fn new(units: usize) -> SpareArea {
        SpareArea { sequences: vec![0; units], newest: 0, trims: BTreeMap::new() }
    }

    #[inline]
    pub(crate) fn program(&mut self, page: u64) {
        self.newest += 1;
        self.sequences[page as usize] = self.newest;
    }

    /// Marks `page` as unreadable after an interrupted program.
    pub(crate) fn tear(&mut self, page: u64) {
        self.sequences[page as usize] = 0;
    }

    pub(crate) fn trim(&mut self, unit: u64) {
        self.newest += 1;
        self.trims.insert(unit, self.newest);
    }

    pub(crate) fn erase(&mut self, first: u64, count: u32) {
        self.sequences[first as usize..][..count as usize].fill(0);
    }

    /// Adapts the restored state to the device: a device that stores data needs sequence numbers, and any
    /// other device has none. `table` has the valid page of each unit, counted from 1.
    pub(crate) fn fit(&mut self, carries_bytes: bool, units: usize, table: &Table) -> Result<(), String> {
        match self.sequences.len() {
            _ if !carries_bytes => *self = SpareArea::new(0),
            0 => {
                *self = SpareArea::new(units);
                table.entries().for_each(|entry| self.program(entry - 1));
            }
            found if found == units => {}
            found => return Err(format!("{found} spare areas of {units}")),
        }
        Ok(())
    }

    /// Returns the page, the unit, and the sequence number of every version in flash. Omits versions of
    /// units that were trimmed later. `owners` has the unit of each page.
    pub(crate) fn programmed(&self, owners: &Numbers) -> impl Iterator<Item = (u64, u64, u64)> {
        let pages = (0..).zip(&self.sequences).filter(|&(_, &sequence)| sequence > 0);
        let pages = pages.map(|(page, &sequence)| (page, owners.get(page as usize), sequence));
        pages.filter(|(_, unit, sequence)| *sequence > self.trims.get(unit).copied().unwrap_or(0))
    }

    /// Rebuilds the mapping from spare areas and the journal of trims. `table` is empty and receives the
    /// valid page of every unit. `owners` has the unit of each page. A checkpoint avoids reads of older spare
    /// areas but does not change the result.
    pub(crate) fn find_mapping(&self, owners: &Numbers, table: &mut Table) {
        let newest = |table: &Table, unit| match table.get(unit, owners) {
            0 => 0,
            entry => self.sequences[entry as usize - 1],
        };
        for (page, &sequence) in (0..).zip(&self.sequences).filter(|&(_, &sequence)| sequence > 0) {
            let owner = owners.get(page as usize);
            if sequence > newest(table, owner) {
                table.set(owner, page + 1, owners);
            }
        }
        for (&unit, &sequence) in &self.trims {
            if sequence > newest(table, unit) {
                table.set(unit, 0, owners);
            }
        }
    }
}
