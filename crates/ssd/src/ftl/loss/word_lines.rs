//! Pages that share a word line. An interrupted program damages the pages that were programmed earlier on the
//! word line.

use crate::flash::backend::Backend;
use crate::ftl::paged::Paged;
use crate::layout::geometry::Cells;
use nacre_media::store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// Damage that a power loss causes to completed programs.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    /// Number of damaged flash pages.
    pub(crate) pages: u64,
    /// Host units whose current version in flash was damaged. Unknown if the drive does not store data.
    pub(crate) units: BTreeSet<u32>,
}

impl<S: Store> Paged<S> {
    /// Computes the damage that a power loss causes in addition to interrupted programs. There is none if
    /// capacitors complete every program, or for pages in SLC mode, which share no word line.
    pub(crate) fn damage(&self, flash: &Backend) -> Damage {
        let mut damage = Damage::default();
        if !self.config.loses_paired_pages() {
            return damage;
        }
        let mut damaged = BTreeSet::new();
        for (superblock, operation) in flash.interrupted() {
            if self.array.cells(superblock) == Cells::Full {
                let before =
                    self.array.geometry.word_line_before(operation, self.config.nand.program().len());
                damaged.extend(before.map(|operation| (superblock, operation)));
            }
        }
        let pages = self.array.geometry.pages_of(self.array.geometry.operation_units);
        damage.pages = damaged.len() as u64 * u64::from(pages);
        if S::CARRIES_BYTES && !damaged.is_empty() {
            damage.units = self.units_on(&damaged, flash);
        }
        damage
    }

    /// Host units whose current version in flash is in one of these operations. A copy made by garbage
    /// collection replaces its source as the current version.
    fn units_on(&self, operations: &BTreeSet<(u32, u32)>, flash: &Backend) -> BTreeSet<u32> {
        let unfinished: BTreeSet<(u32, u32)> = flash.unfinished_programs().into_iter().collect();
        let mut newest = BTreeMap::new();
        for (page, unit, sequence) in self.array.spare.programmed(&self.array.owners) {
            let is_newer = newest.get(&unit).is_none_or(|&(_, other)| other < sequence);
            if is_newer && !self.array.is_held(page) && !unfinished.contains(&self.array.locate(page)) {
                newest.insert(unit, (page, sequence));
            }
        }
        let is_damaged = |page| operations.contains(&self.array.locate(page));
        let lost = newest.into_iter().filter(|&(_, (page, _))| is_damaged(page));
        lost.map(|(unit, _)| unit).filter(|&unit| unit < self.array.geometry.logical_units).collect()
    }
}
