//! The drive as a memory of bytes.
//!
//! A row is a page of the store. Its bits are kept inverted: what was never programmed reads as ones from a
//! store and as zeros from the drive.

use super::config::CompletionPoint;
use super::controller::Part;
use super::model::Onyx;
use super::unfinished::{PartWrite, RowMove};
use nacre_kernel::{Breakdown, Completion, MemoryDevice, Op, Recovery, Refused, Status, Time};
use nacre_media::store::Store;

/// The largest request of the driver: what is longer is several, one after the other.
const REQUEST_MAX: usize = 1 << 20;

impl<S: Store> Onyx<S> {
    /// The page of a physical row.
    fn page(&self, controller: usize, physical: u64) -> u64 {
        controller as u64 * self.controllers[controller].rows.count() + physical
    }

    /// Bytes of logical row `row` from `offset` on.
    pub(super) fn get(&self, controller: usize, row: u64, offset: usize, into: &mut [u8]) {
        let physical = self.controllers[controller].leveller.physical(row);
        self.store.read(self.page(controller, physical), offset, into);
        into.iter_mut().for_each(|byte| *byte = !*byte);
    }

    /// Replaces bytes of logical row `row` from `offset` on, in place.
    pub(super) fn put(&mut self, controller: usize, row: u64, offset: usize, bytes: &[u8]) {
        let page = self.page(controller, self.controllers[controller].leveller.physical(row));
        let mut whole = vec![0; self.store.page_bytes()];
        if bytes.len() < whole.len() {
            self.store.read(page, 0, &mut whole);
        }
        whole[offset..offset + bytes.len()].iter_mut().zip(bytes).for_each(|(kept, &byte)| *kept = !byte);
        self.store.program(page, &whole);
    }

    /// The bytes of the row that wear levelling has just moved, if it did, which takes until `end`.
    pub(super) fn carry_moved(&mut self, controller: usize, end: Time) {
        let Some(moved) = self.controllers[controller].moved.take() else { return };
        let (from, to) = (self.page(controller, moved.from), self.page(controller, moved.to));
        self.store.copy(from, to);
        let moved = RowMove { controller, from: moved.from, to: moved.to, end };
        self.unfinished.moves.push_back(moved);
    }

    /// One request of a write; its bytes.
    fn write_request(
        &mut self,
        now: Time,
        address: u64,
        bytes: &[u8],
        breakdown: &mut Breakdown,
    ) -> Completion {
        let mut visit = self.enter(now, Op::Write);
        let first = self.unfinished.writes.len();
        let mut at = 0;
        while at < bytes.len() {
            let (number, part) = self.part(address + at as u64, (bytes.len() - at) as u64);
            self.write_part(&mut visit, number, part);
            let new = bytes[at..at + part.bytes as usize].to_vec();
            self.overwrite(number, part, new);
            at += part.bytes as usize;
        }
        let done = self.leave(&visit, breakdown);
        self.unfinished.writes.range_mut(first..).for_each(|write| write.acknowledged = done.done);
        done
    }

    fn overwrite(&mut self, number: usize, part: Part, new: Vec<u8>) {
        let offset = part.offset as usize;
        let mut old = vec![0; new.len()];
        self.get(number, part.row, offset, &mut old);
        self.put(number, part.row, offset, &new);
        let programs = self.controllers[number].programs.clone();
        let acknowledged = Time::MAX;
        let write = PartWrite { controller: number, row: part.row, offset, old, new, programs, acknowledged };
        self.unfinished.writes.push_back(write);
    }

    fn check_power(&self) {
        assert!(!self.has_failed, "nothing may be asked of a device without power");
    }
}

impl<S: Store> MemoryDevice for Onyx<S> {
    fn read(&mut self, now: Time, address: u64, into: &mut [u8], breakdown: &mut Breakdown) -> Completion {
        self.check_power();
        let mut done = now;
        let mut address = address;
        for request in into.chunks_mut(REQUEST_MAX) {
            self.book.host.count(Op::Read, request.len() as u64);
            let mut visit = self.enter(done, Op::Read);
            let mut at = 0;
            while at < request.len() {
                let (number, part) = self.part(address + at as u64, (request.len() - at) as u64);
                self.read_part(&mut visit, number, part);
                let end = at + part.bytes as usize;
                self.get(number, part.row, part.offset as usize, &mut request[at..end]);
                at = end;
            }
            address += request.len() as u64;
            done = self.leave(&visit, breakdown).done;
        }
        Completion { done, status: Status::Done }
    }

    fn write(
        &mut self,
        now: Time,
        address: u64,
        bytes: &[u8],
        breakdown: &mut Breakdown,
    ) -> Result<Completion, Refused> {
        self.check_power();
        let (mut done, mut address) = (now, address);
        for request in bytes.chunks(REQUEST_MAX) {
            self.unfinished.settle(done);
            self.book.host.count(Op::Write, request.len() as u64);
            done = self.write_request(done, address, request, breakdown).done;
            address += request.len() as u64;
        }
        Ok(Completion { done, status: Status::Done })
    }

    fn begin(&mut self, _now: Time) -> Result<Completion, Refused> {
        Err(Refused::NoTransactions)
    }

    fn commit(&mut self, _now: Time) -> Result<Completion, Refused> {
        Err(Refused::NoTransactions)
    }

    fn abort(&mut self, _now: Time) -> Result<Completion, Refused> {
        Err(Refused::NoTransactions)
    }

    fn is_in_transaction(&self) -> bool {
        false
    }

    fn power_fail(&mut self, at: Time) {
        self.lose_power(at);
    }

    fn may_lose_writes(&self) -> bool {
        self.config.completion == CompletionPoint::Early && self.powered_programs().is_some()
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.repair(at)
    }
}
