//! Regions: selection of blocks to fill, and garbage collection.

use super::array::Sensed;
use super::cache::FlashCache;
use super::counts::{Cause, Leaves, Life};
use super::operation::{NONE as NOTHING, Operation, Purpose};
use super::region::{NO_BLOCK, REGIONS, Region, Stream};
use super::tables::{BlockStatus, NONE, PageStatus, Use};
use nacre_kernel::{Activity, Time};
use nacre_media::dual_mode_flash::Mode;
use nacre_media::store::Store;

/// Block of the next page to program, with its mode and code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) block: u32,
    pub(super) mode: Mode,
    pub(super) code: u8,
}

impl<S: Store> FlashCache<S> {
    /// Finds the block for disk page `key` in `region`, and collects garbage at `now` if no block is
    /// available. `is_hot` requests a slot in SLC mode. Returns `None` if no block is left. May change the
    /// buffer and the locations of other pages.
    pub(super) fn make_room(
        &mut self,
        region: usize,
        (key, is_hot): (u64, bool),
        now: Time,
    ) -> Option<Target> {
        let stream = self.regions[region].stream(key, is_hot);
        loop {
            let open = *self.regions[region].block(stream);
            if open != NO_BLOCK {
                if let Some(target) = self.next_target(open, is_hot) {
                    return Some(target);
                }
                *self.regions[region].block(stream) = NO_BLOCK;
                self.close(open);
            }
            let block = self.take_free(region, stream, now)?;
            // Garbage collection may have opened a block in the meantime.
            if block != NO_BLOCK {
                let status = &mut self.tables.blocks[block as usize];
                (status.used, status.region) = (Use::Open, region as u8);
                *self.regions[region].block(stream) = block;
            }
        }
    }

    /// Next target in `block`, in a slot that is not retired; `None` if the block is full.
    pub(super) fn next_target(&mut self, block: u32, is_hot: bool) -> Option<Target> {
        loop {
            let page = self.array.flash.next(block)?;
            let slot = self.tables.slots[(page >> 1) as usize];
            let code = slot.code;
            if page & 1 == 1 {
                return Some(Target { block, mode: Mode::Mlc, code });
            }
            if !slot.is_retired {
                return Some(Target { block, mode: if is_hot { Mode::Slc } else { slot.mode }, code });
            }
            self.array.flash.skip(block);
        }
    }

    fn close(&mut self, block: u32) {
        let status = &mut self.tables.blocks[block as usize];
        status.used = Use::Closed;
        self.recency.insert(usize::from(status.region), block);
    }

    /// Removes and returns an erased block, or returns [`NO_BLOCK`] if garbage collection has opened a block.
    /// `None` if no block is left.
    fn take_free(&mut self, region: usize, stream: Stream, now: Time) -> Option<u32> {
        if !self.regions[region].is_collecting {
            while self.regions[region].free.len() <= self.regions[region].width() {
                self.regions[region].is_collecting = true;
                let has_room = self.reclaim(region, now);
                self.regions[region].is_collecting = false;
                if *self.regions[region].block(stream) != NO_BLOCK {
                    return Some(NO_BLOCK);
                }
                if !has_room {
                    break;
                }
            }
        }
        self.take_least_worn(region)
    }

    /// Frees a full block of `region`. Returns false if no block is full.
    fn reclaim(&mut self, region: usize, now: Time) -> bool {
        let Some((most_invalid, programmed, valid)) = self.survey(region) else { return false };
        let invalid = (programmed - valid) as f64;
        if invalid > self.config.collects_above.0 * programmed as f64 {
            self.counts.collections += 1;
            self.collect(most_invalid, region, now);
        } else {
            self.counts.evictions += 1;
            let oldest = self.recency.oldest(region).expect("a block is full");
            self.evict(oldest, now);
        }
        true
    }

    /// Moves the valid pages of `block` to free locations and erases the block.
    fn collect(&mut self, block: u32, region: usize, now: Time) {
        self.recency.remove(block);
        for page in self.pages_of(block) {
            let key = self.tables.pages[page as usize].key;
            if key == NONE {
                continue;
            }
            match self.make_room(region, (key, false), now) {
                Some(target) => self.move_page(page, target, now, (Cause::Collected, NOTHING)),
                None => self.evict_page(page, now),
            }
        }
        self.release(block, now);
    }

    /// Numbers of all pages of `block`.
    pub(super) fn pages_of(&self, block: u32) -> std::ops::Range<u32> {
        let count = self.array.flash.pages_per_block();
        block * count..(block + 1) * count
    }

    /// Moves `page` to `target` if the page is readable. The read of the page waits for operation `after`.
    pub(super) fn move_page(&mut self, page: u32, target: Target, now: Time, (cause, after): (Cause, u32)) {
        let code = self.tables.pages[page as usize].code;
        let activity = if cause == Cause::Leveled { Activity::LevelWear } else { Activity::Clean };
        let sensed = self.array.look_at(page, code, now);
        let sense = self.sense(now, page, sensed, activity);
        self.behind(sense, after);
        self.count_down(now, sense);
        self.follow_errors(page, sensed);
        if !sensed.is_good() {
            return self.give_up_page(page, Leaves::GivenUp);
        }
        let (to, program) = self.program(target, now, (activity, cause), sense);
        let from = self.array.flash.block_of(page);
        self.operations[program].supersedes = from;
        self.tables.relocate([page, to], [from, target.block]);
        let moved = &mut self.tables.pages[to as usize];
        (moved.code, moved.program) = (target.code, program);
        self.count_down(now, program);
    }

    /// Programs the buffer at `target`. Returns the page and the number of the operation. The operation
    /// starts when its wait count reaches zero and operation `source` has ended.
    fn program(
        &mut self,
        target: Target,
        now: Time,
        (activity, cause): (Activity, Cause),
        source: u32,
    ) -> (u32, u32) {
        let Target { block, mode, code } = target;
        self.counts.programs.count(cause);
        self.life.taken += u64::from(matches!(cause, Cause::Host | Cause::Fill));
        let status = &mut self.tables.blocks[block as usize];
        status.programmed += 1;
        self.life.programmed += 1;
        let (is_open, erase) = (status.used == Use::Open, status.erase);
        let (page, time) = self.array.program(block, (mode, code), now);
        if is_open && self.array.flash.next(block).is_none() {
            let region = usize::from(self.tables.blocks[block as usize].region);
            self.regions[region].forget_open(block);
            self.close(block);
        }
        let purpose = Purpose::Program;
        let program =
            Operation { purpose, page, block, time, activity, code, source, ..Operation::default() };
        let number = self.operation(now, program);
        self.behind(number, source);
        self.behind(number, erase);
        (page, number)
    }

    /// Programs the buffer as the uncached page `key`. Returns the number of the operation. The operation
    /// starts when its wait count reaches zero and operation `source` has ended.
    pub(super) fn bring_in(
        &mut self,
        key: u64,
        target: Target,
        now: Time,
        (is_dirty, activity, cause): (bool, Activity, Cause),
        source: u32,
    ) -> u32 {
        let (page, program) = self.program(target, now, (activity, cause), source);
        self.operations[program].key = key;
        let since = self.tables.global.accesses;
        let status = PageStatus { key, program, since, hits: 0, code: target.code, is_dirty };
        self.tables.insert(page, target.block, status);
        program
    }

    /// Drops an unreadable page. If it is dirty, its data is lost.
    pub(super) fn give_up_page(&mut self, page: u32, leaves: Leaves) {
        let status = self.tables.pages[page as usize];
        self.counts.uncorrectable += 1;
        if status.is_dirty {
            self.lose(status.key);
        } else {
            self.counts.refetched += 1;
        }
        self.drop_page(page, leaves);
    }

    /// Computes the result of reading `page` without advancing simulated time.
    pub(super) fn look_at(&mut self, page: u32, now: Time) -> Sensed {
        self.array.look_at(page, self.tables.pages[page as usize].code, now)
    }

    /// Panics unless every programmed page is in the tables or has been erased.
    pub(super) fn check_programs(&self) {
        let there: u64 = self.tables.blocks.iter().map(|block| u64::from(block.programmed)).sum();
        let Life { programmed, erased, .. } = self.life;
        assert_eq!(programmed, erased + there, "{erased} pages were erased and {there} are programmed");
    }

    /// Panics unless every block is in the list for its state.
    pub(super) fn check_regions(&self) {
        let mut uses = vec![Use::Retired; self.tables.blocks.len()];
        for region in 0..REGIONS {
            let Region { open, hot, free, .. } = &self.regions[region];
            let full = self.recency.oldest_first(region);
            let open = open.iter().chain([hot]).copied().filter(|&block| block != NO_BLOCK);
            let all = free.iter().map(|&block| (block, Use::Free));
            let all =
                all.chain(open.map(|block| (block, Use::Open))).chain(full.map(|block| (block, Use::Closed)));
            for (block, used) in all {
                assert_eq!(uses[block as usize], Use::Retired, "block {block} is used twice");
                let status = &self.tables.blocks[block as usize];
                assert_eq!(usize::from(status.region), region, "the region of block {block}");
                uses[block as usize] = used;
            }
        }
        for (region, of_region) in self.regions.iter().enumerate() {
            let is_kept =
                |block: &&BlockStatus| block.used != Use::Retired && usize::from(block.region) == region;
            let kept = self.tables.blocks.iter().filter(is_kept).count();
            assert_eq!(kept, of_region.blocks as usize, "blocks of region {region}");
        }
        for (number, block) in self.tables.blocks.iter().enumerate() {
            assert_eq!(block.used, uses[number], "the use of block {number}");
            if block.used == Use::Free || block.used == Use::Retired {
                assert_eq!((block.valid, block.programmed), (0, 0), "block {number} is not empty");
            }
        }
    }
}
