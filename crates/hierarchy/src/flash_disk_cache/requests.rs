//! Reads and writes, page by page.

use super::FLASH_PAGE;
use super::cache::{FlashCache, SHIFT};
use super::counts::{Cause, Leaves};
use super::tables::Use;
use crate::parts::Parts;
use crate::unfinished::safe_in;
use nacre_kernel::{Activity, Breakdown, Completion, Data, Op, Persistence, Request, Status, Time};
use nacre_media::store::Store;
use std::ops::Range;

/// Adjacent pages of one request that are not in the cache.
#[derive(Clone, Copy, Default)]
struct Run {
    first: u64,
    pages: u64,
    /// From when on the backing is asked.
    from: Time,
}

/// Where a page was found that did not have to come from the backing.
#[derive(Clone, Copy)]
enum Source {
    Flash,
    /// In the controller's memory, from which it is programmed.
    OnItsWay,
    /// Nowhere: its data is lost.
    Nowhere,
}

/// How a page was read.
enum Found {
    Here(Completion, Source),
    /// It has to come from the backing, which is asked from this time on.
    Missing(Time),
}

/// Of page `key`, what `request` asks for: bytes within the page, and within the request.
#[inline]
fn part(key: u64, request: &Request) -> (Range<usize>, Range<usize>) {
    let start = key << SHIFT;
    let from = request.address.max(start);
    let end = (request.address + u64::from(request.bytes)).min(start + FLASH_PAGE);
    let within = |base: u64| (from - base) as usize..(end - base) as usize;
    (within(start), within(request.address))
}

impl<S: Store> FlashCache<S> {
    #[inline]
    pub(super) fn read(
        &mut self,
        start: Time,
        request: &Request,
        mut data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let mut parts = Parts::new(start, breakdown);
        let (first, count) = request.blocks(FLASH_PAGE);
        let mut run = Run::default();
        for key in first..first + count {
            let mark = breakdown.mark();
            let found = self.read_page(key, start, request, &mut data, breakdown);
            match found {
                Found::Here(completion, source) => {
                    *match source {
                        Source::Flash => &mut self.counts.read_hits,
                        Source::OnItsWay => &mut self.counts.read_merged,
                        Source::Nowhere => &mut self.counts.read_lost,
                    } += 1;
                    parts.add(completion, mark, breakdown);
                    self.fetch(std::mem::take(&mut run), request, &mut data, &mut parts, breakdown);
                }
                Found::Missing(from) => {
                    breakdown.drop_range(mark, breakdown.mark());
                    if run.pages == 0 {
                        run = Run { first: key, pages: 0, from };
                    }
                    run.pages += 1;
                    run.from = run.from.max(from);
                }
            }
        }
        self.fetch(run, request, &mut data, &mut parts, breakdown);
        parts.completion()
    }

    /// Reads page `key` from flash, if it is there and can be read.
    #[inline]
    fn read_page(
        &mut self,
        key: u64,
        start: Time,
        request: &Request,
        data: &mut Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Found {
        self.tables.global.accesses += 1;
        let Some(page) = self.tables.find(key) else {
            if !self.lost.is_empty() && self.lost.contains(&key) {
                return Found::Here(Completion { done: start, status: Status::MediaError }, Source::Nowhere);
            }
            return Found::Missing(start);
        };
        let status = &mut self.tables.pages[page as usize];
        status.hits = status.hits.saturating_add(1);
        let (hits, code, arrives, programmed) = (status.hits, status.code, status.arrives, status.programmed);
        let block = self.array.flash.block_of(page);
        let of_block = &self.tables.blocks[block as usize];
        if of_block.used == Use::Closed {
            self.recency.touch(usize::from(of_block.region), block);
        }
        let (source, sensed) = if start < programmed {
            let mut sensed = self.look_at(page, start);
            sensed.done = start.max(arrives);
            breakdown.add(self.id, Activity::Merge, sensed.done - start);
            (Source::OnItsWay, sensed)
        } else {
            let sensed = self.array.read(page, code, start, Activity::Read);
            self.array.explain(self.id, page, code, (start, sensed), breakdown);
            self.tables.global.hits += 1;
            self.tables.global.hit_s += (sensed.done - start).as_secs_f64();
            (Source::Flash, sensed)
        };
        self.follow_errors(page, sensed);
        if !sensed.is_good() {
            return self.misread(page, key, sensed.done);
        }
        if let (Data::Read(into), true) = (data, S::CARRIES_BYTES) {
            let (of_page, of_request) = part(key, request);
            into[of_request].copy_from_slice(&self.array.buffer[of_page]);
        }
        if u32::from(hits) >= self.config.promotes_at && self.config.promotes {
            self.promote(key, sensed.done);
        }
        Found::Here(Completion { done: sensed.done, status: Status::Done }, source)
    }

    /// `page`, which holds page `key`, has more wrong bits than can be put right.
    #[cold]
    fn misread(&mut self, page: u32, key: u64, done: Time) -> Found {
        self.give_up_page(page, Leaves::GivenUp);
        if self.lost.contains(&key) {
            return Found::Here(Completion { done, status: Status::MediaError }, Source::Nowhere);
        }
        Found::Missing(done)
    }

    /// Fetches pages from the backing; they are programmed in the background.
    fn fetch(
        &mut self,
        run: Run,
        request: &Request,
        data: &mut Data<'_>,
        parts: &mut Parts,
        breakdown: &mut Breakdown,
    ) {
        if run.pages == 0 {
            return;
        }
        let mark = breakdown.mark();
        breakdown.add(self.id, Activity::Read, run.from - parts.start);
        self.counts.read_misses += run.pages;
        let mut bytes = std::mem::take(&mut self.fetched);
        bytes.resize(if self.carries_bytes { (run.pages * FLASH_PAGE) as usize } else { 0 }, 0);
        let wanted = Request {
            arrival: run.from,
            address: run.first << SHIFT,
            bytes: (run.pages * FLASH_PAGE) as u32,
            volume: 0,
            op: Op::Read,
        };
        let place = if self.carries_bytes { Data::Read(&mut bytes) } else { Data::None };
        let read = self.backing.submit(run.from, &wanted, place, breakdown);
        self.tables.global.misses += run.pages;
        self.tables.global.miss_s += run.pages as f64 * (read.done - parts.start).as_secs_f64();
        parts.add(read, mark, breakdown);
        if read.status == Status::Done {
            for at in 0..run.pages {
                let of_run = &bytes[if self.carries_bytes { at as usize * FLASH_PAGE as usize } else { 0 }..];
                let key = run.first + at;
                if let (Data::Read(into), true) = (&mut *data, self.carries_bytes) {
                    let (of_page, of_request) = part(key, request);
                    into[of_request].copy_from_slice(&of_run[of_page]);
                }
                self.fill(key, of_run, read.done);
            }
        }
        // Evictions have a buffer of their own while this one is away.
        self.fetched = bytes;
    }

    /// Page `key`, which has just come from the backing at `now`, is programmed.
    fn fill(&mut self, key: u64, bytes: &[u8], now: Time) {
        let Some(place) = self.make_room(0, (key, false), now) else {
            self.counts.bypassed += 1;
            return;
        };
        if self.carries_bytes {
            self.array.buffer[..FLASH_PAGE as usize].copy_from_slice(&bytes[..FLASH_PAGE as usize]);
        }
        self.counts.fills += 1;
        self.bring_in(key, place, now, (false, Activity::Fill, Cause::Fill));
    }

    pub(super) fn write(
        &mut self,
        start: Time,
        request: &Request,
        data: &Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let mut parts = Parts::new(start, breakdown);
        let (first, count) = request.blocks(FLASH_PAGE);
        for key in first..first + count {
            let mark = breakdown.mark();
            let written = self.write_page(key, start, request, data, breakdown);
            parts.add(written, mark, breakdown);
        }
        parts.completion()
    }

    /// Writes what `request` has of page `key`.
    fn write_page(
        &mut self,
        key: u64,
        start: Time,
        request: &Request,
        data: &Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        self.tables.global.accesses += 1;
        let (of_page, of_request) = part(key, request);
        let is_there = self.tables.find(key).is_some();
        *if is_there { &mut self.counts.write_hits } else { &mut self.counts.write_misses } += 1;
        let mut whole = Vec::new();
        let mut now = start;
        if of_page.len() < FLASH_PAGE as usize {
            let base = self.read_whole(key, start, &mut whole, breakdown);
            if base.status != Status::Done {
                return base;
            }
            now = base.done;
        } else if S::CARRIES_BYTES {
            whole.resize(FLASH_PAGE as usize, 0);
        }
        if let (Data::Write(bytes), true) = (data, S::CARRIES_BYTES) {
            whole[of_page].copy_from_slice(&bytes[of_request]);
        }
        self.put(key, &whole, now, breakdown)
    }

    /// All bytes of page `key`, from flash or from the backing.
    fn read_whole(
        &mut self,
        key: u64,
        start: Time,
        into: &mut Vec<u8>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let size = FLASH_PAGE as usize;
        into.resize(if S::CARRIES_BYTES { size } else { 0 }, 0);
        let (address, bytes) = (key << SHIFT, size as u32);
        let request = Request { arrival: start, address, bytes, volume: 0, op: Op::Read };
        let data = |into: &mut Vec<u8>| into.is_empty();
        let mut place = if data(into) { Data::None } else { Data::Read(into) };
        match self.read_page(key, start, &request, &mut place, breakdown) {
            Found::Here(completion, _) => completion,
            Found::Missing(from) => self.backing.submit(from, &request, place, breakdown),
        }
    }

    /// Page `key` holds `bytes` from now on.
    fn put(&mut self, key: u64, bytes: &[u8], now: Time, breakdown: &mut Breakdown) -> Completion {
        let place = self.make_room(self.write_region(), (key, false), now);
        // The old page may be elsewhere now.
        let old = self.tables.find(key);
        let Some(place) = place else { return self.write_through(key, bytes, now, old, breakdown) };
        let mut old_bytes = old.and_then(|page| self.bytes_of_dirty(page, now));
        if old_bytes.is_none() && self.lost.contains(&key) {
            // Where this write is undone, it is lost as before, though it may have been sent back meanwhile.
            old_bytes = Some(Vec::new());
        }
        match old {
            Some(page) => self.invalidate(page),
            None => self.counts.write_allocations += 1,
        }
        if S::CARRIES_BYTES {
            self.array.buffer[..FLASH_PAGE as usize].copy_from_slice(bytes);
        }
        let erased = self.tables.blocks[place.block as usize].erased;
        let done = self.bring_in(key, place, now, (true, Activity::Write, Cause::Host));
        if S::CARRIES_BYTES {
            self.unfinished.written(key, done, old_bytes);
        }
        let program = self.config.cells.nand.program(place.mode).min(done - now);
        let waits = done - now - program;
        let for_erase = erased.saturating_sub(now).min(waits);
        let spans =
            [(Activity::Erase, for_erase), (Activity::Queue, waits - for_erase), (Activity::Write, program)];
        breakdown.add_all(self.id, spans);
        Completion { done, status: Status::Done }
    }

    /// The bytes of `page` where the cache alone has them; empty where it cannot read them.
    fn bytes_of_dirty(&mut self, page: u32, now: Time) -> Option<Vec<u8>> {
        if !S::CARRIES_BYTES || !self.tables.pages[page as usize].is_dirty {
            return None;
        }
        let is_good = self.look_at(page, now).is_good();
        Some(if is_good { self.array.buffer[..FLASH_PAGE as usize].to_vec() } else { Vec::new() })
    }

    /// No flash is left for it: page `key` goes to the backing. A dirty one stays in `old`, and one that is lost stays
    /// so, until it is safe there.
    #[cold]
    fn write_through(
        &mut self,
        key: u64,
        bytes: &[u8],
        now: Time,
        old: Option<u32>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        self.counts.bypassed += 1;
        let (address, size) = (key << SHIFT, FLASH_PAGE as u32);
        let request = Request { arrival: now, address, bytes: size, volume: 0, op: Op::Write };
        let data = if self.carries_bytes { Data::Write(bytes) } else { Data::None };
        let mut written = self.backing.submit(now, &request, data, breakdown);
        let is_dirty = old.is_some_and(|page| self.tables.pages[page as usize].is_dirty);
        let is_lost = !is_dirty && self.lost.contains(&key);
        if written.status == Status::Done && (is_dirty || is_lost) {
            let safe = safe_in(&mut *self.backing, written.done, &mut self.scratch);
            breakdown.add(self.id, Activity::Drain, safe.done - written.done);
            self.has_lost |= safe.status != Status::Done;
            written = safe;
        }
        if written.status != Status::Done {
            return written;
        }
        self.lost.remove(&key);
        let held = old.and_then(|page| self.bytes_of_dirty(page, now));
        let held = if is_lost { Some(Vec::new()) } else { held };
        // What is safe behind the cache is newer than what an earlier write, still under way, was to take the place of.
        let is_safe = self.backing.capabilities().persistence == Persistence::OnAcknowledgement;
        if S::CARRIES_BYTES && (held.is_some() || is_safe) {
            self.unfinished.written(key, written.done, held);
        }
        if let Some(page) = old {
            self.drop_page(page, Leaves::Superseded);
        }
        written
    }
}
