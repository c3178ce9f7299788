//! Handling of page fetches from the backing.

use super::Memory;
use super::busy::{Fetch, Wait, Waiter, Why};
use super::cache::{Event, FrameCache, total};
use super::operation::{NONE, Operation, Purpose};
use super::reads::Run;
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};

impl<M: Memory> FrameCache<M> {
    /// Fetches the pages of `run`, which were requested at `since` by request `visit`. Pages for which no
    /// frame is available wait for a frame.
    pub(super) fn fetch(&mut self, now: Time, visit: u32, since: Time, run: Run) {
        if run.pages == 0 {
            return;
        }
        let mut frames = Vec::new();
        let end = run.first + run.pages;
        let mut key = run.first;
        while key < end
            && self.may_take_frame()
            && let Some(number) = self.expect_page(now, key)
        {
            frames.push(number);
            key += 1;
        }
        if !frames.is_empty() {
            self.visits.add_part(visit);
            self.counts.read_misses += frames.len() as u64;
            self.launch_fetch(now, (visit, since), Run { first: run.first, ..run }, frames);
        }
        for key in key..end {
            self.visits.add_part(visit);
            self.without_frame.push_back(Waiter { visit, key, since, ..Waiter::default() });
        }
    }

    /// Reserves a frame for page `key`. Returns `None` if all frames are busy.
    fn expect_page(&mut self, now: Time, key: u64) -> Option<u32> {
        let (frame, behind) = self.take_frame(key, now)?;
        Some(self.make_busy(Why::Fetching, frame, key, behind))
    }

    /// Fetches a page for `waiter`, which is a write to a portion of this page.
    pub(super) fn fetch_for_write(&mut self, now: Time, mut waiter: Waiter) {
        let key = waiter.key;
        if !self.may_take_frame() {
            return self.without_frame.push_back(waiter);
        }
        let number = self.expect_page(now, key).expect("a frame is not busy");
        waiter.asked = true;
        let since = now;
        self.busy[number].waiters.push_back(waiter);
        self.launch_fetch(now, (NONE, since), Run { first: key, pages: 1, from: now }, vec![number]);
    }

    fn launch_fetch(&mut self, now: Time, (visit, since): (u32, Time), run: Run, frames: Vec<u32>) {
        let pages = frames.len() as u64;
        let (fetch, of) = self.fetches.take();
        frames.iter().for_each(|&number| self.busy[number].fetch = fetch);
        let left = frames.len() as u32;
        let first = run.first;
        *of = Fetch { visit, since, first, pages, frames, left, spans: Vec::new(), data: Payload::NONE };
        let bytes = (pages << self.shift) as u32;
        let request = Request { arrival: now, address: first << self.shift, bytes, volume: 0, op: Op::Read };
        let number = self.operation(Purpose::Fetch, fetch, (first, pages), request, now);
        for key in first..first + pages {
            self.behind_changes(number, key);
        }
        if run.from > now {
            self.operations[number].waits += 1;
            self.agenda.schedule(run.from, Event::Operation(number));
        }
        self.count_down(now, number);
    }

    /// Creates an operation that starts when its wait count reaches zero. Returns its number.
    pub(super) fn operation(
        &mut self,
        purpose: Purpose,
        owner: u32,
        (key, pages): (u64, u64),
        request: Request,
        now: Time,
    ) -> u32 {
        let (number, operation) = self.operations.take();
        let mut dependents = std::mem::take(&mut operation.dependents);
        dependents.clear();
        *operation = Operation {
            purpose,
            owner,
            key,
            pages,
            waits: 1,
            dependents,
            since: now,
            serial: self.serial,
            request,
            ..Operation::default()
        };
        self.serial += 1;
        number
    }

    /// Makes operation `number` wait for the write-back or trim of page `key` that is in progress.
    pub(super) fn behind_changes(&mut self, number: u32, key: u64) {
        if self.changing.len() > 0
            && let Some(on) = self.changing.get(key)
        {
            self.operations[on as u32].dependents.push(number);
            self.operations[number].waits += 1;
        }
    }

    /// Decrements the wait count of operation `number`, and submits the operation when the count reaches
    /// zero.
    pub(super) fn count_down(&mut self, now: Time, number: u32) {
        let operation = &mut self.operations[number];
        operation.waits -= 1;
        if operation.waits > 0 {
            return;
        }
        if operation.purpose == Purpose::Back && !operation.back.is_good {
            return self.not_sent(now, number);
        }
        operation.request.arrival = now;
        let (request, data) = (operation.request, operation.data.clone());
        if operation.purpose != Purpose::Back {
            operation.data = Payload::NONE;
        }
        self.backing.submit(now, RequestId(number), &request, data);
        self.next = self.backing.next_event();
    }

    /// Handles the completion of a fetch.
    pub(super) fn fetched(&mut self, now: Time, fetch: u32, status: Status, spans: &[Span], data: &Payload) {
        if status != Status::Done {
            return self.fetch_failed(now, fetch, status, spans);
        }
        let lost = self.pages_behind_a_loss(fetch);
        if lost > 0 {
            // A read counted its pages as misses when the fetch started. Partial writes do not count as reads.
            if self.fetches[fetch].visit != NONE {
                self.counts.read_misses = self.counts.read_misses.saturating_sub(lost);
                self.counts.read_lost += lost;
            }
            return self.fetch_failed(now, fetch, Status::MediaError, spans);
        }
        let of = &mut self.fetches[fetch];
        of.spans.extend_from_slice(spans);
        let frames = std::mem::take(&mut of.frames);
        of.data = data.clone();
        let size = self.settings.page.0 as usize;
        for (at, &number) in frames.iter().enumerate() {
            let busy = &mut self.busy[number];
            busy.page = data.slice(at * size, (at + 1) * size);
            busy.has_arrived = true;
            if busy.behind == NONE {
                self.fill(now, number);
            }
        }
    }

    /// Number of pages of a fetch that were lost while the fetch waited for their write-backs. The backing
    /// has older versions of these pages.
    fn pages_behind_a_loss(&self, fetch: u32) -> u64 {
        let Fetch { first, pages, .. } = self.fetches[fetch];
        if self.lost.is_empty() {
            return 0;
        }
        (first..first + pages).filter(|key| self.lost.contains_key(key)).count() as u64
    }

    /// Fills a busy frame whose page has arrived.
    pub(super) fn fill(&mut self, now: Time, number: u32) {
        let fetch = self.busy[number].fetch;
        self.busy[number].why = Why::Filling;
        self.fetching -= 1;
        self.counts.fills += 1;
        self.encode(now, number);
        if let Some(first) = self.busy[number].waiters.front_mut()
            && first.asked
        {
            first.spans.extend_from_slice(&self.fetches[fetch].spans);
            (first.asked, first.waited) = (false, Wait::Model);
        }
        self.serve_waiters(now, number);
        let of = &mut self.fetches[fetch];
        of.left -= 1;
        if of.left == 0 {
            self.fetch_ends(now, fetch);
        }
    }

    /// Ends a fetch after all of its pages have reached their frames.
    fn fetch_ends(&mut self, now: Time, fetch: u32) {
        let Fetch { visit, since, first, pages, spans, data, .. } = std::mem::take(&mut self.fetches[fetch]);
        self.fetches.give_back(fetch);
        if visit == NONE {
            return;
        }
        self.modes.missed(pages, now - since);
        let mut part = Part { spans: &spans, ..Part::at_once(Status::Done) };
        part.own = Some((Activity::Queue, (now - since) - total(&spans)));
        if !data.is_none() {
            let request = self.visits.request(visit);
            let start = first << self.shift;
            let bytes = data.bytes().map_or(0, <[u8]>::len) as u64;
            let from = request.address.max(start);
            let to = (request.address + u64::from(request.bytes)).min(start + bytes);
            part.data = (from, data.slice((from - start) as usize, (to - start) as usize));
        }
        self.visits.part_ends(now, visit, &part);
    }

    /// Handles a failed fetch. The part that requested it fails, and other waiting parts look up their pages
    /// again.
    #[cold]
    fn fetch_failed(&mut self, now: Time, fetch: u32, status: Status, spans: &[Span]) {
        let Fetch { visit, since, frames, .. } = std::mem::take(&mut self.fetches[fetch]);
        self.fetches.give_back(fetch);
        for number in frames {
            let frame = self.busy[number].frame;
            let waiters = &mut self.busy[number].waiters;
            let has_asked = waiters.front().is_some_and(|waiter| waiter.asked);
            let asked = if has_asked { waiters.pop_front() } else { None };
            self.give_up_busy(number);
            self.vacate(frame);
            if let Some(waiter) = asked {
                let told = total(&waiter.spans) + total(spans);
                let own = Some((Activity::Queue, (now - waiter.since) - told));
                let part = Part { status, own, before: &waiter.spans, spans, data: (0, Payload::NONE) };
                self.visits.part_ends(now, waiter.visit, &part);
                self.write_ends(now, waiter.ticket);
            }
        }
        if visit != NONE {
            let own = Some((Activity::Queue, (now - since) - total(spans)));
            let part = Part { status, own, before: &[], spans, data: (0, Payload::NONE) };
            self.visits.part_ends(now, visit, &part);
        }
    }
}
