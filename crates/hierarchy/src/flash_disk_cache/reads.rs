//! Handling of reads, page by page.

use super::FLASH_PAGE;
use super::array::Sensed;
use super::cache::{FlashCache, SHIFT};
use super::counts::Leaves;
use super::operation::{NONE, Operation, Purpose, Waiter};
use super::tables::Use;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Request, Status, Time};
use nacre_media::store::Store;
use std::ops::Range;

/// Adjacent pages of one request that miss the cache.
#[derive(Default)]
struct Run {
    first: u64,
    pages: u64,
    /// Operations for which the fetch waits. These operations read pages that turned out to be
    /// uncorrectable.
    after: Vec<u32>,
}

/// Result of looking up a cached page that the host requests.
pub(super) struct Looked {
    pub(super) sensed: Sensed,
    /// Operation that supplies the page's data, or [`NONE`] if the data is available.
    pub(super) after: u32,
    /// Whether the page is still in the controller's memory and is being programmed.
    pub(super) is_on_its_way: bool,
    hits: u16,
}

/// Result of reading a page for a request part.
pub(super) enum Found {
    /// The page is cached or busy, so the part ends or waits.
    Here,
    /// The page must be fetched for the request part. The fetch waits for the given operation, if it is not
    /// [`NONE`].
    Missing(Waiter, u32),
}

impl<S: Store> FlashCache<S> {
    /// The part of page `key` that request `visit` covers: its byte range within the page, and its byte range
    /// within the request.
    #[inline]
    pub(super) fn part(&self, key: u64, visit: u32) -> (Range<usize>, Range<usize>) {
        let request = self.visits.request(visit);
        let start = key << SHIFT;
        let from = request.address.max(start);
        let end = (request.address + u64::from(request.bytes)).min(start + FLASH_PAGE);
        let within = |base: u64| (from - base) as usize..(end - base) as usize;
        (within(start), within(request.address))
    }

    #[inline]
    pub(super) fn read(&mut self, now: Time, id: RequestId, request: &Request, looked_up: Time) {
        let visit = self.visits.enter(now, id, request, (Activity::Software, looked_up));
        let (first, count) = request.blocks(FLASH_PAGE);
        let mut run = Run::default();
        for key in first..first + count {
            self.visits.add_part(visit);
            let part = Waiter { visit, key, since: now, ..Waiter::default() };
            match self.read_page(now, part) {
                Found::Missing(_, after) => {
                    self.visits.drop_part(visit);
                    if run.pages == 0 {
                        run.first = key;
                    }
                    run.pages += 1;
                    run.after.extend((after != NONE).then_some(after));
                }
                Found::Here => self.fetch_run(now, visit, &std::mem::take(&mut run)),
            }
        }
        self.fetch_run(now, visit, &run);
        self.visits.leave(visit);
    }

    fn fetch_run(&mut self, now: Time, visit: u32, run: &Run) {
        if run.pages > 0 {
            self.visits.add_part(visit);
            let part = Waiter { visit, key: run.first, since: now, is_counted: true, ..Waiter::default() };
            self.fetch(now, part, run.pages, &run.after);
        }
    }

    /// Reads the page of `part` unless it must be fetched.
    #[inline]
    pub(super) fn read_page(&mut self, now: Time, mut part: Waiter) -> Found {
        let key = part.key;
        if !self.busy.is_empty()
            && let Some(busy) = self.busy.get_mut(&key)
        {
            busy.waiters.push_back(part);
            return Found::Here;
        }
        self.tables.global.accesses += u64::from(!std::mem::replace(&mut part.is_counted, true));
        let Some(page) = self.tables.find(key) else {
            if self.lost.is_empty() || !self.is_lost(key) {
                return Found::Missing(part, NONE);
            }
            self.counts.read_lost += 1;
            self.end_part(now, part, Status::MediaError, Activity::Merge, Payload::NONE);
            return Found::Here;
        };
        let looked = self.look_for_host(now, page);
        if !looked.sensed.is_good() {
            self.give_up_page(page, Leaves::GivenUp);
            if !self.lost.contains_key(&key) {
                return Found::Missing(part, looked.after);
            }
            self.counts.read_lost += 1;
            self.ends_with(now, &looked, part, Status::MediaError, Payload::NONE);
            return Found::Here;
        }
        *if looked.is_on_its_way { &mut self.counts.read_merged } else { &mut self.counts.read_hits } += 1;
        let mut data = Payload::NONE;
        if self.carries_bytes {
            data = self.array.buffer[self.part(key, part.visit).0].to_vec().into();
        }
        self.ends_with(now, &looked, part, Status::Done, data);
        self.promote_often(now, key, &looked);
        Found::Here
    }

    /// Handles a host request for the cached page `page`: records a hit, and reads the page into the buffer.
    #[inline]
    pub(super) fn look_for_host(&mut self, now: Time, page: u32) -> Looked {
        let status = &mut self.tables.pages[page as usize];
        status.hits = status.hits.saturating_add(1);
        let (hits, code, program) = (status.hits, status.code, status.program);
        let block = self.array.flash.block_of(page);
        let of_block = &self.tables.blocks[block as usize];
        if of_block.used == Use::Closed {
            self.recency.touch(usize::from(of_block.region), block);
        }
        let sensed = self.array.look_at(page, code, now);
        let is_on_its_way = program != NONE;
        let after = if is_on_its_way {
            self.operations[program].source
        } else {
            let number = self.sense(now, page, sensed, Activity::Read);
            self.operations[number].is_hit = true;
            self.count_down(now, number);
            number
        };
        self.follow_errors(page, sensed);
        Looked { sensed, after, is_on_its_way, hits }
    }

    /// Creates the operation that reads `page`, whose content was already examined. The operation waits for
    /// the program of the page, and starts when its wait count reaches zero. Returns the number of the
    /// operation.
    pub(super) fn sense(&mut self, now: Time, page: u32, sensed: Sensed, activity: Activity) -> u32 {
        let status = &self.tables.pages[page as usize];
        let (code, program, wrong) = (status.code, status.program, sensed.wrong);
        let (block, time) = (self.array.flash.block_of(page), self.array.read_time(page, code, wrong));
        let purpose = Purpose::Sense;
        let sense = Operation { purpose, page, block, time, activity, code, wrong, ..Operation::default() };
        let number = self.operation(now, sense);
        self.behind(number, program);
        number
    }

    /// Moves a page to SLC mode after its read if its hit counter is saturated.
    pub(super) fn promote_often(&mut self, now: Time, key: u64, looked: &Looked) {
        if u32::from(looked.hits) >= self.config.promotes_at && self.config.promotes {
            self.promote(key, now, looked.after);
        }
    }

    /// Ends `part` as soon as the page that was looked up is available.
    pub(super) fn ends_with(
        &mut self,
        now: Time,
        looked: &Looked,
        mut part: Waiter,
        status: Status,
        data: Payload,
    ) {
        if looked.after == NONE {
            return self.end_part(now, part, status, Activity::Merge, data);
        }
        part.fill_up(self.id, now, Activity::Merge);
        let mut number = looked.after;
        if looked.is_on_its_way {
            number = self.operation(now, Operation { purpose: Purpose::Look, ..Operation::default() });
            self.behind(number, looked.after);
            self.count_down(now, number);
        }
        let of = &mut self.operations[number];
        (of.part, of.status, of.data) = (Some(part), status, data);
    }
}
