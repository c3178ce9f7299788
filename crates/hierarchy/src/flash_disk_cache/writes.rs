//! Handling of writes, page by page. A write of a part of a page is merged with the rest of the page.

use super::FLASH_PAGE;
use super::cache::{FlashCache, SHIFT};
use super::counts::{Cause, Leaves};
use super::operation::{Before, Busy, NONE, Operation, Purpose, Waiter};
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};
use nacre_media::store::Store;
use std::collections::VecDeque;

impl<S: Store> FlashCache<S> {
    pub(super) fn write(
        &mut self,
        now: Time,
        id: RequestId,
        request: &Request,
        data: &Payload,
        looked_up: Time,
    ) {
        let visit = self.visits.enter(now, id, request, (Activity::Software, looked_up));
        let (first, count) = request.blocks(FLASH_PAGE);
        for key in first..first + count {
            self.visits.add_part(visit);
            let of_request = self.part(key, visit).1;
            let data = data.slice(of_request.start, of_request.end);
            let part = Waiter { visit, key, is_write: true, since: now, data, ..Waiter::default() };
            self.write_page(now, part);
        }
        self.visits.leave(visit);
    }

    /// Writes a request part to its page.
    pub(super) fn write_page(&mut self, now: Time, mut part: Waiter) {
        let key = part.key;
        if let Some(busy) = self.busy.get_mut(&key) {
            busy.waiters.push_back(part);
            return;
        }
        let found = self.tables.find(key);
        if !std::mem::replace(&mut part.is_counted, true) {
            self.tables.global.accesses += 1;
            *if found.is_some() { &mut self.counts.write_hits } else { &mut self.counts.write_misses } += 1;
        }
        let is_whole = self.part(key, part.visit).0.len() as u64 == FLASH_PAGE;
        match found {
            _ if is_whole => {
                let whole = part.data.clone();
                self.put(now, part, whole, NONE);
            }
            Some(page) => self.merge(now, part, page),
            None if !self.lost.is_empty() && self.is_lost(key) => {
                self.end_part(now, part, Status::MediaError, Activity::Merge, Payload::NONE);
            }
            None => self.fetch(now, part, 1, &[]),
        }
    }

    /// Merges a part with its cached page.
    fn merge(&mut self, now: Time, part: Waiter, page: u32) {
        let looked = self.look_for_host(now, page);
        if !looked.sensed.is_good() {
            self.give_up_page(page, Leaves::GivenUp);
            if self.lost.contains_key(&part.key) {
                return self.ends_with(now, &looked, part, Status::MediaError, Payload::NONE);
            }
            let after: &[u32] = if looked.after == NONE { &[] } else { &[looked.after] };
            return self.fetch(now, part, 1, after);
        }
        let rest = if self.carries_bytes {
            self.array.buffer[..FLASH_PAGE as usize].to_vec().into()
        } else {
            Payload::NONE
        };
        self.promote_often(now, part.key, &looked);
        let whole = self.whole(&part, &rest);
        self.put(now, part, whole, looked.after);
    }

    /// Merges a part with its fetched page.
    pub(super) fn merge_fetched(&mut self, now: Time, part: Waiter, rest: &Payload) {
        let whole = self.whole(&part, rest);
        self.put(now, part, whole, NONE);
    }

    /// Returns the data of the complete page after the write.
    fn whole(&self, part: &Waiter, rest: &Payload) -> Payload {
        let (Some(rest), Some(bytes)) = (rest.bytes(), part.data.bytes()) else { return Payload::NONE };
        let mut whole = rest.to_vec();
        whole[self.part(part.key, part.visit).0].copy_from_slice(bytes);
        whole.into()
    }

    /// Writes `bytes` as the page of `part`. `source` is the operation that supplies the rest of the page, if
    /// any.
    fn put(&mut self, now: Time, mut part: Waiter, bytes: Payload, source: u32) {
        part.fill_up(self.id, now, Activity::Merge);
        let key = part.key;
        let target = self.make_room(self.write_region(), (key, false), now);
        // Making space may have moved the old page.
        let old = self.tables.find(key);
        let Some(target) = target else { return self.write_through(now, part, bytes, source) };
        let before = self.before(now, key, old);
        let mut supersedes = NONE;
        match old {
            Some(page) => {
                supersedes = self.array.flash.block_of(page);
                self.invalidate(page);
            }
            None => self.counts.write_allocations += 1,
        }
        if let (Some(bytes), true) = (bytes.bytes(), S::CARRIES_BYTES) {
            self.array.buffer[..FLASH_PAGE as usize].copy_from_slice(bytes);
        }
        let number = self.bring_in(key, target, now, (true, Activity::Write, Cause::Host), source);
        let of = &mut self.operations[number];
        (of.part, of.before, of.supersedes) = (Some(part), before, supersedes);
        self.versions.entry(key).or_default().push(number);
        self.count_down(now, number);
    }

    /// Returns the version of page `key` before a write, which is used to undo the write. `old` is the
    /// location of the page in flash, if the page is cached.
    fn before(&mut self, now: Time, key: u64, old: Option<u32>) -> Before {
        if let Some(page) = old.filter(|&page| self.tables.pages[page as usize].is_dirty) {
            if !S::CARRIES_BYTES {
                return Before::Dirty(Payload::NONE);
            }
            return match self.look_at(page, now).is_good() {
                true => Before::Dirty(self.array.buffer[..FLASH_PAGE as usize].to_vec().into()),
                false => Before::Lost,
            };
        }
        // The data remains lost, although a newer version may be written back in the meantime.
        if !self.lost.is_empty() && self.is_lost(key) { Before::Lost } else { Before::Elsewhere }
    }

    /// Writes the page of `part` to the backing, because the flash has no space for it. An older version in
    /// flash stays until the write completes.
    #[cold]
    fn write_through(&mut self, now: Time, part: Waiter, data: Payload, source: u32) {
        self.counts.bypassed += 1;
        let key = part.key;
        let (address, bytes) = (key << SHIFT, FLASH_PAGE as u32);
        let request = Request { arrival: now, address, bytes, volume: 0, op: Op::Write };
        let (purpose, part) = (Purpose::Through, Some(part));
        let through =
            Operation { purpose, key, pages: 1, request, data, source, part, ..Operation::default() };
        let number = self.operation(now, through);
        self.behind(number, source);
        self.change(number, key);
        self.busy.insert(key, Busy { through: number, waiters: VecDeque::new() });
        self.versions.entry(key).or_default().push(number);
        self.count_down(now, number);
    }

    /// Handles the completion of a write that did not enter the flash, or of the flush after it.
    #[cold]
    pub(super) fn passed_by(&mut self, now: Time, number: u32, status: Status, spans: &[Span]) {
        let component = self.id;
        let Operation { purpose, key, began, .. } = self.operations[number];
        let part = self.operations[number].part.as_mut().expect("a part of a request asked for it");
        if purpose == Purpose::Through {
            part.fill_up(component, began, Activity::Queue);
            part.spans.extend_from_slice(spans);
        } else {
            part.fill_up(component, now, Activity::Drain);
            if status != Status::Done {
                self.report.lose();
            }
        }
        let old = self.tables.find(key);
        let is_dirty = old.is_some_and(|page| self.tables.pages[page as usize].is_dirty);
        let has_older = is_dirty || self.operations[number].keeps.is_some() || self.lost.contains_key(&key);
        if status == Status::Done && purpose == Purpose::Through && has_older && self.flushes {
            self.operations[number].purpose = Purpose::ThroughSafe;
            return self.flush_behind(now, number);
        }
        let part = self.operations[number].part.take().expect("a part of a request asked for it");
        let keeps = self.operations[number].keeps.take();
        self.end_operation(now, number);
        if status == Status::Done {
            self.version_is_there(key, number);
            self.lost.remove(&key);
            if let Some(page) = old {
                self.drop_page(page, Leaves::Superseded);
            }
        } else {
            self.forget_version(key, number);
            if let Some(older) = keeps {
                self.send_page(now, key, older);
            }
        }
        self.end_part(now, part, status, Activity::Queue, Payload::NONE);
        let waiters = self.busy.remove(&key).expect("it is busy").waiters;
        self.serve(now, waiters, None);
    }
}
