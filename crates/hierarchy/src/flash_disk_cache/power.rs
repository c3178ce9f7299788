//! Power losses and recovery.

use super::FLASH_PAGE;
use super::cache::FlashCache;
use super::counts::Leaves;
use super::operation::{Before, Event, NONE, Operation, Purpose};
use super::tables::NONE as NO_PAGE;
use crate::map::Map;
use nacre_kernel::event::Payload;
use nacre_kernel::{Activity, Random, Recovery, Time};
use nacre_media::store::Store;
use std::collections::BTreeMap;

impl<S: Store> FlashCache<S> {
    /// Handles a power loss. Pages whose program is incomplete are lost. Pages whose write-back is incomplete
    /// are kept.
    pub(super) fn lose_power(&mut self, at: Time, chance: &mut Random) {
        let mut rescued = self.on_their_way_back();
        self.undo_writes(&mut rescued);
        for page in 0..self.tables.pages.len() as u32 {
            let status = &mut self.tables.pages[page as usize];
            if status.key == NO_PAGE || status.program == NONE {
                continue;
            }
            // A page that was being moved is still at its old location. A page that was fetched is still in
            // the backing.
            status.program = NONE;
            if !status.is_dirty {
                self.drop_page(page, Leaves::PowerFailed);
            }
        }
        self.tables.blocks.iter_mut().for_each(|block| block.erase = NONE);
        self.arrivals.clear();
        self.agenda.clear();
        self.visits.clear();
        self.operations.clear();
        self.busy.clear();
        self.changing = Map::new();
        self.array.power_fail(at);
        self.backing.power_fail(at, chance);
        self.next = self.backing.next_event();
        for (key, data) in rescued {
            self.back(at, (key, 1), data);
        }
    }

    /// Latest data of each page whose write-back has not reached the backing yet.
    fn on_their_way_back(&self) -> BTreeMap<u64, Payload> {
        let back =
            self.operations.iter().filter(|(_, of)| matches!(of.purpose, Purpose::Back | Purpose::Safe));
        let mut back: Vec<&Operation> = back.map(|(_, of)| of).collect();
        back.sort_unstable_by_key(|of| of.serial);
        let mut rescued = BTreeMap::new();
        for of in back {
            for at in 0..of.pages {
                let key = of.key + at;
                // Data that was lost after this operation was created was newer.
                if self.lost.get(&key).is_none_or(|&lost| lost <= of.serial) {
                    let size = FLASH_PAGE as usize;
                    rescued.insert(key, of.data.slice(at as usize * size, (at as usize + 1) * size));
                }
            }
        }
        rescued
    }

    /// Undoes host writes that were not completely programmed. For each page, restores the version before
    /// the first of these writes.
    fn undo_writes(&mut self, rescued: &mut BTreeMap<u64, Payload>) {
        for (key, versions) in std::mem::take(&mut self.versions) {
            let first = &self.operations[versions[0]];
            if first.purpose != Purpose::Program {
                // The backing may contain a part of the new version, so the older copy in flash must be
                // written back.
                if let Some(page) = self.tables.find(key) {
                    self.tables.pages[page as usize].is_dirty = true;
                }
                // The older version left the flash while the newer version was being written to the backing.
                if let Some(older) = first.keeps.clone() {
                    rescued.insert(key, older);
                }
                continue;
            }
            let before = first.before.clone();
            if let Some(page) = self.tables.find(key) {
                self.drop_page(page, Leaves::PowerFailed);
            }
            match before {
                Before::Elsewhere => {}
                Before::Dirty(older) => {
                    rescued.insert(key, older);
                }
                Before::Lost => {
                    rescued.remove(&key);
                    self.lose(key);
                    self.bytes_lost += FLASH_PAGE;
                }
            }
        }
    }

    /// Recovers the backing, rebuilds the tables from the spare areas, and resumes write-backs.
    pub(super) fn find_tables(&mut self, at: Time) -> Recovery {
        let pages_scanned = self.tables.blocks.iter().map(|block| u64::from(block.programmed)).sum();
        let time = self.array.scan_time(pages_scanned);
        for die in 0..self.config.cells.dies {
            let end = self.array.wait(at, NONE, die, (time, Activity::Read));
            self.agenda.schedule(end.expect("a die does nothing while there is no power"), Event::Die(die));
        }
        let below = self.backing.recover(at);
        self.next = self.backing.next_event();
        if below.bytes_lost > 0 {
            // The cache may contain copies of pages that the backing lost. Marking them as dirty writes them
            // back on eviction.
            let copies = self.tables.pages.iter_mut().filter(|status| status.key != NO_PAGE);
            copies.for_each(|status| status.is_dirty = true);
        }
        let back: Vec<u32> = self.operations.iter().map(|(number, _)| number).collect();
        let found = at + time;
        for &number in &back {
            self.agenda.schedule(found.max(below.done), Event::Start(number));
        }
        let own = Recovery {
            done: found,
            pages_scanned,
            programs_repeated: back.len() as u64,
            bytes_lost: std::mem::take(&mut self.bytes_lost),
            ..Recovery::default()
        };
        let recovery = own.in_parallel_with(below);
        self.ready = recovery.done;
        recovery
    }
}
