//! Spare areas of pages, from which recovery rebuilds the mapping.
//!
//! In addition to its data a page has the number of the logical unit (the array's owners) and a sequence
//! number, which
//! grows with every page that is programmed, copies included. Of the pages of one unit the one with the
//! largest
//! number is its newest. A trim programs none: it stands in a journal, with its own sequence number.
//!
//! A state that was saved without bytes has none of this. Whoever takes it on with bytes numbers the newest
//! pages,
//! so that they are found again, and leaves the others without a number.

use crate::mapping_table::Table;
use nacre_kernel::state::State;
use std::collections::BTreeMap;

/// Sequence numbers of pages and trims. Empty without data.
#[derive(State)]
pub(crate) struct SpareArea {
    /// By physical unit; 0 for an unused page.
    #[state(sparse, varies)]
    sequences: Vec<u64>,
    newest: u64,
    /// By logical unit, the sequence number of its last trim.
    trims: BTreeMap<u32, u64>,
}

impl SpareArea {
    /// For this many erased units.
    pub(crate) fn new(units: usize) -> SpareArea {
        SpareArea { sequences: vec![0; units], newest: 0, trims: BTreeMap::new() }
    }

    #[inline]
    pub(crate) fn program(&mut self, page: u32) {
        self.newest += 1;
        self.sequences[page as usize] = self.newest;
    }

    /// Marks `page` as unreadable after an interrupted program.
    pub(crate) fn tear(&mut self, page: u32) {
        self.sequences[page as usize] = 0;
    }

    pub(crate) fn trim(&mut self, unit: u32) {
        self.newest += 1;
        self.trims.insert(unit, self.newest);
    }

    pub(crate) fn erase(&mut self, first: u32, count: u32) {
        self.sequences[first as usize..][..count as usize].fill(0);
    }

    /// Makes what was restored that of a device that carries bytes, or that does not. `table` has the newest page of
    /// each unit, counted from 1.
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

    /// Every page with a version of a unit that was not trimmed since, with that unit and the page's sequence
    /// number; `owners` are the units of the pages.
    pub(crate) fn programmed(&self, owners: &[u32]) -> impl Iterator<Item = (u32, u32, u64)> {
        let pages = (0..).zip(owners.iter().zip(&self.sequences));
        let trimmed = |unit| self.trims.get(unit).copied().unwrap_or(0);
        let pages = pages.filter(move |&(_, (unit, &sequence))| sequence > trimmed(unit));
        pages.map(|(page, (&unit, &sequence))| (page, unit, sequence))
    }

    /// The mapping as spare areas and the journal of trims have it: `table`, which is empty, gets the newest page of
    /// every unit, `owners` being whose each page is. A checkpoint saves reading those that are older, and changes
    /// nothing of what is found.
    pub(crate) fn find_mapping(&self, owners: &[u32], table: &mut Table) {
        let newest = |table: &Table, unit| match table.get(unit, owners) {
            0 => 0,
            entry => self.sequences[entry as usize - 1],
        };
        for (page, (&sequence, &owner)) in (0..).zip(self.sequences.iter().zip(owners)) {
            if sequence > 0 && sequence > newest(table, owner) {
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
