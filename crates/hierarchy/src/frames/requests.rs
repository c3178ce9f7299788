//! Reads, page by page, frames for pages that come in, and pages that go back.

use super::{Frame, FrameCache, Memory, WRITE_BACKS};
use crate::parts::Parts;
use crate::unfinished::safe_in;
use nacre_kernel::{Activity, Breakdown, Completion, Data, Op, Request, Status, Time};
use std::ops::Range;

/// Adjacent pages of one request that are not in the cache.
#[derive(Clone, Copy, Default)]
pub(super) struct Run {
    pub(super) first: u64,
    pub(super) pages: u64,
}

impl<M: Memory> FrameCache<M> {
    /// Of page `key`, what `request` asks for: bytes within the page, and within the request.
    #[inline]
    pub(super) fn part(&self, key: u64, request: &Request) -> (Range<usize>, Range<usize>) {
        let start = key << self.shift;
        let from = request.address.max(start);
        let end = (request.address + u64::from(request.bytes)).min(start + self.settings.page.0);
        let within = |base: u64| (from - base) as usize..(end - base) as usize;
        (within(start), within(request.address))
    }

    #[inline]
    pub(super) fn read(
        &mut self,
        start: Time,
        request: &Request,
        mut data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let mut parts = Parts::new(start, breakdown);
        let (first, count) = request.blocks(self.settings.page.0);
        let mut run = Run::default();
        for key in first..first + count {
            let mark = breakdown.mark();
            match self.read_page(key, start, request, &mut data, breakdown) {
                Some(completion) => {
                    parts.add(completion, mark, breakdown);
                    if run.pages > 0 {
                        self.fetch(std::mem::take(&mut run), request, &mut data, &mut parts, breakdown);
                    }
                }
                None => {
                    breakdown.drop_range(mark, breakdown.mark());
                    if run.pages == 0 {
                        run.first = key;
                    }
                    run.pages += 1;
                }
            }
        }
        if run.pages > 0 {
            self.fetch(run, request, &mut data, &mut parts, breakdown);
        }
        parts.completion()
    }

    /// Reads page `key` from its frame; `None` if it has to come from the backing.
    #[inline]
    fn read_page(
        &mut self,
        key: u64,
        start: Time,
        request: &Request,
        data: &mut Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Option<Completion> {
        let Some(frame) = self.find(key) else {
            let is_lost = !self.lost.is_empty() && self.lost.contains(&key);
            self.counts.read_lost += u64::from(is_lost);
            return is_lost.then_some(Completion { done: start, status: Status::MediaError });
        };
        self.used.touch(0, frame);
        let arrives = self.frames[frame as usize].arrives;
        let is_on_its_way = start < arrives;
        if is_on_its_way {
            breakdown.add(self.id, Activity::Merge, arrives - start);
        }
        let begin = start.max(arrives);
        let access = self.memory.read(frame, begin, &mut self.page);
        breakdown.add_all(self.id, access.spans);
        if !access.is_good {
            let lost = self.misread(frame, key, access.done);
            self.counts.read_lost += u64::from(lost.is_some());
            return lost;
        }
        *if is_on_its_way { &mut self.counts.read_merged } else { &mut self.counts.read_hits } += 1;
        if let (Data::Read(into), true) = (data, self.carries_bytes) {
            let (of_page, of_request) = self.part(key, request);
            into[of_request].copy_from_slice(&self.page[of_page]);
        }
        Some(Completion { done: access.done, status: Status::Done })
    }

    /// What `frame` has of page `key` cannot be put right.
    #[cold]
    pub(super) fn misread(&mut self, frame: u32, key: u64, done: Time) -> Option<Completion> {
        self.counts.uncorrectable += 1;
        self.counts.pages_given_up += 1;
        let is_lost = self.is_dirty(frame) || self.lost.contains(&key);
        self.vacate(frame);
        if is_lost {
            self.lose(key);
        }
        is_lost.then_some(Completion { done, status: Status::MediaError })
    }

    /// What the cache alone had of page `key` is lost.
    #[cold]
    pub(super) fn lose(&mut self, key: u64) {
        self.counts.lost_pages += 1;
        self.lost.insert(key);
        self.has_lost = true;
    }

    /// Fetches pages from the backing; they come into frames.
    fn fetch(
        &mut self,
        run: Run,
        request: &Request,
        data: &mut Data<'_>,
        parts: &mut Parts,
        breakdown: &mut Breakdown,
    ) {
        self.counts.read_misses += run.pages;
        let size = self.settings.page.0 as usize;
        let mut bytes = std::mem::take(&mut self.fetched);
        bytes.resize(if self.carries_bytes { run.pages as usize * size } else { 0 }, 0);
        let mark = breakdown.mark();
        let read = self.read_backing(run, parts.start, &mut bytes, breakdown);
        let mut frames_ready = parts.start;
        if read.status == Status::Done {
            for at in 0..run.pages {
                let key = run.first + at;
                let of_run = if self.carries_bytes { &bytes[at as usize * size..][..size] } else { &[][..] };
                if let (Data::Read(into), true) = (&mut *data, self.carries_bytes) {
                    let (of_page, of_request) = self.part(key, request);
                    into[of_request].copy_from_slice(&of_run[of_page]);
                }
                frames_ready = frames_ready.max(self.fill(key, of_run, parts.start, read.done));
            }
        }
        // A frame that has to go back first holds the request up.
        let done = read.done.max(frames_ready);
        breakdown.add(self.id, Activity::Queue, done - read.done);
        parts.add(Completion { done, ..read }, mark, breakdown);
        self.fetched = bytes;
    }

    pub(super) fn read_backing(
        &mut self,
        run: Run,
        now: Time,
        into: &mut [u8],
        breakdown: &mut Breakdown,
    ) -> Completion {
        let bytes = (run.pages * self.settings.page.0) as u32;
        let request =
            Request { arrival: now, address: run.first << self.shift, bytes, volume: 0, op: Op::Read };
        let place = if self.carries_bytes { Data::Read(into) } else { Data::None };
        self.backing.submit(now, &request, place, breakdown)
    }

    /// Page `key`, which comes at `arrives`, gets a frame; when there is one.
    pub(super) fn fill(&mut self, key: u64, bytes: &[u8], now: Time, arrives: Time) -> Time {
        let (frame, ready) = self.take_frame(key, now);
        self.counts.fills += 1;
        let at = arrives.max(ready);
        self.frames[frame as usize].arrives = at;
        self.memory.write(frame, at, bytes);
        ready
    }

    /// A frame for page `key`, which is in none, and from when on it is free.
    pub(super) fn take_frame(&mut self, key: u64, now: Time) -> (u32, Time) {
        let mut ready = now;
        let frame = if let Some(frame) = self.free.pop() {
            frame
        } else if self.frames.len() < self.settings.frames as usize {
            self.frames.push(Frame { key, arrives: now });
            self.frames.len() as u32 - 1
        } else {
            let oldest = self.used.oldest(0).expect("there is a frame");
            if self.is_dirty(oldest) {
                ready = self.write_back(oldest, now);
            }
            self.counts.evictions += 1;
            self.vacate(oldest);
            self.free.pop().expect("a frame is free")
        };
        let vacancy = self.index.find(key, |frame| self.frames[frame as usize].key == key);
        self.index.occupy(vacancy.expect_err("a page is in the cache once"), frame);
        self.frames[frame as usize] = Frame { key, arrives: now };
        self.used.insert(0, frame);
        (frame, ready)
    }

    /// The page of `frame`, which is dirty, goes back, and is clean. From when on that is under way.
    pub(super) fn write_back(&mut self, frame: u32, now: Time) -> Time {
        let key = self.frames[frame as usize].key;
        let from = now.max(self.back[self.next_back]);
        // What goes back is taken out of its frame at once.
        let read = self.memory.read(frame, now.max(self.frames[frame as usize].arrives), &mut self.page);
        self.make_clean(frame);
        self.counts.written_back += 1;
        let bytes = std::mem::take(&mut self.page);
        let written = self.send(key, &bytes, read.done.max(from), read.is_good);
        self.page = bytes;
        self.back[self.next_back] = written;
        self.next_back = (self.next_back + 1) % WRITE_BACKS;
        from
    }

    /// Sends page `key` back. When it is there.
    fn send(&mut self, key: u64, bytes: &[u8], now: Time, is_good: bool) -> Time {
        if !is_good {
            self.counts.uncorrectable += 1;
            self.lose(key);
            return now;
        }
        self.scratch.clear();
        let size = self.settings.page.0 as u32;
        let request =
            Request { arrival: now, address: key << self.shift, bytes: size, volume: 0, op: Op::Write };
        let data = if self.carries_bytes { Data::Write(bytes) } else { Data::None };
        let mut written = self.backing.submit(now, &request, data, &mut self.scratch);
        if !M::IS_VOLATILE && written.status == Status::Done {
            written = safe_in(&mut *self.backing, written.done, &mut self.scratch);
        }
        if written.status != Status::Done {
            self.lose(key);
        } else {
            self.lost.remove(&key);
            if self.carries_bytes && !M::IS_VOLATILE {
                self.unfinished.sent_back(key, written.done, bytes.to_vec());
            }
        }
        self.all_back = self.all_back.max(written.done);
        written.done
    }

    /// What is volatile goes back, and a flush behind it. It fails where something was lost since the one before.
    pub(super) fn flush(&mut self, start: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let mut all_back = start;
        if M::IS_VOLATILE {
            let mut leaving: Vec<(u64, u32)> =
                self.dirty.oldest_first(0).map(|frame| (self.frames[frame as usize].key, frame)).collect();
            leaving.sort_unstable();
            let mut from = start;
            for (_, frame) in leaving {
                from = self.write_back(frame, from);
            }
            all_back = all_back.max(self.all_back);
        }
        breakdown.add(self.id, Activity::Drain, all_back - start);
        let mut flushed = self.backing.submit(all_back, request, Data::None, breakdown);
        if std::mem::take(&mut self.has_lost) {
            flushed.status = Status::MediaError;
        }
        flushed
    }
}
