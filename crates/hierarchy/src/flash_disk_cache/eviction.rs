//! Blocks that leave: their dirty pages go back, and the block is erased.

use super::FLASH_PAGE;
use super::cache::{FlashCache, SHIFT};
use super::counts::Leaves;
use super::region::RUN_PAGES;
use super::tables::{NONE, Use};
use crate::unfinished::safe_in;
use nacre_kernel::{Activity, Data, Op, Request, Status, Time};
use nacre_media::dual_mode_flash::Mode;
use nacre_media::store::Store;

impl<S: Store> FlashCache<S> {
    /// All pages of the full `block` leave.
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
        let done = self.send_back(&leaving, now);
        self.leaving = leaving;
        self.release(block, done);
    }

    /// `page` leaves. When its data is safe.
    pub(super) fn evict_page(&mut self, page: u32, now: Time) -> Time {
        let status = self.tables.pages[page as usize];
        if status.is_dirty {
            self.send_back(&[(status.key, page)], now)
        } else {
            self.drop_page(page, Leaves::Evicted);
            now
        }
    }

    /// Dirty pages, in the order of the disk, leave for the backing. When it has them.
    fn send_back(&mut self, leaving: &[(u64, u32)], now: Time) -> Time {
        let mut last = now;
        let mut at = 0;
        while at < leaving.len() {
            let adjacent = |count: usize| {
                leaving.get(at + count).is_some_and(|&(key, _)| key == leaving[at].0 + count as u64)
            };
            let count = (1..RUN_PAGES).find(|&count| !adjacent(count)).unwrap_or(RUN_PAGES);
            last = last.max(self.send_run(&leaving[at..at + count], now));
            at += count;
        }
        last
    }

    /// Adjacent pages go back with one request, up to one that cannot be read.
    fn send_run(&mut self, run: &[(u64, u32)], now: Time) -> Time {
        let mut bytes = std::mem::take(&mut self.fetched);
        bytes.clear();
        let (mut ready, mut first, mut last) = (now, 0, now);
        for (at, &(_, page)) in run.iter().enumerate() {
            let status = self.tables.pages[page as usize];
            let sensed = self.array.read(page, status.code, now.max(status.programmed), Activity::Clean);
            self.follow_errors(page, sensed);
            if sensed.is_good() {
                ready = ready.max(sensed.done);
                if self.carries_bytes {
                    bytes.extend_from_slice(&self.array.buffer[..FLASH_PAGE as usize]);
                }
                self.drop_page(page, Leaves::Evicted);
            } else {
                last = last.max(self.send(&run[first..at], &bytes, ready));
                bytes.clear();
                self.give_up_page(page, Leaves::Evicted);
                first = at + 1;
            }
        }
        last = last.max(self.send(&run[first..], &bytes, ready));
        self.fetched = bytes;
        last
    }

    fn send(&mut self, run: &[(u64, u32)], bytes: &[u8], now: Time) -> Time {
        let Some(&(first, _)) = run.first() else { return now };
        self.counts.pages_sent_back += run.len() as u64;
        self.scratch.clear();
        let (address, size) = (first << SHIFT, (run.len() as u64 * FLASH_PAGE) as u32);
        let request = Request { arrival: now, address, bytes: size, volume: 0, op: Op::Write };
        let data = if self.carries_bytes { Data::Write(bytes) } else { Data::None };
        let mut written = self.backing.submit(now, &request, data, &mut self.scratch);
        if written.status == Status::Done {
            written = safe_in(&mut *self.backing, written.done, &mut self.scratch);
        }
        for (at, &(key, _)) in run.iter().enumerate() {
            if written.status != Status::Done {
                self.lose(key);
                continue;
            }
            self.lost.remove(&key);
            if self.carries_bytes {
                let bytes = bytes[at * FLASH_PAGE as usize..][..FLASH_PAGE as usize].to_vec();
                self.unfinished.sent_back(key, written.done, bytes);
            }
        }
        written.done
    }

    /// `block`, in which nothing is valid any more and which is in no list, is erased when `ready`, and is free.
    pub(super) fn release(&mut self, block: u32, ready: Time) {
        let region = usize::from(self.tables.blocks[block as usize].region);
        let was_relieved = self.tables.blocks[block as usize].is_relieved;
        self.erase(block, ready);
        if self.tables.blocks[block as usize].slots == 0 {
            self.tables.blocks[block as usize].used = Use::Retired;
            self.counts.retired_blocks += 1;
            self.regions[region].blocks -= 1;
            if self.life.usable == 0 {
                self.life.end.get_or_insert(self.life.taken);
            }
            return;
        }
        let free = self.change_places(block, was_relieved);
        self.set_free(free, region);
    }

    /// The erased `block`, which is in no list, waits in `region` to be filled.
    pub(super) fn set_free(&mut self, block: u32, region: usize) {
        let status = &mut self.tables.blocks[block as usize];
        (status.used, status.region) = (Use::Free, region as u8);
        self.regions[region].free.push_back(block);
    }

    /// `block`, in which nothing is valid any more, is erased when `ready` and noted in the journal.
    pub(super) fn erase(&mut self, block: u32, ready: Time) {
        self.counts.programs.journal += 1;
        let noted = self.array.program_journal(block, ready);
        let lowered = self.tables.blocks[block as usize].lowered;
        let is_slc = self.config.density.mode() == Mode::Slc || 2 * lowered > self.config.cells.slots;
        let done = self.array.erase(block, if is_slc { Mode::Slc } else { Mode::Mlc }, noted);
        self.counts.erases += 1;
        let status = &mut self.tables.blocks[block as usize];
        self.life.erased += u64::from(status.programmed);
        (status.programmed, status.erased, status.is_relieved) = (0, done, false);
        debug_assert_eq!(status.valid, 0, "block {block} is not empty");
    }
}
