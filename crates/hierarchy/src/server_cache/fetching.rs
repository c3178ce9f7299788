//! Fetches of blocks from the backing, and the requests that wait for them.

use super::cache::ServerCache;
use super::config::FillMode;
use super::fetch::{Fetch, Waiting};
use super::ops::{NONE, Purpose};
use crate::visit::Part;
use nacre_kernel::event::Payload;
use nacre_kernel::{Activity, Op, Request, Span, Stage, Status, Time};

impl ServerCache {
    /// Starts a fetch, whose first block is `block`. The caller can then add adjacent blocks. Returns the
    /// number of the fetch.
    pub(super) fn begin_fetch(&mut self, now: Time, request: &Request, block: u64, is_admitted: bool) -> u32 {
        let backing = self.backing();
        let operation =
            self.operations.add(Purpose::Fetch, backing, now, Request { op: Op::Read, ..*request });
        let (number, fetch) = self.fetches.take();
        (fetch.operation, fetch.first, fetch.blocks) = (operation, block, 0);
        (fetch.is_admitted, fetch.fills) = (is_admitted, 0);
        fetch.waiting.clear();
        fetch.patches.clear();
        fetch.spans.clear();
        (fetch.arrived, fetch.data) = (Time::ZERO, Payload::NONE);
        self.operations[operation].owner = number;
        self.operations[operation].block = block;
        number
    }

    /// Adds `block`, which must follow the last block of the fetch.
    pub(super) fn add_to_fetch(&mut self, number: u32, block: u64) {
        let fetch = &mut self.fetches[number];
        fetch.blocks += 1;
        let operation = fetch.operation;
        if fetch.is_admitted {
            self.in_flight.set(block, u64::from(number));
        }
        self.operations.depend_on_write(operation, block);
    }

    /// Launches a fetch for `visit`. All blocks of the fetch must have been added.
    pub(super) fn launch_fetch(&mut self, now: Time, number: u32, visit: u32) {
        self.add_part(visit);
        let Fetch { operation, first, blocks, .. } = self.fetches[number];
        let waiting = Waiting { visit, first, blocks, since: now, is_reader: true };
        self.fetches[number].waiting.push(waiting);
        self.counts.read_misses += blocks;
        let is_lost = self.write_back.as_ref().is_some_and(|work| work.has_refused(first..first + blocks));
        let request = self.backing_request(first, blocks, Op::Read, now);
        let of = &mut self.operations[operation];
        (of.blocks, of.is_broken) = (blocks as u32, is_lost);
        of.request = Request { volume: of.request.volume, arrival: of.request.arrival, ..request };
        self.counts.backing_reads += u64::from(!is_lost);
        self.operations.launch(operation);
    }

    /// Creates a request for whole blocks of the backing. The request does not extend past the end of the
    /// backing.
    pub(super) fn backing_request(&self, first: u64, blocks: u64, op: Op, now: Time) -> Request {
        let address = first << self.shift;
        let bytes = (blocks << self.shift).min(self.backing_end() - address);
        Request { arrival: now, address, bytes: u32::try_from(bytes).unwrap_or(u32::MAX), volume: 0, op }
    }

    /// Makes `visit` wait for `block`, which is already being fetched for another request.
    pub(super) fn merge(&mut self, now: Time, number: u32, block: u64, visit: u32) {
        self.counts.read_merged += 1;
        self.add_part(visit);
        let waiting = Waiting { visit, first: block, blocks: 1, since: now, is_reader: false };
        self.fetches[number].waiting.push(waiting);
    }

    /// Records a partial write of a block that is being fetched, to be merged into the fetched data.
    pub(super) fn patch(&mut self, number: u32, address: u64, data: Payload) {
        if !data.is_none() {
            self.fetches[number].patches.push((address, data));
        }
    }

    /// Number of the fetch of `block` if its data has not arrived yet; otherwise `None`.
    pub(super) fn fetch_of(&self, block: u64) -> Option<u32> {
        let number = self.in_flight.get(block)? as u32;
        (self.fetches[number].operation != NONE).then_some(number)
    }

    /// Handles the end of a fetch's read. Returns the data of the fetched blocks, to be written to the
    /// levels.
    pub(super) fn fetched(
        &mut self,
        now: Time,
        number: u32,
        status: Status,
        spans: &[Span],
        data: Payload,
    ) -> Payload {
        let is_lost = self.operations[self.fetches[number].operation].is_broken;
        self.fetches[number].operation = NONE;
        if status != Status::Done {
            self.fetch_failed(now, number, is_lost, spans);
            return Payload::NONE;
        }
        let Fetch { blocks, is_admitted, fills, .. } = self.fetches[number];
        let data = self.patched(number, data);
        match is_admitted {
            true => self.counts.fills += blocks,
            false => self.counts.bypassed += blocks,
        }
        let fetch = &mut self.fetches[number];
        fetch.arrived = now;
        fetch.spans.clear();
        fetch.spans.extend_from_slice(spans);
        fetch.data = data.clone();
        if self.fill == FillMode::Background || fills == 0 {
            self.fetch_ends(now, number);
        }
        data
    }

    /// Ends one of the level writes that the fetch waits for.
    pub(super) fn filled(&mut self, now: Time, number: u32) {
        let fetch = &mut self.fetches[number];
        fetch.fills -= 1;
        if fetch.fills == 0 && fetch.operation == NONE {
            self.fetch_ends(now, number);
        }
    }

    /// Returns the fetched data as whole blocks, including partial writes since the read started.
    fn patched(&mut self, number: u32, data: Payload) -> Payload {
        let fetch = &self.fetches[number];
        let (start, all) = (fetch.first << self.shift, (fetch.blocks << self.shift) as usize);
        let Some(bytes) = data.bytes() else { return data };
        if fetch.patches.is_empty() && bytes.len() == all {
            return data;
        }
        let mut whole = bytes.to_vec();
        // The backing may end within the last block.
        whole.resize(all, 0);
        for (address, patch) in &fetch.patches {
            let patch = patch.bytes().unwrap_or_default();
            let from = (address - start) as usize;
            whole[from..from + patch.len()].copy_from_slice(patch);
        }
        whole.into()
    }

    /// Ends a fetch. The requests that waited for it continue.
    fn fetch_ends(&mut self, now: Time, number: u32) {
        self.not_in_flight(number);
        let component = self.id;
        let fetch = &mut self.fetches[number];
        let mut waiting = std::mem::take(&mut fetch.waiting);
        let mut spans = std::mem::take(&mut fetch.spans);
        let data = std::mem::take(&mut fetch.data);
        let (first, fill) = (fetch.first, now - fetch.arrived);
        if !fill.is_zero() {
            spans.push(Span { component, activity: Activity::Fill, stage: Stage::Untold, time: fill });
        }
        for &of in &waiting {
            let data = self.slice_for(of.visit, (of.first, of.blocks), first, &data);
            let mut part = Part { data, ..Part::at_once(Status::Done) };
            match of.is_reader {
                true => self.reader_spans(&mut part, of.since, now, &spans),
                false => part.own = Some((Activity::Merge, now - of.since)),
            }
            self.part_ends(now, of.visit, &part);
        }
        waiting.clear();
        spans.clear();
        let fetch = &mut self.fetches[number];
        (fetch.waiting, fetch.spans) = (waiting, spans);
        self.fetches.give_back(number);
    }

    /// Sets the latency breakdown of the request that initiated the fetch. It includes the time for which
    /// the fetch waited for earlier writes before it read the backing.
    fn reader_spans<'a>(&self, part: &mut Part<'a>, since: Time, now: Time, spans: &'a [Span]) {
        let told = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
        part.own = Some((Activity::Queue, (now - since) - told));
        part.spans = spans;
    }

    fn not_in_flight(&mut self, number: u32) {
        let Fetch { first, blocks, is_admitted, .. } = self.fetches[number];
        if !is_admitted {
            return;
        }
        for block in first..first + blocks {
            if self.in_flight.get(block) == Some(u64::from(number)) {
                self.in_flight.remove(block);
            }
        }
    }

    /// Returns the portion of `data` that `visit` needs from the given blocks, and its address. `data` starts
    /// at block `start`.
    pub(super) fn slice_for(
        &self,
        visit: u32,
        (first, blocks): (u64, u64),
        start: u64,
        data: &Payload,
    ) -> (u64, Payload) {
        let request = &self.visits[visit].request;
        if data.is_none() {
            return (request.address, Payload::NONE);
        }
        let from = request.address.max(first << self.shift);
        let to =
            (request.address + u64::from(request.bytes)).min((first << self.shift) + (blocks << self.shift));
        let start = start << self.shift;
        (from, data.slice((from - start) as usize, (to - start) as usize))
    }

    /// Handles a failed fetch. Its blocks are removed from the cache. Waiting requests fail if the data is
    /// lost; otherwise, they retry only the portions that they need.
    #[cold]
    fn fetch_failed(&mut self, now: Time, number: u32, is_lost: bool, spans: &[Span]) {
        let Fetch { first, blocks, .. } = self.fetches[number];
        for block in first..first + blocks {
            if self.in_flight.get(block) == Some(u64::from(number)) {
                self.in_flight.remove(block);
                self.drop_block(block);
            }
        }
        let waiting = std::mem::take(&mut self.fetches[number].waiting);
        for of in waiting {
            let told = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
            let component = self.id;
            let own = |activity, time| Span { component, activity, stage: Stage::Untold, time };
            let before = match of.is_reader {
                true => [&[own(Activity::Queue, now - of.since - told)][..], spans].concat(),
                false => vec![own(Activity::Merge, now - of.since)],
            };
            let before: Vec<Span> = before.into_iter().filter(|span| !span.time.is_zero()).collect();
            if is_lost {
                let part = Part { before: &before, ..Part::at_once(Status::MediaError) };
                self.part_ends(now, of.visit, &part);
            } else {
                self.read_wanted(now, of.visit, (of.first, of.blocks), before);
            }
        }
        let fetch = &mut self.fetches[number];
        // Fills that are canceled below still decrement the count of fills.
        fetch.arrived = now;
        (fetch.spans, fetch.data) = (Vec::new(), Payload::NONE);
        if fetch.fills == 0 {
            self.fetches.give_back(number);
        }
    }
}
