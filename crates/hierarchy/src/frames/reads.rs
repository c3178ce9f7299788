//! Handling of reads, page by page.

use super::Memory;
use super::busy::{Wait, Waiter, Why};
use super::cache::{FrameCache, total};
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Request, Status, Time};

/// Adjacent pages of one request that miss the cache.
#[derive(Clone, Copy, Default)]
pub(super) struct Run {
    pub(super) first: u64,
    pub(super) pages: u64,
    /// Time at which the request to the backing can start.
    pub(super) from: Time,
}

impl<M: Memory> FrameCache<M> {
    #[inline]
    pub(super) fn read(&mut self, now: Time, id: RequestId, request: &Request, looked_up: Time) {
        let visit = self.visits.enter(now, id, request, (Activity::Translate, looked_up));
        let (first, count) = request.blocks(self.settings.page.0);
        self.modes.asked(count);
        let mut run = Run::default();
        for key in first..first + count {
            match self.read_page(now, visit, key) {
                Some(from) => {
                    if run.pages == 0 {
                        run = Run { first: key, pages: 0, from };
                    }
                    run.pages += 1;
                    run.from = run.from.max(from);
                }
                None => self.fetch(now, visit, now, std::mem::take(&mut run)),
            }
        }
        self.fetch(now, visit, now, run);
        self.visits.leave(visit);
    }

    /// Reads page `key` if it is cached. If it must be fetched, returns the time at which the fetch can
    /// start.
    #[inline]
    fn read_page(&mut self, now: Time, visit: u32, key: u64) -> Option<Time> {
        let Some(frame) = self.find(key) else {
            if self.lost.is_empty() || !self.is_lost(key) {
                return Some(now);
            }
            self.counts.read_lost += 1;
            self.visits.add_part(visit);
            self.visits.part_ends(now, visit, &Part::at_once(Status::MediaError));
            return None;
        };
        self.used.touch(0, frame);
        self.visits.add_part(visit);
        if let Some(busy) = self.busy_of(frame)
            && self.busy[busy].why != Why::Filling
        {
            let waiter = Waiter { visit, key, since: now, waited: Wait::Page, ..Waiter::default() };
            self.busy[busy].waiters.push_back(waiter);
            return None;
        }
        self.read_frame(now, frame, visit, key, (now, None))
    }

    /// Reads page `key`, which was requested at `since`, from `frame`. If the page is unreadable and must
    /// be fetched, cancels this read and returns the time at which the fetch can start. Otherwise, returns
    /// `None`.
    #[inline]
    pub(super) fn read_frame(
        &mut self,
        now: Time,
        frame: u32,
        visit: u32,
        key: u64,
        (since, waited): (Time, Option<Wait>),
    ) -> Option<Time> {
        let access = self.memory.read(frame, now, &mut self.page);
        let spans = self.spans_of(access.spans);
        let own = waited.map(|waited| (waited.activity(), now - since));
        let mut part = Part { own, spans: &spans, ..Part::at_once(Status::Done) };
        let busy = self.busy_of(frame);
        // A page that has just arrived is still in the controller's memory.
        let arrived = busy.filter(|&busy| self.busy[busy].why == Why::Filling);
        if !access.is_good && arrived.is_none() {
            if let Some(busy) = busy {
                self.give_up_busy(busy);
            }
            if !self.misread(now, frame, key) {
                self.visits.drop_part(visit);
                return Some(access.done);
            }
            self.counts.read_lost += 1;
            part.status = Status::MediaError;
            self.visits.part_ends(access.done, visit, &part);
            return None;
        }
        *if waited == Some(Wait::Page) {
            &mut self.counts.read_merged
        } else {
            &mut self.counts.read_hits
        } += 1;
        if self.carries_bytes {
            let (of_page, of_request) = self.part(key, visit);
            let address = self.visits.request(visit).address + of_request.start as u64;
            let bytes = match arrived {
                Some(busy) => self.busy[busy].page.slice(of_page.start, of_page.end),
                None => Payload::from(self.page[of_page].to_vec()),
            };
            part.data = (address, bytes);
        }
        debug_assert!(total(part.spans) == access.done - now, "the spans of a frame");
        self.visits.part_ends(access.done, visit, &part);
        self.modes.hit(frame, access.done - since);
        self.adapt(now, frame);
        None
    }
}
