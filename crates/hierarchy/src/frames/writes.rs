//! Writes, page by page: all of a page, or a part with the rest of it.

use super::requests::Run;
use super::{Access, FrameCache, Memory};
use crate::parts::Parts;
use nacre_kernel::{Activity, Breakdown, Completion, Data, Request, Status, Time};
use std::ops::Range;

impl<M: Memory> FrameCache<M> {
    pub(super) fn write(
        &mut self,
        start: Time,
        request: &Request,
        data: &Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let mut parts = Parts::new(start, breakdown);
        let (first, count) = request.blocks(self.settings.page.0);
        for key in first..first + count {
            let mark = breakdown.mark();
            let written = self.write_page(key, start, request, data, breakdown);
            parts.add(written, mark, breakdown);
        }
        parts.completion()
    }

    /// Writes what `request` has of page `key`.
    #[inline]
    fn write_page(
        &mut self,
        key: u64,
        start: Time,
        request: &Request,
        data: &Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let (of_page, of_request) = self.part(key, request);
        let is_whole = of_page.len() as u64 == self.settings.page.0;
        let found = self.find(key);
        *if found.is_some() { &mut self.counts.write_hits } else { &mut self.counts.write_misses } += 1;
        let mut from = start;
        if !is_whole {
            let rest = self.bring_rest(key, found, start, breakdown);
            if rest.status != Status::Done {
                return rest;
            }
            from = rest.done;
        }
        // A page that is written in part has a frame now.
        let (frame, ready) = match self.find(key) {
            Some(frame) => {
                self.used.touch(0, frame);
                let ready = from.max(self.frames[frame as usize].arrives);
                if found.is_some() {
                    breakdown.add(self.id, Activity::Merge, ready - from);
                }
                (frame, ready)
            }
            None => {
                self.counts.write_allocations += 1;
                let (frame, ready) = self.take_frame(key, start);
                breakdown.add(self.id, Activity::Queue, ready - start);
                (frame, ready)
            }
        };
        self.put(frame, (is_whole, found.is_none(), ready), (of_page, of_request), data, breakdown)
    }

    /// The rest of a page that is written in part is at hand, in `self.page`, and the page in a frame: it was `found`
    /// in one, or comes from the backing.
    fn bring_rest(
        &mut self,
        key: u64,
        found: Option<u32>,
        start: Time,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let Some(frame) = found else { return self.fetch_one(key, start, breakdown) };
        if !self.memory.has_code() {
            self.memory.peek(frame, &mut self.page);
            return Completion { done: start, status: Status::Done };
        }
        let begin = start.max(self.frames[frame as usize].arrives);
        breakdown.add(self.id, Activity::Merge, begin - start);
        let access = self.memory.read(frame, begin, &mut self.page);
        breakdown.add_all(self.id, access.spans);
        if access.is_good {
            return Completion { done: access.done, status: Status::Done };
        }
        match self.misread(frame, key, access.done) {
            Some(lost) => lost,
            None => self.fetch_one(key, access.done, breakdown),
        }
    }

    /// Page `key` comes from the backing, into a frame and to `self.page`.
    fn fetch_one(&mut self, key: u64, start: Time, breakdown: &mut Breakdown) -> Completion {
        if self.lost.contains(&key) {
            return Completion { done: start, status: Status::MediaError };
        }
        let mut bytes = std::mem::take(&mut self.fetched);
        bytes.resize(if self.carries_bytes { self.settings.page.0 as usize } else { 0 }, 0);
        let mut read = self.read_backing(Run { first: key, pages: 1 }, start, &mut bytes, breakdown);
        if read.status == Status::Done {
            let ready = self.fill(key, &bytes, start, read.done);
            breakdown.add(self.id, Activity::Queue, ready.saturating_sub(read.done));
            self.page.copy_from_slice(&bytes);
            read.done = read.done.max(ready);
        }
        self.fetched = bytes;
        read
    }

    /// Writes all of the page in `frame`, or a part of it with the rest that is at hand; it may be new there.
    fn put(
        &mut self,
        frame: u32,
        (is_whole, is_new, now): (bool, bool, Time),
        (of_page, of_request): (Range<usize>, Range<usize>),
        data: &Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let key = self.frames[frame as usize].key;
        let mut page = std::mem::take(&mut self.page);
        let mut old = None;
        if let (Data::Write(bytes), true) = (data, self.carries_bytes) {
            // What is clean the backing has, too: where this write is interrupted, that is what is left.
            let is_alone = self.is_dirty(frame) || self.lost.contains(&key);
            let is_fresh = is_whole && is_new;
            old = (!M::IS_VOLATILE && !is_fresh && is_alone).then(|| {
                let mut old = vec![0; page.len()];
                self.memory.peek(frame, &mut old);
                old
            });
            page[of_page].copy_from_slice(&bytes[of_request]);
        }
        let access = self.memory.write(frame, now, &page);
        breakdown.add_all(self.id, access.spans);
        if self.carries_bytes && !M::IS_VOLATILE {
            match old {
                Some(old) => self.unfinished.written_over(key, access.done, old, page.clone()),
                // Where this write is undone, it is lost as before, though it may have been sent back meanwhile.
                None if self.lost.contains(&key) => {
                    self.unfinished.written(key, access.done, Some(Vec::new()));
                }
                None => self.unfinished.written(key, access.done, None),
            }
        }
        self.page = page;
        self.frames[frame as usize].arrives = access.done;
        if !self.is_dirty(frame) {
            self.dirty.insert(0, frame);
            self.dirty_count += 1;
        }
        self.limit_dirty(access, breakdown)
    }

    /// Where too many pages are dirty, those that are so for longest go back.
    fn limit_dirty(&mut self, access: Access, breakdown: &mut Breakdown) -> Completion {
        let mut from = access.done;
        while self.dirty_count > self.settings.dirty_frames {
            let oldest = self.dirty.oldest(0).expect("pages are dirty");
            from = self.write_back(oldest, from);
        }
        breakdown.add(self.id, Activity::Queue, from - access.done);
        Completion { done: from, status: Status::Done }
    }
}
