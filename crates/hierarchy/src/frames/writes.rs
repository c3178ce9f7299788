//! Writes of pages. A partial write is merged with the rest of the page.

use super::Memory;
use super::busy::{Busy, Wait, Waiter, Why};
use super::cache::{Event, FrameCache, total};
use super::operation::{HeldUp, NONE};
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId, Ticket};
use nacre_kernel::{Activity, Request, Status, Time};

impl<M: Memory> FrameCache<M> {
    pub(super) fn write(
        &mut self,
        now: Time,
        id: RequestId,
        request: &Request,
        data: &Payload,
        looked_up: Time,
    ) {
        let visit = self.visits.enter(now, id, request, (Activity::Translate, looked_up));
        let (first, count) = request.blocks(self.settings.page.0);
        for key in first..first + count {
            self.visits.add_part(visit);
            let (_, of_request) = self.part(key, visit);
            let data = data.slice(of_request.start, of_request.end);
            let ticket = self.writing.begin();
            let of = Waiter { visit, key, is_write: true, since: now, ticket, data, ..Waiter::default() };
            self.write_page(now, of);
        }
        self.visits.leave(visit);
    }

    fn is_whole(&self, of: &Waiter) -> bool {
        self.part(of.key, of.visit).0.len() as u64 == self.settings.page.0
    }

    /// Writes a request part to its page.
    pub(super) fn write_page(&mut self, now: Time, mut of: Waiter) {
        let found = self.find(of.key);
        let is_lost = found.is_none() && !self.lost.is_empty() && self.is_lost(of.key);
        let is_whole = self.is_whole(&of);
        let needs_frame = found.is_none() && (is_whole || !is_lost);
        if needs_frame && !self.may_take_frame() {
            return self.without_frame.push_back(of);
        }
        if !std::mem::replace(&mut of.is_counted, true) {
            self.modes.asked(1);
            *if found.is_some() { &mut self.counts.write_hits } else { &mut self.counts.write_misses } += 1;
        }
        match found {
            Some(frame) => {
                self.used.touch(0, frame);
                match self.busy_of(frame) {
                    Some(number) => {
                        of.waited = Wait::Page;
                        self.busy[number].waiters.push_back(of);
                    }
                    None => {
                        let number = self.make_busy(Why::Writing, frame, of.key, NONE);
                        self.write_busy(now, number, of);
                    }
                }
            }
            None if !is_whole && is_lost => self.fail_part(now, &of, Status::MediaError),
            None if !is_whole => self.fetch_for_write(now, of),
            None => {
                self.counts.write_allocations += 1;
                let (frame, behind) = self.take_frame(of.key, now).expect("a frame is not busy");
                let number = self.make_busy(Why::Placing, frame, of.key, behind);
                (self.busy[number].write, self.busy[number].is_new) = (of, true);
                if behind == NONE {
                    self.begin_write(now, number);
                }
            }
        }
    }

    /// Handles the end of a page write, which completed or was canceled. Flushes that waited for it
    /// continue.
    pub(super) fn write_ends(&mut self, now: Time, ticket: Ticket) {
        let mut over = Vec::new();
        self.writing.end(ticket, |flush| over.push(flush));
        over.into_iter().for_each(|(visit, since)| self.flush_dirty(now, visit, since));
    }

    fn fail_part(&mut self, now: Time, of: &Waiter, status: Status) {
        let own = Some((of.waited.activity(), (now - of.since) - total(&of.spans)));
        self.visits.part_ends(now, of.visit, &Part { own, before: &of.spans, ..Part::at_once(status) });
        self.write_ends(now, of.ticket);
    }

    /// Writes a request part to the page of a busy frame. The data of the page is available.
    pub(super) fn write_busy(&mut self, now: Time, number: u32, mut of: Waiter) {
        let frame = self.busy[number].frame;
        self.busy[number].is_new = false;
        if self.is_whole(&of) || of.is_unreadable || !self.memory.has_code() {
            self.busy[number].write = of;
            return self.begin_write(now, number);
        }
        let access = self.memory.read(frame, now, &mut self.page);
        let spans = self.spans_of(access.spans);
        of.spans.extend_from_slice(&spans);
        of.is_unreadable = !access.is_good;
        (self.busy[number].why, self.busy[number].write) = (Why::Merging, of);
        self.agenda.schedule(access.done, Event::Frame(number));
    }

    /// Handles the end of the read that a partial page write requires. Starts the write, or fetches the page
    /// from the backing if the page was unreadable.
    fn merged(&mut self, now: Time, number: u32) {
        let Busy { frame, key, .. } = self.busy[number];
        if !self.busy[number].write.is_unreadable {
            return self.begin_write(now, number);
        }
        let of = std::mem::take(&mut self.busy[number].write);
        self.give_up_busy(number);
        if self.misread(now, frame, key) {
            return self.fail_part(now, &of, Status::MediaError);
        }
        self.fetch_for_write(now, of);
    }

    /// Starts to write the page of a busy frame, with the host's data, to the memory.
    pub(super) fn begin_write(&mut self, now: Time, number: u32) {
        let Busy { frame, key, .. } = self.busy[number];
        self.busy[number].why = Why::Writing;
        if self.carries_bytes {
            let page = self.whole_page(frame, key, number);
            self.busy[number].page = page;
        }
        self.encode(now, number);
    }

    /// Encodes the page of a busy frame, and then writes it to the memory.
    pub(super) fn encode(&mut self, now: Time, number: u32) {
        let encoded = self.memory.encode(now);
        if encoded == now {
            return self.program(now, number);
        }
        let span = self.span(Activity::Correct, encoded - now);
        let busy = &mut self.busy[number];
        busy.began = Time::MAX;
        busy.write.spans.push(span);
        self.agenda.schedule(encoded, Event::Encoded(number));
    }

    /// Writes the page of a busy frame to the memory.
    pub(super) fn program(&mut self, now: Time, number: u32) {
        let Busy { why, frame, .. } = self.busy[number];
        let access = self.memory.begin_write(frame, now);
        let spans = self.spans_of(access.spans);
        let busy = &mut self.busy[number];
        if why == Why::Filling {
            // The page is clean, so a power loss loses no data. Its data can therefore be stored immediately.
            self.memory.land(frame, busy.page.bytes().unwrap_or_default());
        }
        busy.began = access.begin;
        busy.write.spans.extend_from_slice(&spans);
        self.agenda.schedule(access.done, Event::Frame(number));
        if access.rests > access.done {
            self.agenda.schedule(access.rests, Event::Copied);
        }
    }

    /// Returns the data of the complete page after the write.
    fn whole_page(&mut self, frame: u32, key: u64, number: u32) -> Payload {
        let Waiter { visit, ref data, is_unreadable, .. } = self.busy[number].write;
        let of_page = self.part(key, visit).0;
        if of_page.len() as u64 == self.settings.page.0 {
            return data.clone();
        }
        let fetched = self.busy[number].page.bytes().filter(|_| is_unreadable);
        let mut page = match fetched {
            Some(fetched) => fetched.to_vec(),
            None => {
                self.memory.peek(frame, &mut self.page);
                self.page.clone()
            }
        };
        if let Some(bytes) = data.bytes() {
            page[of_page].copy_from_slice(bytes);
        }
        page.into()
    }

    /// Handles the end of a memory operation on a busy frame.
    pub(super) fn frame_ended(&mut self, now: Time, number: u32) {
        match self.busy[number].why {
            Why::Filling => {
                self.busy[number].why = Why::Placing;
                self.serve_waiters(now, number);
            }
            Why::Merging => self.merged(now, number),
            Why::Writing => {
                let frame = self.busy[number].frame;
                let page = std::mem::take(&mut self.busy[number].page);
                self.memory.land(frame, page.bytes().unwrap_or_default());
                self.make_dirty(frame);
                self.modes.used(frame);
                let of = std::mem::take(&mut self.busy[number].write);
                let ticket = of.ticket;
                (self.busy[number].is_new, self.busy[number].why) = (false, Why::Placing);
                self.limit_dirty(now, of);
                self.serve_waiters(now, number);
                self.promote(now, frame);
                self.write_ends(now, ticket);
            }
            Why::Fetching | Why::Placing => unreachable!("the memory does nothing"),
        }
    }

    /// If there are too many dirty pages, writes the oldest ones back. The write request that exceeded the
    /// limit waits until these write-backs start.
    fn limit_dirty(&mut self, now: Time, of: Waiter) {
        let mut last = None;
        while self.dirty_count > self.settings.dirty_frames {
            let oldest = self.dirty.oldest(0).expect("pages are dirty");
            let back = self.write_back(oldest, now);
            if !self.operations[back].back.is_under_way {
                last = Some(back);
            }
        }
        let Waiter { visit, since, waited, spans, .. } = of;
        let told = total(&spans);
        let own = Some((waited.activity(), (now - since) - told));
        match last {
            None => {
                let part = Part { own, before: &spans, ..Part::at_once(Status::Done) };
                self.visits.part_ends(now, visit, &part);
            }
            Some(back) => {
                let mut all = vec![self.span(waited.activity(), (now - since) - told)];
                all.extend(spans);
                all.retain(|span| !span.time.is_zero());
                self.operations[back].back.holds_up = Some(HeldUp { visit, written: now, spans: all });
            }
        }
    }
}
