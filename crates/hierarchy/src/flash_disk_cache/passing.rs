//! Handling of trims and flushes, which are passed to the backing.

use super::FLASH_PAGE;
use super::cache::FlashCache;
use super::counts::Leaves;
use super::operation::{Operation, Purpose, Waiter};
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};
use nacre_media::store::Store;

impl<S: Store> FlashCache<S> {
    /// Handles a trim. Clean pages are removed. The trim is passed to the backing after operations that
    /// change the trimmed pages. Pages that are being fetched are removed on arrival.
    pub(super) fn trim(&mut self, now: Time, id: RequestId, request: &Request, looked_up: Time) {
        let number = self.pass(now, id, request, (Purpose::Trim, looked_up));
        let (first, count) = request.blocks(FLASH_PAGE);
        (self.operations[number].key, self.operations[number].pages) = (first, count);
        for key in first..first + count {
            self.change(number, key);
            self.operations[number].waits += 1;
            match self.busy.get_mut(&key) {
                Some(busy) => {
                    busy.waiters.push_back(Waiter { key, trim: number, ..Waiter::default() });
                }
                None => self.trim_page(now, number, key),
            }
        }
        self.count_down(now, number);
    }

    /// Drops page `key` if it is clean. A dirty page exists only in the cache and keeps its data, because the
    /// backing has an older version.
    pub(super) fn trim_page(&mut self, now: Time, trim: u32, key: u64) {
        if let Some(page) = self.tables.find(key)
            && !self.tables.pages[page as usize].is_dirty
        {
            self.drop_page(page, Leaves::Trimmed);
        }
        self.count_down(now, trim);
    }

    /// Handles a flush. Acknowledged writes are in flash, so only the backing is flushed.
    pub(super) fn flush(&mut self, now: Time, id: RequestId, request: &Request, looked_up: Time) {
        let number = self.pass(now, id, request, (Purpose::Flush, looked_up));
        self.count_down(now, number);
    }

    /// Creates the operation that passes a request to the backing. The operation starts when its wait count
    /// reaches zero. Returns the number of the operation.
    fn pass(
        &mut self,
        now: Time,
        id: RequestId,
        request: &Request,
        (purpose, looked_up): (Purpose, Time),
    ) -> u32 {
        let visit = self.visits.enter(now, id, request, (Activity::Software, looked_up));
        self.visits.add_part(visit);
        self.visits.leave(visit);
        let part = Some(Waiter { visit, since: now, ..Waiter::default() });
        self.operation(now, Operation { purpose, request: *request, part, ..Operation::default() })
    }

    /// Flushes the backing after the write of operation `number`.
    pub(super) fn flush_behind(&mut self, now: Time, number: u32) {
        let request = Request { arrival: now, address: 0, bytes: 0, volume: 0, op: Op::Flush };
        self.backing.submit(now, RequestId(number), &request, Payload::NONE);
        self.next = self.backing.next_event();
    }

    /// Handles the backing's completion of a host trim or flush.
    pub(super) fn passed(&mut self, now: Time, number: u32, status: Status, spans: &[Span]) {
        let Operation { purpose, began, .. } = self.operations[number];
        let mut part = self.operations[number].part.take().expect("it is asked for by the host");
        self.end_operation(now, number);
        let submitted = self.visits.request(part.visit).arrival;
        let has_lost = purpose == Purpose::Flush && self.report.fails_flush(submitted, now);
        let status = if has_lost { Status::MediaError } else { status };
        part.fill_up(self.id, began, Activity::Queue);
        part.spans.extend_from_slice(spans);
        self.end_part(now, part, status, Activity::Queue, Payload::NONE);
    }
}
