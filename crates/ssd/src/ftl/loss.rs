//! Effects of a power loss on the tables: damaged word lines, and restored older versions.
//!
//! An interrupted program damages the pages that were programmed earlier on the same word line. A page
//! whose program was interrupted is unreadable. The page with the previous version of its unit still
//! exists. Recovery restores this version because it has the largest sequence number of all readable
//! versions.

use crate::flash::backend::Backend;
use crate::ftl::array::Array;
use crate::ftl::paged::Paged;
use crate::layout::geometry::Cells;
use crate::superblocks::ABSENT;
use nacre_media::store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// Damage that a power loss causes to completed programs.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    /// Number of damaged flash pages.
    pub(crate) pages: u64,
    /// Host units whose current version in flash was damaged. Empty if the drive does not store data,
    /// because these units are then unknown.
    pub(crate) units: BTreeSet<u64>,
}

impl<S: Store> Paged<S> {
    /// Computes the damage that a power loss causes in addition to interrupted programs. No page is damaged
    /// if capacitors complete every program. Pages in SLC mode are never damaged, because they do not share
    /// a word line.
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

    /// Returns the host units whose current version in flash is in one of the `operations`. A copy made by
    /// garbage collection replaces its source as the current version.
    fn units_on(&self, operations: &BTreeSet<(u32, u32)>, flash: &Backend) -> BTreeSet<u64> {
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

/// Pages that hold versions of a unit, each with its sequence number.
type Pages = Vec<(u64, u64)>;

impl<S: Store> Array<S> {
    /// Restores the previous version of each unit in `units`. The map contains the data of these versions.
    /// All of the units are mapped.
    pub(crate) fn fall_back(&mut self, units: &BTreeMap<u64, Vec<u8>>) {
        let mut versions: BTreeMap<u64, Pages> = units.keys().map(|&unit| (unit, Vec::new())).collect();
        if !units.is_empty() {
            for (page, unit, sequence) in self.spare.programmed(&self.owners) {
                if let Some(pages) = versions.get_mut(&unit) {
                    pages.push((sequence, page));
                }
            }
        }
        for (&unit, before) in units {
            // The previous version may have been written completely.
            self.partial.forget(unit);
            let pages = versions.remove(&unit).unwrap_or_default();
            self.fall_back_to(unit, before, &pages);
        }
    }

    fn fall_back_to(&mut self, unit: u64, before: &[u8], pages: &Pages) {
        let newest = self.entry(unit) - 1;
        let mut held = vec![0; before.len()];
        let older =
            pages.iter().filter(|&&(_, page)| page != newest && self.is_kept(page)).filter(|&&(_, page)| {
                self.pool.flash.read(page, 0, &mut held);
                held == before
            });
        let Some(&(sequence, page)) = older.max() else {
            // The page with the previous version was already erased. A real drive would delay the erase until
            // the replacement is programmed.
            return self.pool.flash.fill(newest, before);
        };
        for &(_, torn) in pages.iter().filter(|&&(newer, _)| newer > sequence) {
            self.spare.tear(torn);
        }
        self.invalidate(newest);
        self.mark_valid(page, 1);
        self.table.set(unit, page + 1, &self.owners);
    }

    /// Returns whether valid data may stay in `page`: its superblock has a slot and is not being relocated.
    fn is_kept(&self, page: u64) -> bool {
        let superblock = self.pool.flash.block_of(page);
        self.place_of[superblock as usize] != ABSENT
            && self.relocations().all(|relocation| relocation.superblock != superblock)
    }
}
