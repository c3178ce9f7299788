//! Start and end of operations, and moves of blocks between levels.

use super::cache::ServerCache;
use super::config::{FillMode, LEVELS_MAX};
use super::levels::Move;
use super::ops::{NONE, Operation, Purpose};
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Span, Status, Time};

/// Source of the data of a block that is inserted into a level.
#[derive(Clone)]
pub(super) enum Origin {
    /// A read operation in progress.
    Operation(u32),
    /// Data that is already available.
    Data(Payload),
}

impl ServerCache {
    /// Performs the moves that the policies decided. `block` is inserted with data from `from`, and other
    /// blocks move down or leave the cache. `fetch` waits for all of these operations if reads wait for
    /// fills.
    #[inline]
    pub(super) fn carry_out(&mut self, now: Time, block: u64, from: &Origin, fetch: Option<u32>) {
        if self.moves.is_empty() {
            return;
        }
        let list = std::mem::take(&mut self.moves.list);
        // Reads come first, because an insertion at the location of a block waits for them.
        let mut sinks = [None; LEVELS_MAX];
        for (wanted, sink) in list.iter().zip(&mut sinks) {
            *sink = wanted.from.map(|spot| self.read_copy(now, Purpose::Sink, wanted.block, spot));
        }
        self.let_go(now);
        self.vacate();
        let fetch = fetch.filter(|_| self.fill == FillMode::Foreground);
        for (wanted, &sink) in list.iter().zip(&sinks) {
            let from = match sink {
                Some(sink) => Origin::Operation(sink),
                None => {
                    debug_assert_eq!(wanted.block, block, "only the block that is used has no location yet");
                    from.clone()
                }
            };
            self.come_in(now, wanted, from, fetch);
        }
        sinks.into_iter().flatten().for_each(|sink| self.operations.launch(sink));
        self.moves.list = list;
        self.moves.list.clear();
    }

    /// Handles blocks that left levels. Insertions at their locations wait for operations in progress on
    /// these locations.
    pub(super) fn vacate(&mut self) {
        let mut vacated = std::mem::take(&mut self.moves.vacated);
        for (level, block) in vacated.drain(..) {
            self.operations.linger(level, block);
        }
        self.moves.vacated = vacated;
    }

    /// Creates a read of `block` from its level, which waits for writes to this copy. The caller launches the
    /// read later.
    pub(super) fn read_copy(
        &mut self,
        now: Time,
        purpose: Purpose,
        block: u64,
        spot: super::levels::Spot,
    ) -> u32 {
        let request = self.copy_request(now, spot.location, Op::Read);
        let number = self.operations.add(purpose, spot.level, now, request);
        let writes: Vec<u32> = self.operations.writing_copy(spot.level, block).collect();
        self.operations.depend_all(number, &writes);
        self.operations.touches(number, spot.level, block);
        number
    }

    fn copy_request(&self, now: Time, location: u64, op: Op) -> Request {
        Request { arrival: now, address: location << self.shift, bytes: 1 << self.shift, volume: 0, op }
    }

    fn come_in(&mut self, now: Time, wanted: &Move, from: Origin, fetch: Option<u32>) {
        let Move { block, to, instead_of, .. } = *wanted;
        let request = self.copy_request(now, to.location, Op::Write);
        let number = self.operations.add(Purpose::ComeIn, to.level, now, request);
        let writes: Vec<u32> = self.operations.writing_copy(to.level, block).collect();
        self.operations.depend_all(number, &writes);
        self.operations.depend_on_location(number, to.level, instead_of);
        match from {
            Origin::Operation(source) => {
                self.operations.depend(number, source);
                self.operations[number].source = source;
            }
            Origin::Data(data) => self.operations[number].data = data,
        }
        self.operations.touches(number, to.level, block);
        if let Some(fetch) = fetch {
            self.operations[number].owner = fetch;
            self.fetches[fetch].fills += 1;
        }
        self.operations.launch(number);
    }

    /// Returns the source of the data of a block that is being fetched.
    pub(super) fn origin_in(&self, fetch: u32, block: u64) -> Origin {
        let of = &self.fetches[fetch];
        if of.operation != NONE {
            return Origin::Operation(of.operation);
        }
        Origin::Data(self.block_of(&of.data, of.first, block))
    }

    /// Extracts the data of `block` from `data`, which contains adjacent blocks, starting with block
    /// `first`.
    pub(super) fn block_of(&self, data: &Payload, first: u64, block: u64) -> Payload {
        if data.is_none() {
            return Payload::NONE;
        }
        let from = ((block - first) << self.shift) as usize;
        data.slice(from, from + (1 << self.shift))
    }

    /// Supersedes pending operations on copies of `block` with a write of the whole block. Reads that wait
    /// for these operations return `data`.
    pub(super) fn supersede(&mut self, block: u64, data: &Payload) {
        for level in 0..self.levels.all.len() {
            let writes: Vec<u32> = self.operations.writing_copy(level, block).collect();
            for number in writes {
                let of = &self.operations[number];
                if of.purpose == Purpose::ComeIn && !of.is_submitted && of.source != NONE {
                    self.lend(number, data);
                    self.operations.supersede(number);
                }
            }
        }
    }

    /// Gives `data`, the data of a whole block, to the reads that wait for operation `write`, which is not
    /// performed. The reads then return `data` instead of the device's content.
    fn lend(&mut self, write: u32, data: &Payload) {
        if data.is_none() {
            return;
        }
        let Operation { level, block, .. } = self.operations[write];
        for dependent in self.operations[write].dependents.clone() {
            let of = &mut self.operations[dependent];
            if of.request.op == Op::Read && (of.level, of.block) == (level, block) {
                let from = (of.request.address & ((1 << self.shift) - 1)) as usize;
                of.data = data.slice(from, from + of.request.bytes as usize);
            }
        }
    }

    /// Drops a block whose data could not be read or written. It is removed from all levels, and is lost if
    /// it was dirty.
    #[cold]
    pub(super) fn drop_block(&mut self, block: u64) {
        self.break_copies(block);
        self.take_out(block);
        if let Some(work) = &mut self.write_back {
            work.lose(block);
        }
    }

    /// Marks all operations on copies of a block as failed.
    #[cold]
    pub(super) fn break_copies(&mut self, block: u64) {
        for level in 0..self.levels.all.len() {
            let touching: Vec<u32> = self.operations.touching(level, block).collect();
            for number in touching {
                self.operations[number].is_broken = true;
            }
        }
    }

    /// Removes a block from all levels, while operations in progress on it continue. Returns whether a level
    /// contained it.
    pub(super) fn take_out(&mut self, block: u64) -> bool {
        (0..self.levels.all.len()).for_each(|level| self.operations.linger(level, block));
        self.levels.remove(block)
    }

    /// Starts all operations whose waits have ended.
    #[inline]
    pub(super) fn go(&mut self, now: Time) {
        while let Some(number) = self.operations.next_ready() {
            self.begin(now, number);
        }
    }

    #[inline]
    fn begin(&mut self, now: Time, number: u32) {
        let of = &mut self.operations[number];
        let is_void =
            of.is_skipped || of.is_broken || of.purpose == Purpose::Wait || of.purpose == Purpose::CleanWrite;
        if is_void && self.ends_at_once(now, number) {
            return;
        }
        let of = &mut self.operations[number];
        of.is_submitted = true;
        let data = match of.request.op {
            // The backing may end within a block.
            Op::Write if of.purpose == Purpose::EvictWrite => of.data.slice(0, of.request.bytes as usize),
            Op::Write => of.data.clone(),
            _ => Payload::NONE,
        };
        let device = usize::from(of.device);
        self.devices[device].submit(now, RequestId(number), &of.request, data);
        self.next[device] = self.devices[device].next_event();
        if self.hedging.is_some() {
            self.hedge_later(now, number);
        }
    }

    /// Ends an operation at once if it needs no device. Returns whether the operation has ended.
    #[cold]
    fn ends_at_once(&mut self, now: Time, number: u32) -> bool {
        let of = &self.operations[number];
        let is_read = of.request.op == Op::Read;
        let status = match of.purpose {
            Purpose::CleanWrite => match self.split_if_unreadable(now, number) {
                true => Status::Done,
                false => return false,
            },
            _ if of.is_skipped || of.purpose == Purpose::Wait => Status::Done,
            _ if of.is_broken && is_read => Status::MediaError,
            Purpose::ComeIn => Status::Done,
            _ => return false,
        };
        self.operations[number].is_submitted = true;
        self.ended(now, number, status, &[], Payload::NONE);
        true
    }

    /// Handles the end of an operation, which its device reported or which needed no device.
    #[inline]
    pub(super) fn ended(&mut self, now: Time, number: u32, status: Status, spans: &[Span], data: Payload) {
        let of = &mut self.operations[number];
        let overlay = of.request.op == Op::Read && !of.data.is_none();
        let mut data = if overlay { std::mem::take(&mut of.data) } else { data };
        let mut has_failed = status != Status::Done;
        match of.purpose {
            Purpose::Alone | Purpose::Hedge => unreachable!("it is completed where it ends"),
            Purpose::Hit | Purpose::Rise => self.hit_ends(now, number, status, spans, &data),
            Purpose::Fetch => {
                let fetch = of.owner;
                data = self.fetched(now, fetch, status, spans, data);
            }
            Purpose::Again | Purpose::Wanted => self.again_ends(now, number, status, spans, &data),
            Purpose::Through => self.through_ends(now, number, status, spans),
            Purpose::Safe => self.safe_ends(now, number, status, spans),
            Purpose::Copy => self.copy_ends(now, number, status, spans),
            Purpose::ComeIn => self.came_in(now, number, status),
            Purpose::Sink => self.sink_ends(number, status),
            Purpose::CleanRead => self.clean_read_ends(number, status, &data),
            Purpose::CleanWrite => self.clean_write_ends(now, number, status),
            Purpose::CleanFlush => self.clean_flush_ends(now, number, status),
            Purpose::EvictRead => {}
            Purpose::EvictWrite | Purpose::EvictFlush => {
                has_failed |= self.operations[number].is_skipped;
                self.evict_step_ends(number, status);
            }
            Purpose::Wait => {}
        }
        let (first, shift) = (self.operations[number].block, self.shift);
        self.operations.end(number, has_failed, |block| {
            if data.is_none() {
                return Payload::NONE;
            }
            let from = ((block - first) << shift) as usize;
            data.slice(from, from + (1 << shift))
        });
    }

    fn came_in(&mut self, now: Time, number: u32, status: Status) {
        let Operation { owner, block, .. } = self.operations[number];
        if status != Status::Done {
            self.counts.recovered += 1;
            self.drop_block(block);
        }
        if owner != NONE {
            self.filled(now, owner);
        }
    }

    /// Handles the end of the read of a block that moves to a lower level. If the read failed, drops the
    /// block.
    fn sink_ends(&mut self, number: u32, status: Status) {
        if status != Status::Done && !self.operations[number].is_broken {
            let block = self.operations[number].block;
            self.counts.recovered += 1;
            self.drop_block(block);
        }
    }

    /// Ends a request part. Its latency consists of waiting time and the spans of its device.
    pub(super) fn end_part(
        &mut self,
        now: Time,
        number: u32,
        status: Status,
        waited: Activity,
        spans: &[Span],
    ) {
        let of = &self.operations[number];
        let told = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
        let (visit, own) = (of.owner, Some((waited, now - of.since - told)));
        self.part_ends(now, visit, &Part { own, spans, ..Part::at_once(status) });
    }
}
