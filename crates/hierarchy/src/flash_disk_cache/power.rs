//! What a loss of power leaves, and what is done then.

use super::FLASH_PAGE;
use super::cache::{FlashCache, SHIFT};
use super::counts::Leaves;
use super::tables::NONE;
use crate::unfinished::write_again;
use nacre_kernel::{Random, Recovery, Time};
use nacre_media::store::Store;

impl<S: Store> FlashCache<S> {
    /// The power fails: what was not programmed is not there, and what was not back yet is still there.
    pub(super) fn lose_power(&mut self, at: Time, chance: &mut Random) {
        let after = self.unfinished.fail(at, chance);
        for &key in &after.gone {
            self.rescued.remove(&key);
            if let Some(page) = self.tables.find(key) {
                self.drop_page(page, Leaves::PowerFailed);
            }
        }
        self.rescued.extend(after.rescued);
        for page in 0..self.tables.pages.len() as u32 {
            let status = &mut self.tables.pages[page as usize];
            // One that had come back before it was there knows of trims that what is sent again does not.
            let is_behind = !status.is_dirty && self.rescued.contains_key(&status.key);
            if status.key == NONE || status.programmed <= at && !is_behind {
                continue;
            }
            // A page that moved is still where it was. One that came from the backing is there too.
            if status.is_dirty {
                (status.arrives, status.programmed) = (at, at);
            } else {
                self.drop_page(page, Leaves::PowerFailed);
            }
        }
        for block in &mut self.tables.blocks {
            block.erased = block.erased.min(at);
        }
        self.array.power_fail(at);
        self.backing.power_fail(at, chance);
    }

    /// The power is back: the tables are made from the spare areas, and what was on its way back goes there.
    pub(super) fn find_tables(&mut self, at: Time) -> Recovery {
        let pages_scanned = self.tables.blocks.iter().map(|block| u64::from(block.programmed)).sum();
        let found = self.array.scan(pages_scanned, at);
        let below = self.backing.recover(at);
        if below.bytes_lost > 0 {
            // Perhaps pages of which there are copies here: they go back when they leave.
            let copies = self.tables.pages.iter_mut().filter(|status| status.key != NONE);
            copies.for_each(|status| status.is_dirty = true);
        }
        let mut own = Recovery { done: found, pages_scanned, ..Recovery::default() };
        let from = found.max(below.done);
        for (key, bytes) in std::mem::take(&mut self.rescued) {
            let FlashCache { backing, scratch, .. } = &mut *self;
            let safe = match bytes.is_empty() {
                true => None,
                false => write_again(&mut **backing, from, key << SHIFT, &bytes, scratch),
            };
            let Some(safe) = safe else {
                self.lose(key);
                own.bytes_lost += FLASH_PAGE;
                continue;
            };
            self.lost.remove(&key);
            own.programs_repeated += 1;
            own.done = own.done.max(safe);
            self.unfinished.sent_back(key, safe, bytes);
        }
        own.beside(below)
    }
}
