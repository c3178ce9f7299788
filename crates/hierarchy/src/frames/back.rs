//! Handling of write-backs, trims, and flushes.

use super::busy::{Waiter, Why};
use super::cache::{Event, FrameCache, total};
use super::operation::{Back, HeldUp, NONE, Operation, Purpose};
use super::{Memory, WRITE_BACKS};
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};

impl<M: Memory> FrameCache<M> {
    /// Writes back the dirty page of `frame`. The page then counts as clean. Returns the number of the
    /// operation.
    pub(super) fn write_back(&mut self, frame: u32, now: Time) -> u32 {
        let key = self.frames[frame as usize].key;
        // A page being written back is removed from its frame immediately.
        let access = self.memory.read(frame, now, &mut self.page);
        self.make_clean(frame);
        self.counts.written_back += 1;
        let data = if self.carries_bytes { self.page.clone().into() } else { Payload::NONE };
        let number = self.send_back(now, key, data, access.is_good);
        self.agenda.schedule(access.done, Event::Operation(number));
        number
    }

    /// Creates an operation that writes page `key` back when its wait count reaches zero. Returns the number
    /// of the operation.
    pub(super) fn send_back(&mut self, now: Time, key: u64, data: Payload, is_good: bool) -> u32 {
        let bytes = self.settings.page.0 as u32;
        let request = Request { arrival: now, address: key << self.shift, bytes, volume: 0, op: Op::Write };
        let number = self.operation(Purpose::Back, NONE, (key, 1), request, now);
        self.operations[number].data = data;
        self.operations[number].back = Back { is_good, ticket: self.flushing.begin(), ..Back::default() };
        self.change(number, key);
        if self.on_their_way < WRITE_BACKS as u32 {
            self.on_their_way += 1;
            self.operations[number].back.is_under_way = true;
        } else {
            self.operations[number].waits += 1;
            self.leaving.push_back(number);
        }
        number
    }

    /// Registers operation `number` as the latest change of backing page `key`.
    fn change(&mut self, number: u32, key: u64) {
        self.behind_changes(number, key);
        self.changing.set(key, u64::from(number));
    }

    /// Ends a write-back that was not sent because the page was unreadable in the frame.
    #[cold]
    pub(super) fn not_sent(&mut self, now: Time, number: u32) {
        self.counts.uncorrectable += 1;
        self.back_ends(now, number, true);
    }

    /// Handles the completion of a write-back or of the flush after it.
    pub(super) fn sent(&mut self, now: Time, number: u32, status: Status) {
        let operation = &mut self.operations[number];
        if status != Status::Done || operation.purpose == Purpose::Safe || !self.flushes {
            return self.back_ends(now, number, status != Status::Done);
        }
        operation.purpose = Purpose::Safe;
        operation.request = Request { arrival: now, address: 0, bytes: 0, volume: 0, op: Op::Flush };
        self.backing.submit(now, RequestId(number), &self.operations[number].request, Payload::NONE);
        self.next = self.backing.next_event();
    }

    fn back_ends(&mut self, now: Time, number: u32, is_lost: bool) {
        let key = self.operations[number].key;
        if is_lost {
            self.lose(key);
        } else if self.lost.get(&key).is_some_and(|&lost| lost <= self.operations[number].serial) {
            // A page that was lost after this operation was created had newer data, so it remains lost.
            self.lost.remove(&key);
        }
        let ticket = self.operations[number].back.ticket;
        self.end_operation(now, number);
        self.on_their_way -= 1;
        if let Some(next) = self.leaving.pop_front() {
            self.on_their_way += 1;
            self.set_under_way(now, next);
        }
        let mut over = Vec::new();
        self.flushing.end(ticket, |flush| over.push(flush));
        over.into_iter().for_each(|(visit, since)| self.pass_flush(now, visit, since));
    }

    /// Assigns a slot to a write-back. The operations that waited for the slot continue.
    fn set_under_way(&mut self, now: Time, number: u32) {
        let back = &mut self.operations[number].back;
        back.is_under_way = true;
        let busy = std::mem::replace(&mut back.frame_of, NONE);
        let held_up = back.holds_up.take();
        self.count_down(now, number);
        if let Some(HeldUp { visit, written, spans }) = held_up {
            let after = [self.span(Activity::Queue, now - written)];
            let after = if now == written { &[][..] } else { &after };
            let part = Part { before: &spans, spans: after, ..Part::at_once(Status::Done) };
            self.visits.part_ends(now, visit, &part);
        }
        if busy != NONE {
            self.busy[busy].behind = NONE;
            if self.busy[busy].has_arrived {
                self.fill(now, busy);
            } else if self.busy[busy].why == Why::Placing {
                self.begin_write(now, busy);
            }
        }
    }

    /// Ends an operation. Operations that depend on it no longer wait for it.
    pub(super) fn end_operation(&mut self, now: Time, number: u32) {
        let Operation { purpose, key, pages, .. } = self.operations[number];
        if matches!(purpose, Purpose::Back | Purpose::Safe | Purpose::Trim) {
            for key in key..key + pages {
                if self.changing.get(key) == Some(u64::from(number)) {
                    self.changing.remove(key);
                }
            }
        }
        let mut dependents = std::mem::take(&mut self.operations[number].dependents);
        self.operations[number].data = Payload::NONE;
        self.operations.give_back(number);
        for dependent in dependents.drain(..) {
            self.count_down(now, dependent);
        }
    }

    /// Handles a trim: drops clean pages and passes the trim to the backing.
    pub(super) fn trim(&mut self, now: Time, id: RequestId, request: &Request, looked_up: Time) {
        let visit = self.visits.enter(now, id, request, (Activity::Translate, looked_up));
        let (first, count) = request.blocks(self.settings.page.0);
        self.visits.add_part(visit);
        let number = self.operation(Purpose::Trim, visit, (first, count), *request, now);
        self.operations[number].waits += count as u32;
        for key in first..first + count {
            self.change(number, key);
            match self.find(key).and_then(|frame| self.busy_of(frame)) {
                Some(busy) => {
                    let waiter = Waiter { key, trim: Some(number), ..Waiter::default() };
                    self.busy[busy].waiters.push_back(waiter);
                }
                None => self.trim_page(now, number, key),
            }
        }
        self.count_down(now, number);
        self.visits.leave(visit);
    }

    /// Drops page `key` for a trim, after earlier operations on the page, if the page is clean. A dirty
    /// page exists only in the cache and keeps its data, because the backing has an older version. If the
    /// page is busy again, a later request uses it, and the trim does not drop it.
    pub(super) fn trim_page(&mut self, now: Time, trim: u32, key: u64) {
        if let Some(frame) = self.find(key)
            && self.busy_of(frame).is_none()
            && !self.dirty.holds(frame)
        {
            self.counts.pages_trimmed += 1;
            self.vacate(frame);
        }
        self.count_down(now, trim);
    }

    /// Handles a flush: writes dirty pages back if the memory is volatile, and then flushes the backing.
    pub(super) fn flush(&mut self, now: Time, id: RequestId, request: &Request, looked_up: Time) {
        let visit = self.visits.enter(now, id, request, (Activity::Translate, looked_up));
        self.visits.add_part(visit);
        if !M::IS_VOLATILE {
            self.pass_flush(now, visit, now);
        } else if let Some((visit, since)) = self.writing.wait((visit, now)) {
            self.flush_dirty(now, visit, since);
        }
        self.visits.leave(visit);
    }

    /// Starts the write-backs of a flush in address order. All earlier writes have ended.
    pub(super) fn flush_dirty(&mut self, now: Time, visit: u32, since: Time) {
        let dirty = self.dirty.oldest_first(0);
        let mut leaving: Vec<(u64, u32)> =
            dirty.map(|frame| (self.frames[frame as usize].key, frame)).collect();
        leaving.sort_unstable();
        for (_, frame) in leaving {
            self.write_back(frame, now);
        }
        if let Some((visit, since)) = self.flushing.wait((visit, since)) {
            self.pass_flush(now, visit, since);
        }
    }

    /// Passes a host flush to the backing.
    fn pass_flush(&mut self, now: Time, visit: u32, since: Time) {
        let request = *self.visits.request(visit);
        let number = self.operation(Purpose::Flush, visit, (0, 0), request, since);
        self.count_down(now, number);
    }

    /// Handles the backing's completion of a host trim or flush.
    pub(super) fn passed(&mut self, now: Time, number: u32, status: Status, spans: &[Span]) {
        let Operation { purpose, owner, since, .. } = self.operations[number];
        let mut status = status;
        let mut activity = Activity::Queue;
        if purpose == Purpose::Flush {
            activity = Activity::Drain;
            let submitted = self.visits.request(owner).arrival;
            if self.report.fails_flush(submitted, now) {
                status = Status::MediaError;
            }
        }
        let own = Some((activity, (now - since) - total(spans)));
        let part = Part { status, own, before: &[], spans, data: (0, Payload::NONE) };
        self.visits.part_ends(now, owner, &part);
        self.end_operation(now, number);
    }
}
