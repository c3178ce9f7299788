//! Handling of page fetches from the backing, and of the request parts that wait for the pages.

use super::FLASH_PAGE;
use super::cache::{FlashCache, SHIFT};
use super::counts::Cause;
use super::operation::{Busy, NONE, Operation, Purpose, Waiter};
use super::reads::Found;
use nacre_kernel::event::Payload;
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};
use nacre_media::store::Store;
use std::collections::VecDeque;

impl<S: Store> FlashCache<S> {
    /// Fetches `pages` pages, starting with the page of `part`. The fetch waits for the operations in
    /// `after`.
    pub(super) fn fetch(&mut self, now: Time, mut part: Waiter, pages: u64, after: &[u32]) {
        part.fill_up(self.id, now, Activity::Merge);
        let first = part.key;
        let (address, bytes) = (first << SHIFT, (pages * FLASH_PAGE) as u32);
        let request = Request { arrival: now, address, bytes, volume: 0, op: Op::Read };
        // The time of a preceding unsuccessful read of the page is already charged.
        let activity = if after.is_empty() { Activity::Queue } else { Activity::Read };
        let (purpose, part) = (Purpose::Fetch, Some(part));
        let fetch = Operation { purpose, key: first, pages, request, activity, part, ..Operation::default() };
        let number = self.operation(now, fetch);
        after.iter().for_each(|&on| self.behind(number, on));
        for key in first..first + pages {
            self.busy.insert(key, Busy { through: NONE, waiters: VecDeque::new() });
            self.behind_changes(number, key);
        }
        self.count_down(now, number);
    }

    /// Sends the read of a fetch to the backing, unless one of its pages was lost during its write-back.
    pub(super) fn begin_fetch(&mut self, now: Time, number: u32) {
        let Operation { key, pages, ref part, .. } = self.operations[number];
        let is_read = part.as_ref().is_some_and(|part| !part.is_write);
        if !self.lost.is_empty() && (key..key + pages).any(|key| self.lost.contains_key(&key)) {
            return self.look_again(now, number);
        }
        if is_read {
            self.counts.read_misses += pages;
        }
        self.ask_backing(now, number);
    }

    /// Looks up the pages of a fetch again, one by one.
    #[cold]
    fn look_again(&mut self, now: Time, number: u32) {
        let Operation { key: first, pages, .. } = self.operations[number];
        let part = self.operations[number].part.take().expect("a part of a request asked for it");
        self.end_operation(now, number);
        (1..pages).for_each(|_| self.visits.add_part(part.visit));
        for key in first..first + pages {
            let mut parts = self.busy.remove(&key).expect("it is expected").waiters;
            parts.push_front(Waiter { key, ..part.clone() });
            self.serve(now, parts, None);
        }
    }

    /// Completes a fetch. Its pages are programmed, and the parts that waited for them continue.
    pub(super) fn fetched(&mut self, now: Time, number: u32, status: Status, spans: &[Span], data: &Payload) {
        let Operation { key: first, pages, created, began, activity, .. } = self.operations[number];
        let mut part = self.operations[number].part.take().expect("a part of a request asked for it");
        self.end_operation(now, number);
        part.add(self.id, activity, began - created);
        part.spans.extend_from_slice(spans);
        let page_of = |at: u64| {
            let size = FLASH_PAGE as usize;
            data.slice(at as usize * size, (at as usize + 1) * size)
        };
        let waiting: Vec<_> = (first..first + pages)
            .map(|key| self.busy.remove(&key).expect("it is expected").waiters)
            .collect();
        // A write is newer than the fetched data.
        let has_come = status == Status::Done && !part.is_write;
        if part.is_write {
            match status {
                Status::Done => self.merge_fetched(now, part, data),
                _ => self.end_part(now, part, status, Activity::Queue, Payload::NONE),
            }
        } else {
            self.tables.global.add_misses(pages, now - part.since);
            let mut wanted = Payload::NONE;
            if status == Status::Done {
                (0..pages).for_each(|at| self.fill(first + at, &page_of(at), now));
                wanted = self.wanted(&part, pages, data);
            }
            self.end_part(now, part, status, Activity::Queue, wanted);
        }
        for (at, waiters) in waiting.into_iter().enumerate() {
            let came = has_come.then(|| page_of(at as u64));
            self.serve(now, waiters, came);
        }
    }

    /// Returns the portion of `data` that the request of `part` needs. `data` is from a fetch of `pages`
    /// pages.
    fn wanted(&self, part: &Waiter, pages: u64, data: &Payload) -> Payload {
        let request = self.visits.request(part.visit);
        let start = part.key << SHIFT;
        let from = request.address.max(start) - start;
        let to = (request.address + u64::from(request.bytes) - start).min(pages * FLASH_PAGE);
        data.slice(from as usize, to as usize)
    }

    /// Programs page `key`, which was just fetched, if the flash has space for it.
    fn fill(&mut self, key: u64, bytes: &Payload, now: Time) {
        let Some(target) = self.make_room(0, (key, false), now) else {
            self.counts.bypassed += 1;
            return;
        };
        if let (Some(bytes), true) = (bytes.bytes(), S::CARRIES_BYTES) {
            self.array.buffer[..FLASH_PAGE as usize].copy_from_slice(bytes);
        }
        self.counts.fills += 1;
        let program = self.bring_in(key, target, now, (false, Activity::Fill, Cause::Fill), NONE);
        self.count_down(now, program);
    }

    /// Resumes request parts that waited for a page. `came` is the fetched data. If the flash has no space
    /// for the page, the waiting reads before the first waiting write or trim use this data.
    pub(super) fn serve(&mut self, now: Time, waiters: VecDeque<Waiter>, mut came: Option<Payload>) {
        for part in waiters {
            if part.trim != NONE {
                came = None;
                self.trim_page(now, part.trim, part.key);
            } else if part.is_write {
                came = None;
                self.write_page(now, part);
            } else if let Some(page) = came.as_ref().filter(|_| self.tables.find(part.key).is_none()) {
                self.counts.read_merged += 1;
                let wanted = self.part(part.key, part.visit).0;
                let data = page.slice(wanted.start, wanted.end);
                self.end_part(now, part, Status::Done, Activity::Merge, data);
            } else if let Found::Missing(part, after) = self.read_page(now, part) {
                let after: &[u32] = if after == NONE { &[] } else { &[after] };
                self.fetch(now, part, 1, after);
            }
        }
    }
}
