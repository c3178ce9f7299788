//! Eviction of blocks: writes dirty pages back and erases the block.

use super::FLASH_PAGE;
use super::cache::{FlashCache, SHIFT};
use super::counts::Leaves;
use super::operation::{NONE as NOTHING, Operation, Purpose};
use super::region::RUN_PAGES;
use super::tables::{NONE, Use};
use nacre_kernel::event::Payload;
use nacre_kernel::{Activity, Op, Request, Status, Time};
use nacre_media::dual_mode_flash::Mode;
use nacre_media::store::Store;

impl<S: Store> FlashCache<S> {
    /// Evicts all pages of the full `block`.
    pub(super) fn evict(&mut self, block: u32, now: Time) {
        self.recency.remove(block);
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.clear();
        for page in self.pages_of(block) {
            let status = &self.tables.pages[page as usize];
            if status.key == NONE {
                continue;
            }
            if status.is_dirty {
                leaving.push((status.key, page));
            } else {
                self.drop_page(page, Leaves::Evicted);
            }
        }
        leaving.sort_unstable();
        self.send_back(&leaving, now);
        self.leaving = leaving;
        self.release(block, now);
    }

    /// Removes `page` from the cache. Writes it back if it is dirty.
    pub(super) fn evict_page(&mut self, page: u32, now: Time) {
        let status = self.tables.pages[page as usize];
        if status.is_dirty {
            self.send_back(&[(status.key, page)], now);
        } else {
            self.drop_page(page, Leaves::Evicted);
        }
    }

    /// Writes the pages in `leaving` back, in disk order.
    fn send_back(&mut self, leaving: &[(u64, u32)], now: Time) {
        let mut at = 0;
        while at < leaving.len() {
            let adjacent = |count: usize| {
                leaving.get(at + count).is_some_and(|&(key, _)| key == leaving[at].0 + count as u64)
            };
            let count = (1..RUN_PAGES).find(|&count| !adjacent(count)).unwrap_or(RUN_PAGES);
            self.send_run(&leaving[at..at + count], now);
            at += count;
        }
    }

    /// Writes adjacent pages back with one request. Ends the request at an unreadable page, or at a page that
    /// is being overwritten in the backing.
    fn send_run(&mut self, run: &[(u64, u32)], now: Time) {
        let (mut bytes, mut senses, mut first) = (Vec::new(), Vec::new(), 0);
        for (at, &(key, page)) in run.iter().enumerate() {
            let code = self.tables.pages[page as usize].code;
            let sensed = self.array.look_at(page, code, now);
            let sense = self.sense(now, page, sensed, Activity::Clean);
            self.count_down(now, sense);
            self.follow_errors(page, sensed);
            let through = self.busy.get(&key).map_or(NOTHING, |busy| busy.through);
            if sensed.is_good() && through == NOTHING {
                senses.push(sense);
                if self.carries_bytes {
                    bytes.extend_from_slice(&self.array.buffer[..FLASH_PAGE as usize]);
                }
                self.drop_page(page, Leaves::Evicted);
                continue;
            }
            let block = self.array.flash.block_of(page);
            self.send(&run[first..at], block, std::mem::take(&mut bytes), &senses, now);
            (first, senses) = (at + 1, Vec::new());
            if sensed.is_good() {
                let older =
                    self.array.buffer[..if self.carries_bytes { FLASH_PAGE as usize } else { 0 }].to_vec();
                let of = &mut self.operations[through];
                (of.keeps, of.supersedes) = (Some(older.into()), block);
                self.drop_page(page, Leaves::Evicted);
            } else {
                self.give_up_page(page, Leaves::Evicted);
            }
        }
        let Some(&(_, page)) = run.first() else { return };
        let block = self.array.flash.block_of(page);
        self.send(&run[first..], block, bytes, &senses, now);
    }

    /// Writes back the pages in `run`, which are in `block`, with one request. The request starts after the
    /// operations `senses` have read the pages.
    fn send(&mut self, run: &[(u64, u32)], block: u32, bytes: Vec<u8>, senses: &[u32], now: Time) {
        let Some(&(first, _)) = run.first() else { return };
        let pages = run.len() as u64;
        self.counts.pages_sent_back += pages;
        let data = if self.carries_bytes { bytes.into() } else { Payload::NONE };
        let number = self.back(now, (first, pages), data);
        self.operations[number].supersedes = block;
        senses.iter().for_each(|&sense| self.behind(number, sense));
        self.count_down(now, number);
    }

    /// Writes back a disk page that has left the flash.
    pub(super) fn send_page(&mut self, now: Time, key: u64, data: Payload) {
        let number = self.back(now, (key, 1), data);
        self.count_down(now, number);
    }

    /// Creates the operation that writes back `pages` adjacent pages, starting with page `key`. The operation
    /// starts when its wait count reaches zero. Returns the number of the operation.
    pub(super) fn back(&mut self, now: Time, (key, pages): (u64, u64), data: Payload) -> u32 {
        let (address, size) = (key << SHIFT, (pages * FLASH_PAGE) as u32);
        let request = Request { arrival: now, address, bytes: size, volume: 0, op: Op::Write };
        let back = Operation { purpose: Purpose::Back, key, pages, request, data, ..Operation::default() };
        let number = self.operation(now, back);
        (key..key + pages).for_each(|key| self.change(number, key));
        number
    }

    /// Handles the completion of a write-back or of the flush after it.
    pub(super) fn sent(&mut self, now: Time, number: u32, status: Status) {
        let Operation { purpose, key, pages, serial, .. } = self.operations[number];
        if status == Status::Done && purpose == Purpose::Back && self.flushes {
            self.operations[number].purpose = Purpose::Safe;
            return self.flush_behind(now, number);
        }
        for key in key..key + pages {
            if status != Status::Done {
                self.lose(key);
            } else if self.lost.get(&key).is_some_and(|&lost| lost <= serial) {
                // A page that was lost after this operation was created had newer data, so it remains lost.
                self.lost.remove(&key);
            }
        }
        self.end_operation(now, number);
    }

    /// Erases `block` and adds it to the free blocks. The block must not have valid pages and must not be in
    /// a list.
    pub(super) fn release(&mut self, block: u32, now: Time) {
        let region = usize::from(self.tables.blocks[block as usize].region);
        let was_relieved = self.tables.blocks[block as usize].is_relieved;
        self.erase(block, now);
        if self.tables.blocks[block as usize].slots == 0 {
            self.tables.blocks[block as usize].used = Use::Retired;
            self.counts.retired_blocks += 1;
            self.regions[region].blocks -= 1;
            if self.life.usable == 0 {
                self.life.end.get_or_insert(self.life.taken);
            }
            return;
        }
        let free = self.exchange_if_worn(block, was_relieved, now);
        self.set_free(free, region);
    }

    /// Adds the erased `block`, which must be in no list, to the free blocks of `region`.
    pub(super) fn set_free(&mut self, block: u32, region: usize) {
        let status = &mut self.tables.blocks[block as usize];
        (status.used, status.region) = (Use::Free, region as u8);
        self.regions[region].free.push_back(block);
    }

    /// Programs a journal page and then erases `block`, which has no valid pages. Both wait for all
    /// operations that read, program, replace, or write back pages of the block.
    pub(super) fn erase(&mut self, block: u32, now: Time) {
        let is_before = |of: &Operation| of.block == block || of.supersedes == block;
        let before: Vec<u32> =
            self.operations.iter().filter(|(_, of)| is_before(of)).map(|(number, _)| number).collect();
        let nand = &self.config.cells.nand;
        let lowered = self.tables.blocks[block as usize].lowered;
        let is_slc = self.config.density.mode() == Mode::Slc || 2 * lowered > self.config.cells.slots;
        let time = nand.erase(if is_slc { Mode::Slc } else { Mode::Mlc });
        let (note, activity) = (nand.program(Mode::Slc), Activity::Clean);
        let none = Operation::default;
        let journal = self
            .operation(now, Operation { purpose: Purpose::Journal, block, time: note, activity, ..none() });
        before.into_iter().for_each(|on| self.behind(journal, on));
        let activity = Activity::Erase;
        let erase =
            self.operation(now, Operation { purpose: Purpose::Erase, block, time, activity, ..none() });
        self.behind(erase, journal);
        self.count_down(now, erase);
        self.count_down(now, journal);
        self.counts.programs.journal += 1;
        self.counts.erases += 1;
        self.array.flash.erase(block);
        let status = &mut self.tables.blocks[block as usize];
        self.life.erased += u64::from(status.programmed);
        (status.programmed, status.erase, status.is_relieved) = (0, erase, false);
        debug_assert_eq!(status.valid, 0, "block {block} is not empty");
    }
}
