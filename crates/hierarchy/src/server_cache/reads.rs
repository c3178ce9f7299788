//! Reads of blocks that are in a level, in the backing, or being fetched.

use super::cache::ServerCache;
use super::levels::Spot;
use super::moving::Origin;
use super::ops::{NONE, Purpose};
use super::parts::{at, part_of, whole};
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};

impl ServerCache {
    #[inline]
    pub(super) fn read(&mut self, now: Time, id: RequestId, request: &Request, queued: Time) {
        let (first, count) = request.blocks(1 << self.shift);
        if count > 1 || self.is_full_of_fetches() || !queued.is_zero() {
            return self.read_parts(now, id, request, queued, None);
        }
        let found = self.levels.access(first, &mut self.moves);
        // This is the hot path for a request of one block in the first level, which is neither being fetched
        // nor being written.
        match found {
            Some(Spot { level: 0, location })
                if (self.in_flight.len() == 0 || self.in_flight.get(first).is_none())
                    && self.operations.writing_copy(0, first).next().is_none() =>
            {
                self.levels.all[0].counts.read_hits += 1;
                let part = at(location, request, self.shift);
                let number = self.operations.add(Purpose::Alone, 0, now, part);
                self.operations[number].owner = id.0;
                self.operations.touches(number, 0, first);
                self.operations.launch(number);
            }
            found => self.read_parts(now, id, request, queued, Some(found)),
        }
    }

    fn is_full_of_fetches(&self) -> bool {
        self.in_flight.len() >= super::fetch::IN_FLIGHT_MAX
    }

    /// Reads all blocks of the request in parallel. `found` is the result of the look-up if the request has
    /// a single block that was already looked up, and otherwise `None`.
    fn read_parts(
        &mut self,
        now: Time,
        id: RequestId,
        request: &Request,
        queued: Time,
        mut found: Option<Option<Spot>>,
    ) {
        let visit = self.enter(now, id, request, queued);
        let (first, count) = request.blocks(1 << self.shift);
        let (mut run, mut is_admitted) = (None, true);
        for block in first..first + count {
            if is_admitted && found.is_none() && self.is_full_of_fetches() {
                self.close(now, run.take(), visit);
                is_admitted = false;
            }
            let found = match found.take() {
                Some(found) => found,
                None if is_admitted => self.levels.access(block, &mut self.moves),
                None => self.levels.touch(block),
            };
            let fetch = self.in_flight.get(block).map(|number| number as u32);
            if fetch.is_none() && found.is_none() {
                let number = match run {
                    Some(number) => number,
                    None => self.begin_fetch(now, request, block, is_admitted),
                };
                run = Some(number);
                self.add_to_fetch(number, block);
                let operation = self.fetches[number].operation;
                self.carry_out(now, block, &Origin::Operation(operation), Some(number));
                continue;
            }
            self.close(now, run.take(), visit);
            match (fetch, found) {
                (Some(fetch), _) => {
                    self.merge(now, fetch, block, visit);
                    let from = self.origin_in(fetch, block);
                    self.carry_out(now, block, &from, None);
                }
                (None, Some(found)) => self.hit(now, found, block, visit),
                (None, None) => unreachable!("block {block} is fetched"),
            }
        }
        self.close(now, run, visit);
        self.leave(now, visit);
    }

    fn close(&mut self, now: Time, run: Option<u32>, visit: u32) {
        if let Some(number) = run {
            self.launch_fetch(now, number, visit);
        }
    }

    /// Reads a block from a level. Reads the whole block if the block is also written to another level, and
    /// otherwise only the requested bytes.
    fn hit(&mut self, now: Time, found: Spot, block: u64, visit: u32) {
        let request = self.visits[visit].request;
        let moves_up = self.moves.list.iter().any(|wanted| wanted.block == block);
        let part = match moves_up {
            true => whole(block, &request, self.shift),
            false => part_of(block, &request, self.shift),
        };
        self.levels.all[found.level].counts.read_hits += 1;
        let purpose = if moves_up { Purpose::Rise } else { Purpose::Hit };
        let number = self.operations.add(purpose, found.level, now, at(found.location, &part, self.shift));
        self.operations[number].owner = visit;
        self.add_part(visit);
        if !(moves_up && self.wait_for_parts(number, found.level, block)) {
            self.wait_for_bytes(number, found.level, block, &part);
        }
        self.operations.touches(number, found.level, block);
        self.carry_out(now, block, &Origin::Operation(number), None);
        self.operations.launch(number);
    }

    /// Delays the read of a block that moves to a higher level until writes to portions of the block have
    /// ended. Returns whether there are such writes.
    fn wait_for_parts(&mut self, number: u32, level: usize, block: u64) -> bool {
        let writes: Vec<u32> = self.operations.writing_copy(level, block).collect();
        let newest = writes.iter().max_by_key(|&&write| self.operations[write].order);
        let Some(&newest) = newest else { return false };
        let of = &self.operations[newest];
        if of.purpose == Purpose::ComeIn || self.is_whole(&of.request) {
            return false;
        }
        self.operations.depend_all(number, &writes);
        true
    }

    /// Lets operation `number` use the data of a block while a write of the whole block to its level is in
    /// progress. The data is already in memory or on its way to memory.
    fn wait_for_bytes(&mut self, number: u32, level: usize, block: u64, part: &Request) {
        let writes = self.operations.writing_copy(level, block);
        let mut newest: Option<(u32, u64)> = None;
        for write in writes {
            let of = &self.operations[write];
            let is_whole = of.purpose == Purpose::ComeIn || self.is_whole(&of.request);
            if is_whole && !of.is_skipped && newest.is_none_or(|(_, stamp)| of.order > stamp) {
                newest = Some((write, of.order));
            }
        }
        let Some((write, _)) = newest else { return };
        if self.operations[write].source != NONE {
            self.operations.depend(number, write);
            return;
        }
        let from = (part.address - (block << self.shift)) as usize;
        let data = &self.operations[write].data;
        let data = if data.is_none() { Payload::NONE } else { data.slice(from, from + part.bytes as usize) };
        self.operations[number].data = data;
    }

    /// Handles the end of a level read that serves a part of a request.
    pub(super) fn hit_ends(
        &mut self,
        now: Time,
        number: u32,
        status: Status,
        spans: &[Span],
        data: &Payload,
    ) {
        let of = &self.operations[number];
        let (visit, block, waited) = (of.owner, of.block, now - of.since);
        let told = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
        let own = Some((Activity::Merge, waited - told));
        if status != Status::Done {
            let before = self.told(own, spans);
            return self.recover(now, visit, block, before);
        }
        let data = match of.purpose {
            Purpose::Rise => self.slice_for(visit, (block, 1), block, data),
            _ => (self.visits[visit].request.address.max(block << self.shift), data.clone()),
        };
        self.part_ends(now, visit, &Part { own, spans, data, ..Part::at_once(Status::Done) });
    }

    /// Handles the failure of a level read that serves a whole request.
    #[cold]
    pub(super) fn alone_failed(&mut self, now: Time, number: u32, spans: &[Span]) {
        let of = &self.operations[number];
        let (id, block, since) = (RequestId(of.owner), of.block, of.since);
        let offset = of.request.address & ((1 << self.shift) - 1);
        let request = Request { address: block << self.shift | offset, ..of.request };
        let visit = self.enter(since, id, &request, Time::ZERO);
        self.add_part(visit);
        let before = self.told(None, spans);
        self.recover(now, visit, block, before);
        self.leave(now, visit);
    }

    /// Latency breakdown of a part so far: the time in the cache, if any, followed by `spans`.
    fn told(&self, own: Option<(Activity, Time)>, spans: &[Span]) -> Vec<Span> {
        let component = self.id;
        let own = own.filter(|(_, time)| !time.is_zero()).map(|(activity, time)| Span {
            component,
            activity,
            stage: nacre_kernel::Stage::Untold,
            time,
        });
        own.into_iter().chain(spans.iter().copied()).collect()
    }

    /// Handles a failed level read by reading the backing, which has a copy of all clean blocks. The request
    /// fails if the data is lost.
    #[cold]
    fn recover(&mut self, now: Time, visit: u32, block: u64, before: Vec<Span>) {
        self.counts.recovered += 1;
        self.drop_block(block);
        let is_lost = self.write_back.as_ref().is_some_and(|work| work.has_refused(block..block + 1));
        if is_lost {
            self.work().report.lose();
            let part = Part { before: &before, ..Part::at_once(Status::MediaError) };
            return self.part_ends(now, visit, &part);
        }
        self.counts.backing_reads += 1;
        let request = self.backing_request(block, 1, Op::Read, now);
        let number = self.operations.add(Purpose::Again, self.backing(), now, request);
        let of = &mut self.operations[number];
        (of.owner, of.block, of.spans) = (visit, block, before);
        self.operations.depend_on_write(number, block);
        self.operations.launch(number);
    }

    /// Handles the end of a read of the backing that was issued because a read of a level or of whole
    /// blocks had failed.
    #[cold]
    pub(super) fn again_ends(
        &mut self,
        now: Time,
        number: u32,
        status: Status,
        spans: &[Span],
        data: &Payload,
    ) {
        let of = &mut self.operations[number];
        let (purpose, visit, block, address) = (of.purpose, of.owner, of.block, of.request.address);
        let (mut before, since) = (std::mem::take(&mut of.spans), of.since);
        let told = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
        before.extend(self.told(Some((Activity::Queue, now - since - told)), spans));
        if status != Status::Done && purpose == Purpose::Again {
            return self.read_wanted(now, visit, (block, 1), before);
        }
        let data = match purpose {
            Purpose::Again if status == Status::Done => {
                let whole = self.padded(data);
                self.slice_for(visit, (block, 1), block, &whole)
            }
            _ => (address, data.clone()),
        };
        self.part_ends(now, visit, &Part { before: &before, data, ..Part::at_once(status) });
    }

    /// Pads data to the size of a block with zeros, because the backing may end within the block.
    fn padded(&self, data: &Payload) -> Payload {
        let Some(bytes) = data.bytes() else { return Payload::NONE };
        if bytes.len() == 1 << self.shift {
            return data.clone();
        }
        let mut whole = bytes.to_vec();
        whole.resize(1 << self.shift, 0);
        whole.into()
    }

    /// Handles a failed read of whole blocks. Reads only the requested range if this range is smaller;
    /// otherwise, this part of the request fails.
    #[cold]
    pub(super) fn read_wanted(
        &mut self,
        now: Time,
        visit: u32,
        (first, blocks): (u64, u64),
        before: Vec<Span>,
    ) {
        let request = self.visits[visit].request;
        let (start, last) = (first << self.shift, (first + blocks) << self.shift);
        let from = request.address.max(start);
        let to = (request.address + u64::from(request.bytes)).min(last);
        if to - from == last - start {
            let part = Part { before: &before, ..Part::at_once(Status::MediaError) };
            return self.part_ends(now, visit, &part);
        }
        self.counts.backing_reads += 1;
        let wanted = Request { address: from, bytes: (to - from) as u32, ..request };
        let number = self.operations.add(Purpose::Wanted, self.backing(), now, wanted);
        let of = &mut self.operations[number];
        (of.owner, of.block, of.spans) = (visit, first, before);
        self.operations.launch(number);
    }
}
