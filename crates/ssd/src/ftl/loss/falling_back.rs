//! Restoration of older versions after a power loss.
//!
//! A page whose program was interrupted is unreadable. The previous version of the unit is still in its page.
//! Recovery restores it because it has the largest sequence number of all readable versions.

use crate::ftl::array::Array;
use crate::ftl::parts::frontier::ABSENT;
use nacre_media::store::Store;
use std::collections::BTreeMap;

/// Pages that hold versions of a unit, each with its sequence number.
type Pages = Vec<(u64, u32)>;

impl<S: Store> Array<S> {
    /// Restores the previous version of each of these mapped units.
    pub(crate) fn fall_back(&mut self, units: &BTreeMap<u32, Vec<u8>>) {
        let mut versions: BTreeMap<u32, Pages> = units.keys().map(|&unit| (unit, Vec::new())).collect();
        if !units.is_empty() {
            for (page, unit, sequence) in self.spare.programmed(&self.owners) {
                if let Some(pages) = versions.get_mut(&unit) {
                    pages.push((sequence, page));
                }
            }
        }
        for (&unit, before) in units {
            let pages = versions.remove(&unit).unwrap_or_default();
            self.fall_back_to(unit, before, &pages);
        }
    }

    fn fall_back_to(&mut self, unit: u32, before: &[u8], pages: &Pages) {
        let newest = self.entry(unit) - 1;
        let mut held = vec![0; before.len()];
        let older =
            pages.iter().filter(|&&(_, page)| page != newest && self.is_kept(page)).filter(|&&(_, page)| {
                self.flash.read(page, 0, &mut held);
                held == before
            });
        let Some(&(sequence, page)) = older.max() else {
            // The page with the previous version was already erased. A real drive would delay the erase until
            // the replacement is programmed.
            return self.flash.fill(newest, before);
        };
        for &(_, torn) in pages.iter().filter(|&&(newer, _)| newer > sequence) {
            self.spare.tear(torn);
        }
        self.invalidate(newest);
        self.mark_valid(page, 1);
        self.table.set(unit, page + 1, &self.owners);
    }

    /// Whether the superblock of `page` is not being relocated, so that valid data stays there.
    fn is_kept(&self, page: u32) -> bool {
        let superblock = self.flash.block_of(page);
        self.place_of[superblock as usize] != ABSENT
            && self.relocations().all(|relocation| relocation.superblock != superblock)
    }
}
