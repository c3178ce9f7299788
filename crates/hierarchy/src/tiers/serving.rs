//! Host requests. Each part is sent to the device that contains it, is served from memory, or waits.

use super::chunk::Where;
use super::model::{Tiers, Waiting};
use super::operation::{Operation, Purpose};
use super::tier::Location;
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Status, Time};

impl Tiers {
    /// Byte range within `extent` that `request` covers.
    #[inline]
    pub(super) fn range(&self, extent: u64, request: &Request) -> (u64, u64) {
        let start = extent << self.shift;
        let from = request.address.max(start) - start;
        (from, (request.address + u64::from(request.bytes)).min(start + (1 << self.shift)) - start)
    }

    /// Serves a request that is completely within one extent and at one location.
    #[inline]
    pub(super) fn serve_alone(
        &mut self,
        now: Time,
        id: RequestId,
        extent: u64,
        request: &Request,
        data: Payload,
    ) {
        let location = self.locations[extent as usize];
        let from = request.address - (extent << self.shift);
        let number = self.operation(Purpose::Alone, request.op, location, from, u64::from(request.bytes));
        self.operations[number].owner = id.0;
        self.send(now, number, location.tier(), data);
    }

    /// Serves a request that may have parts at several locations.
    pub(super) fn serve_in_parts(&mut self, now: Time, id: RequestId, request: &Request, data: &Payload) {
        let visit = self.visits.enter(now, id, request, (Activity::Queue, Time::ZERO));
        let (first, count) = request.blocks(1 << self.shift);
        for extent in first..first + count {
            self.count(extent as usize, request.op);
            let (from, to) = self.range(extent, request);
            let start = ((extent << self.shift) + from - request.address) as usize;
            let data = data.slice(start, start + (to - from) as usize);
            self.serve(now, visit, (extent, from, to), request.op, now, &data);
        }
        self.visits.leave(visit);
    }

    /// Serves the bytes `from` to `to` of `extent`, which were requested at `since`.
    pub(super) fn serve(
        &mut self,
        now: Time,
        visit: u32,
        (extent, from, to): (u64, u64, u64),
        op: Op,
        since: Time,
        data: &Payload,
    ) {
        let location = self.locations[extent as usize];
        let mut start = from;
        while start < to {
            let at = (extent as u32, location);
            let (mut end, how) = self.migration.locate(at, start, to, op != Op::Read);
            if let Where::Device(location) = how
                && !self.migration.rejected.is_empty()
            {
                let (until, is_kept) = self.migration.rejected.first_part(location, start, end);
                end = until;
                if is_kept {
                    let part = data.slice((start - from) as usize, (end - from) as usize);
                    let found = self.migration.rejected.serve(op, location, start, end, &part);
                    self.served_from_memory(now, visit, (extent, start), since, found);
                    start = end;
                    continue;
                }
            }
            let part = data.slice((start - from) as usize, (end - from) as usize);
            match how {
                Where::Device(location) => {
                    self.visits.add_part(visit);
                    let number = self.operation(Purpose::Part, op, location, start, end - start);
                    let operation = &mut self.operations[number];
                    (operation.owner, operation.waited) = (visit, now - since);
                    operation.address = (extent << self.shift) + start;
                    self.send(now, number, location.tier(), part);
                }
                Where::Memory(side) => {
                    let found = self.read_moving(side, start, end);
                    self.served_from_memory(now, visit, (extent, start), since, found);
                }
                Where::Later => {
                    self.visits.add_part(visit);
                    self.waiting.push(Waiting { visit, extent, from: start, to: end, op, since, data: part });
                }
            }
            start = end;
        }
    }

    /// Returns the bytes `from` to `to` of the chunk of `side`, which is in memory.
    fn read_moving(&self, side: usize, from: u64, to: u64) -> Payload {
        let upto = self.migration.active.map_or(0, |active| active.upto);
        self.migration.moving[side].bytes.slice((from - upto) as usize, (to - upto) as usize)
    }

    fn served_from_memory(
        &mut self,
        now: Time,
        visit: u32,
        (extent, from): (u64, u64),
        since: Time,
        data: Payload,
    ) {
        self.visits.add_part(visit);
        let own = Some((Activity::Queue, now - since));
        let data = ((extent << self.shift) + from, data);
        self.visits.part_ends(now, visit, &Part { own, data, ..Part::at_once(Status::Done) });
    }

    /// Handles a host flush. It is sent to every tier, after earlier writes that wait for a chunk.
    pub(super) fn flush(&mut self, now: Time, id: RequestId, request: &Request) {
        let visit = self.visits.enter(now, id, request, (Activity::Queue, Time::ZERO));
        if self.waiting.is_empty() {
            self.flush_tiers(now, visit, now);
        } else {
            self.visits.add_part(visit);
            let (op, data) = (Op::Flush, Payload::NONE);
            self.waiting.push(Waiting { visit, extent: 0, from: 0, to: 0, op, since: now, data });
        }
        self.visits.leave(visit);
    }

    /// Sends a flush that was requested at `since` to every tier.
    pub(super) fn flush_tiers(&mut self, now: Time, visit: u32, since: Time) {
        for tier in 0..self.tiers.len() {
            self.visits.add_part(visit);
            let number = self.operation(Purpose::Part, Op::Flush, Location::new(tier, 0), 0, 0);
            (self.operations[number].owner, self.operations[number].waited) = (visit, now - since);
            self.send(now, number, tier, Payload::NONE);
        }
    }

    /// Adds an operation. Returns its number.
    #[inline]
    pub(super) fn operation(
        &mut self,
        purpose: Purpose,
        op: Op,
        location: Location,
        from: u64,
        length: u64,
    ) -> u32 {
        let (number, operation) = self.operations.take();
        *operation = Operation { purpose, op, location, from, length, ..Operation::default() };
        number
    }

    /// Submits an operation to the device of `tier`.
    #[inline]
    pub(super) fn send(&mut self, now: Time, number: u32, tier: usize, data: Payload) {
        let Operation { op, location, from, length, .. } = self.operations[number];
        let address = if op == Op::Flush { 0 } else { (u64::from(location.number()) << self.shift) + from };
        let request = Request { arrival: now, address, bytes: length as u32, volume: 0, op };
        let tier = &mut self.tiers[tier];
        tier.device.submit(now, RequestId(number), &request, data);
        tier.next = tier.device.next_event();
    }
}
