//! Pages that share a word line: an interrupted program of one damages those programmed before it.

use crate::flash::backend::Backend;
use crate::ftl::paged::Paged;
use crate::layout::geometry::Cells;
use nacre_media::store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// Damage by a power loss to completed programs.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    /// Pages of the flash.
    pub(crate) pages: u64,
    /// Units of the host whose current version on the flash was there. Unknown without data.
    pub(crate) units: BTreeSet<u32>,
}

impl<S: Store> Paged<S> {
    /// Damage by a power loss in addition to interrupted programs. With capacitors every program ends, and
    /// pages in SLC mode share no word line.
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

    /// Units of the host whose current version on the flash is in one of these operations. A copy made by
    /// garbage collection counts as the current one; its source is not used.
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
