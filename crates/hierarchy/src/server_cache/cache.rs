//! The device behind `server_cache`: requests cut into blocks, and the time each part takes.

use super::in_flight::{InFlight, Way};
use super::levels::{Level, Levels, NOWHERE};
use super::{FillMode, report};
use nacre_kernel::{
    Activity, Bytes, Completion, ComponentId, ComponentReport, Device, Op, Request, Status, Time, Trail,
};

/// Bits of a block number; the volume sits above them.
const BLOCK_BITS: u32 = 44;

/// Requests whose first block is warmed at once.
const WARM_GROUP: usize = 16;

/// A cache of blocks before a backing device.
pub(super) struct ServerCache {
    pub(super) id: ComponentId,
    pub(super) path: String,
    pub(super) levels: Levels,
    pub(super) backing: Box<dyn Device>,
    /// Bytes of a block are `1 << shift`.
    shift: u32,
    lookup: Time,
    write_allocate: bool,
    fill: FillMode,
    in_flight: InFlight,
    /// Where background work leaves its trail.
    scratch: Trail,
    pub(super) counts: Counts,
}

/// How a cache behaves; what is left of its configuration once the devices are built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behaviour {
    pub(super) block: Bytes,
    pub(super) lookup: Time,
    pub(super) write_allocate: bool,
    pub(super) fill: FillMode,
}

/// What happened, in blocks, except where it says requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) read_misses: u64,
    pub(super) read_merged: u64,
    pub(super) write_misses: u64,
    pub(super) write_merged: u64,
    pub(super) trimmed: u64,
    /// Blocks the backing gave that came into the cache.
    pub(super) fills: u64,
    pub(super) bypassed: u64,
    pub(super) recovered: u64,
    /// Requests.
    pub(super) backing_reads: u64,
    /// Requests.
    pub(super) backing_writes: u64,
}

/// Adjacent blocks of one request that are in no level: they are fetched by one request.
#[derive(Clone, Copy, Default)]
struct Run {
    first: u64,
    blocks: u64,
    /// The first of these moves wait for the data of the run.
    moves: usize,
}

/// The parts of one request, served side by side: the trail keeps the one that is done last.
struct Parts {
    start: Time,
    from: usize,
    done: Time,
    status: Status,
}

impl Parts {
    #[inline]
    fn new(start: Time, trail: &Trail) -> Parts {
        Parts { start, from: trail.mark(), done: start, status: Status::Done }
    }

    /// Adds a part whose segments begin at mark `from`.
    #[inline]
    fn add(&mut self, part: Completion, from: usize, trail: &mut Trail) {
        if part.done > self.done {
            self.done = part.done;
            trail.drop_range(self.from, from);
        } else {
            trail.drop_range(from, trail.mark());
        }
        if part.status != Status::Done {
            self.status = part.status;
        }
    }

    #[inline]
    fn completion(&self) -> Completion {
        Completion { done: self.done, status: self.status }
    }
}

/// Block numbers carry their volume, so that volumes never alias.
#[inline]
fn key(volume: u32, block: u64) -> u64 {
    assert!(
        block >> BLOCK_BITS == 0 && volume >> (64 - BLOCK_BITS) == 0,
        "block {block} of volume {volume} has no key"
    );
    u64::from(volume) << BLOCK_BITS | block
}

impl ServerCache {
    /// An empty cache.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        behaviour: Behaviour,
        levels: Levels,
        backing: Box<dyn Device>,
    ) -> ServerCache {
        let Behaviour { block, lookup, write_allocate, fill } = behaviour;
        ServerCache {
            id,
            path,
            levels,
            backing,
            shift: block.0.trailing_zeros(),
            lookup,
            write_allocate,
            fill,
            in_flight: InFlight::new(),
            scratch: Trail::new(),
            counts: Counts::default(),
        }
    }

    #[inline]
    fn read(&mut self, start: Time, request: &Request, trail: &mut Trail) -> Completion {
        let (first, count) = request.blocks(1 << self.shift);
        if count > 1 || !self.in_flight.is_idle(start) {
            return self.read_blocks(start, request, None, trail);
        }
        // The hot path: one block, nothing on its way, in the first level.
        let key = key(request.volume, first);
        let found = self.levels.access(key);
        if found != 0 {
            return self.read_blocks(start, request, Some(found), trail);
        }
        let level = &mut self.levels.all[0];
        level.counts.read_hits += 1;
        let offset = request.address & ((1 << self.shift) - 1);
        let part = Request { address: level.place(key) << self.shift | offset, volume: 0, ..*request };
        let read = level.device.submit(start, &part, trail);
        if read.status == Status::Done { read } else { self.recover(first, read.done, request, trail) }
    }

    /// Serves all blocks side by side. `found` says where the only block was found, if it was looked up.
    fn read_blocks(
        &mut self,
        start: Time,
        request: &Request,
        found: Option<usize>,
        trail: &mut Trail,
    ) -> Completion {
        let (first, count) = request.blocks(1 << self.shift);
        let admits = self.in_flight.has_room(start);
        let mut parts = Parts::new(start, trail);
        let mut run = Run::default();
        for block in first..first + count {
            let key = key(request.volume, block);
            let found = match found {
                Some(found) => found,
                None if admits => self.levels.access(key),
                None => self.levels.touch(key),
            };
            let way = self.in_flight.way(key, start);
            if way == Way::SetsOutLater || way == Way::Idle && found == NOWHERE {
                let first = if run.blocks == 0 { block } else { run.first };
                run = Run { first, blocks: run.blocks + 1, moves: self.levels.moves.len() };
                continue;
            }
            if run.blocks > 0 {
                self.fetch(std::mem::take(&mut run), request, admits, &mut parts, trail);
            }
            match way {
                Way::Arriving(arrival) => self.merge(arrival, &mut parts, trail),
                _ => self.hit(found, block, request, &mut parts, trail),
            }
        }
        if run.blocks > 0 {
            self.fetch(run, request, admits, &mut parts, trail);
        }
        parts.completion()
    }

    /// A block in level `found` is read there.
    #[inline]
    fn hit(&mut self, found: usize, block: u64, request: &Request, parts: &mut Parts, trail: &mut Trail) {
        let mark = trail.mark();
        let part = self.part_of(block, request);
        let level = &mut self.levels.all[found];
        level.counts.read_hits += 1;
        let part = level.at(part, self.shift);
        let mut read = level.device.submit(parts.start, &part, trail);
        if read.status != Status::Done {
            read = self.recover(block, read.done, request, trail);
        }
        if !self.levels.moves.is_empty() {
            self.settle(self.levels.moves.len(), read.done);
        }
        parts.add(read, mark, trail);
    }

    /// A block is on its way: this request waits for it too, and takes it from memory.
    fn merge(&mut self, arrival: Time, parts: &mut Parts, trail: &mut Trail) {
        self.counts.read_merged += 1;
        let mark = trail.mark();
        trail.add(self.id, Activity::Merge, arrival - parts.start);
        self.settle(self.levels.moves.len(), arrival);
        parts.add(Completion { done: arrival, status: Status::Done }, mark, trail);
    }

    /// Blocks that are in no level come from the backing.
    fn fetch(&mut self, run: Run, request: &Request, admits: bool, parts: &mut Parts, trail: &mut Trail) {
        let mark = trail.mark();
        self.counts.read_misses += run.blocks;
        let mut fetched = self.read_backing(run.first, run.blocks, parts.start, request, trail);
        let keys = run.first..run.first + run.blocks;
        if fetched.status != Status::Done {
            let moves_after = self.levels.moves.len() - run.moves;
            keys.for_each(|block| self.drop_block(key(request.volume, block)));
            self.settle(self.levels.moves.len() - moves_after, fetched.done);
        } else if admits {
            self.counts.fills += run.blocks;
            let filled = self.settle(run.moves, fetched.done);
            if self.fill == FillMode::Foreground && filled > fetched.done {
                trail.add(self.id, Activity::Fill, filled - fetched.done);
                fetched.done = filled;
            }
            if fetched.done > parts.start {
                keys.for_each(|block| {
                    self.in_flight.insert(key(request.volume, block), parts.start, fetched.done);
                });
            }
        } else {
            self.counts.bypassed += run.blocks;
        }
        parts.add(fetched, mark, trail);
    }

    /// A level could not return a block; the backing has a copy of all that the cache holds.
    #[cold]
    fn recover(&mut self, block: u64, now: Time, request: &Request, trail: &mut Trail) -> Completion {
        self.counts.recovered += 1;
        self.drop_block(key(request.volume, block));
        self.read_backing(block, 1, now, request, trail)
    }

    /// Forgets a block whose data could not be had, and what was to be done with it.
    #[cold]
    fn drop_block(&mut self, key: u64) {
        self.levels.remove(key);
        self.levels.moves.retain(|wanted| wanted.block != key);
    }

    /// Reads whole blocks from the backing, as far as it reaches.
    fn read_backing(
        &mut self,
        first: u64,
        blocks: u64,
        now: Time,
        request: &Request,
        trail: &mut Trail,
    ) -> Completion {
        self.counts.backing_reads += 1;
        let address = first << self.shift;
        let end = self.backing.capacity().map_or(u64::MAX, |capacity| capacity.0);
        let bytes = (blocks << self.shift).min(end - address);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.backing.submit(now, &Request { address, bytes, op: Op::Read, ..*request }, trail)
    }

    /// Carries out the first `moves` moves, whose data is at hand at `ready`, beside the request. When
    /// the last is done.
    fn settle(&mut self, moves: usize, ready: Time) -> Time {
        let mut last = ready;
        for at in 0..moves {
            let wanted = self.levels.moves[at];
            let mut now = ready;
            if wanted.from != NOWHERE {
                now = self.move_block(wanted.from, wanted.block, Op::Read, now);
            }
            last = last.max(self.move_block(wanted.to, wanted.block, Op::Write, now));
        }
        self.levels.moves.drain(..moves);
        last
    }

    fn move_block(&mut self, level: usize, key: u64, op: Op, now: Time) -> Time {
        self.scratch.clear();
        let level = &mut self.levels.all[level];
        let whole =
            Request { arrival: now, address: key << self.shift, bytes: 1 << self.shift, volume: 0, op };
        let request = Request { address: level.place(key) << self.shift, ..whole };
        level.device.submit(now, &request, &mut self.scratch).done
    }

    fn write(&mut self, start: Time, request: &Request, trail: &mut Trail) -> Completion {
        let mut parts = Parts::new(start, trail);
        self.counts.backing_writes += 1;
        let written = self.backing.submit(start, request, trail);
        parts.add(written, parts.from, trail);
        let (first, count) = request.blocks(1 << self.shift);
        for block in first..first + count {
            self.write_block(block, request, &mut parts, trail);
        }
        if written.status != Status::Done {
            (first..first + count).for_each(|block| self.drop_block(key(request.volume, block)));
        }
        parts.completion()
    }

    /// The copies of one block follow the write; a whole block may come in.
    fn write_block(&mut self, block: u64, request: &Request, parts: &mut Parts, trail: &mut Trail) {
        let key = key(request.volume, block);
        let part = self.part_of(block, request);
        let is_whole = u64::from(part.bytes) == 1 << self.shift;
        let enters = is_whole && self.write_allocate;
        let found = if enters { self.levels.access(key) } else { self.levels.touch(key) };
        if !is_whole && found != NOWHERE && self.in_flight.way(key, parts.start) != Way::Idle {
            self.counts.write_merged += 1;
            return;
        }
        self.in_flight.forget(key, parts.start);
        if found == NOWHERE {
            self.counts.write_misses += 1;
        } else {
            self.levels.all[found].counts.write_hits += 1;
        }
        if found != NOWHERE || enters {
            self.write_copies(key, &part, parts, trail);
        }
    }

    /// Writes `part` into every level that holds its block; victims go down beside it.
    fn write_copies(&mut self, key: u64, part: &Request, parts: &mut Parts, trail: &mut Trail) {
        self.levels.moves.retain(|wanted| wanted.block != key);
        self.settle(self.levels.moves.len(), parts.start);
        let mut failed = false;
        for level in &mut self.levels.all {
            if level.policy.contains(key) {
                let mark = trail.mark();
                let part = level.at(*part, self.shift);
                let written = level.device.submit(parts.start, &part, trail);
                failed |= written.status != Status::Done;
                parts.add(Completion { status: Status::Done, ..written }, mark, trail);
            }
        }
        if failed {
            self.counts.recovered += 1;
            self.drop_block(key);
        }
    }

    fn trim(&mut self, start: Time, request: &Request, trail: &mut Trail) -> Completion {
        let (first, count) = request.blocks(1 << self.shift);
        for block in first..first + count {
            let key = key(request.volume, block);
            self.in_flight.forget(key, start);
            self.counts.trimmed += u64::from(self.levels.remove(key));
        }
        self.backing.submit(start, request, trail)
    }

    /// What `request` asks of `block`.
    #[inline]
    fn part_of(&self, block: u64, request: &Request) -> Request {
        let from = request.address.max(block << self.shift);
        let end = (request.address + u64::from(request.bytes)).min((block + 1) << self.shift);
        Request { address: from, bytes: (end - from) as u32, ..*request }
    }
}

impl Level {
    /// The place of a block on the device of this level. See "Leaves out".
    #[inline]
    fn place(&self, key: u64) -> u64 {
        key % self.blocks
    }

    /// The same part of a block, where this level keeps it.
    #[inline]
    fn at(&self, part: Request, shift: u32) -> Request {
        let offset = part.address & ((1 << shift) - 1);
        let key = u64::from(part.volume) << BLOCK_BITS | part.address >> shift;
        Request { address: self.place(key) << shift | offset, volume: 0, ..part }
    }
}

impl Device for ServerCache {
    #[inline]
    fn submit(&mut self, now: Time, request: &Request, trail: &mut Trail) -> Completion {
        trail.add(self.id, Activity::Software, self.lookup);
        let start = now + self.lookup;
        match request.op {
            Op::Read => self.read(start, request, trail),
            Op::Write => self.write(start, request, trail),
            Op::Trim => self.trim(start, request, trail),
            Op::Flush => self.backing.submit(start, request, trail),
        }
    }

    fn advance(&mut self, to: Time) {
        self.in_flight.advance(to);
        for level in &mut self.levels.all {
            level.device.advance(to);
        }
        self.backing.advance(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        self.backing.capacity()
    }

    fn restart_ledger(&mut self) {
        self.counts = Counts::default();
        self.levels.restart_counts();
        self.backing.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.levels.check_invariants();
        self.in_flight.check_invariants();
        self.backing.check_invariants();
    }

    fn warm(&self, requests: &[Request]) {
        for group in requests.chunks(WARM_GROUP) {
            let first_key = |request: &Request| key(request.volume, request.address >> self.shift);
            let keys: [u64; WARM_GROUP] = std::array::from_fn(|at| group.get(at).map_or(0, first_key));
            self.levels.all[0].policy.warm(&keys[..group.len()]);
        }
    }
}
