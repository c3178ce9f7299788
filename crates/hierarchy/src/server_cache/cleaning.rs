//! Dirty blocks are written to the backing: in the background, for a flush, or since they have to leave.

use super::cache::ServerCache;
use super::levels::Spot;
use super::write_back::WriteBack;
use crate::unfinished::safe_in;
use nacre_kernel::{Activity, Breakdown, Completion, Data, Op, Request, Status, Time};

/// Places of blocks that left that are remembered before those that are free again are looked for.
const LEAVING_MIN: usize = 64;

impl ServerCache {
    /// Cleans in the background what is to be cleaned by `now`.
    pub(super) fn clean_until(&mut self, now: Time) {
        while let Some(work) = self.write_back.as_ref()
            && let Some((start, blocks)) = work.next_batch(now)
        {
            let (count, done) = self.write_back_blocks(blocks, start);
            let work = self.work();
            work.cleaner_free = done;
            work.counts.cleaned += count;
            if count == 0 {
                // What the backing does not take is tried again with the next request.
                work.cleaner_free = done.max(now);
                break;
            }
        }
        let floor = self.in_flight.floor();
        let Some(work) = &mut self.write_back else { return };
        work.dirty.settle(now, floor);
        work.settle(floor);
        if work.leaving.len() >= LEAVING_MIN {
            work.leaving.retain(|_, &mut until| until > floor);
        }
    }

    /// Everything dirty is written to the backing, which is flushed then; or, where the levels and what is known
    /// of them outlive a loss of power, all devices are flushed.
    pub(super) fn flush(&mut self, start: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let Some(work) = &self.write_back else {
            return self.backing.submit(start, request, Data::None, breakdown);
        };
        let mut flushed = if work.table.is_some() {
            self.flush_all(start, request, breakdown)
        } else {
            let blocks = work.dirty.oldest(u64::MAX);
            let (count, written) = self.write_back_blocks(blocks, start);
            let work = self.work();
            work.counts.flushed += count;
            let written = written.max(work.dirty.last_until());
            breakdown.add(self.id, Activity::Drain, written - start);
            self.backing.submit(written, request, Data::None, breakdown)
        };
        if std::mem::take(&mut self.work().has_lost) {
            flushed.status = Status::MediaError;
        }
        flushed
    }

    fn flush_all(&mut self, start: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let mut parts = crate::parts::Parts::new(start, breakdown);
        let levels = self.levels.all.iter_mut().map(|level| &mut level.device);
        for device in levels.chain([&mut self.backing]) {
            let mark = breakdown.mark();
            let flushed = device.submit(start, request, Data::None, breakdown);
            parts.add(flushed, mark, breakdown);
        }
        parts.completion()
    }

    /// Dirty blocks among those that left are written back from where they lie.
    pub(super) fn let_go(&mut self, now: Time) {
        let mut left = std::mem::take(&mut self.moves.left);
        for (block, spot) in left.drain(..) {
            let Some(entry) = self.work().dirty.take(block) else { continue };
            let mut until = entry.until;
            if entry.waits {
                self.work().counts.dirty_evictions += 1;
                let mut buffer = self.take_buffer(1);
                let read = self.read_spot(block, spot, now, &mut buffer);
                let mut there = read;
                if read.status == Status::Done {
                    there = self.write_run(block, 1, read.done.max(until), &buffer);
                }
                if there.status == Status::Done {
                    there = self.persist(there.done);
                }
                match there.status {
                    Status::Done => self.work().took(block, true, there.done),
                    _ => self.work().refuse(block),
                }
                until = there.done;
                self.give_back(buffer);
            }
            let floor = self.in_flight.floor();
            let work = self.work();
            work.leaving.insert(spot, until);
            work.dirty.left(block, until);
            if let Some(table) = &mut work.table {
                table.note(block, None, until, floor);
            }
        }
        self.moves.left = left;
    }

    /// Writes these blocks, which wait for it, to the backing from `at` on, neighbours with one request. How many
    /// the backing took, and when the last is done. Those that it did not stay dirty.
    fn write_back_blocks(&mut self, mut blocks: Vec<u64>, at: Time) -> (u64, Time) {
        blocks.sort_unstable();
        let (mut done, mut written) = (at, Vec::with_capacity(blocks.len()));
        for run in blocks.chunk_by(|a, b| a + 1 == *b) {
            done = done.max(self.write_back_run(run, at, &mut written));
        }
        if written.is_empty() {
            return (0, done);
        }
        let Completion { done: safe, status } = self.persist(done);
        if status != Status::Done {
            return (0, safe);
        }
        let floor = self.in_flight.floor();
        let work = self.work();
        for &(block, until) in &written {
            let until = if safe > done { safe } else { until };
            work.dirty.begin(block, until);
            work.took(block, true, until);
            if let Some(table) = &mut work.table {
                table.note(block, None, until, floor);
            }
        }
        (written.len() as u64, safe)
    }

    /// Reads neighbours from their levels, and writes them to the backing. When that is done.
    fn write_back_run(&mut self, run: &[u64], at: Time, written: &mut Vec<(u64, Time)>) -> Time {
        let size = if self.carries_bytes { 1 << self.shift } else { 0 };
        let mut buffer = self.take_buffer(run.len() as u64);
        let (mut ready, mut readable) = (at, Vec::with_capacity(run.len()));
        for (index, &block) in run.iter().enumerate() {
            let spot = self.levels.spot(block).expect("a dirty block is in a level");
            let read = self.read_spot(block, spot, at, &mut buffer[index * size..(index + 1) * size]);
            ready = ready.max(read.done).max(self.work().dirty.free_from(block));
            match read.status {
                Status::Done => readable.push(index),
                _ => self.lose(block),
            }
        }
        let mut last = ready;
        for part in readable.chunk_by(|a, b| a + 1 == *b) {
            let bytes = &buffer[part[0] * size..(part[0] + part.len()) * size];
            let Completion { done, status } = self.write_run(run[part[0]], part.len() as u64, ready, bytes);
            if status == Status::Done {
                written.extend(part.iter().map(|&index| (run[index], done)));
            }
            last = last.max(done);
        }
        self.give_back(buffer);
        last
    }

    /// The data of a dirty block is lost, and the host is told with the next flush.
    #[cold]
    fn lose(&mut self, block: u64) {
        let floor = self.in_flight.floor();
        self.levels.remove(block);
        self.work().lose(block, floor);
    }

    fn read_spot(&mut self, block: u64, spot: Spot, now: Time, into: &mut [u8]) -> Completion {
        let data = if self.carries_bytes { Data::Read(into) } else { Data::None };
        let read = self.move_block(spot, Op::Read, now, data);
        if self.carries_bytes {
            self.transit.read(block, 0, into);
        }
        read
    }

    /// Writes whole blocks to the backing, as far as it reaches. What it refuses the host is told with the next flush,
    /// where the levels do not outlive a loss of power.
    fn write_run(&mut self, first: u64, blocks: u64, now: Time, bytes: &[u8]) -> Completion {
        self.counts.backing_writes += 1;
        self.work().counts.requests += 1;
        let address = first << self.shift;
        let end = self.backing.capacity().map_or(u64::MAX, |capacity| capacity.0);
        let count = (blocks << self.shift).min(end - address) as u32;
        let request = Request { arrival: now, address, bytes: count, volume: 0, op: Op::Write };
        let data = if self.carries_bytes { Data::Write(&bytes[..count as usize]) } else { Data::None };
        self.scratch.clear();
        let written = self.backing.submit(now, &request, data, &mut self.scratch);
        let work = self.work();
        if written.status != Status::Done {
            work.has_lost |= work.table.is_none();
        }
        written
    }

    /// What was written back by `now` has to survive a loss of power before the cache may forget it, if the cache
    /// itself survives one: when it does. A flush that fails may have lost any of it, and of what the host wrote
    /// through, which is told with the next flush of the host.
    pub(super) fn persist(&mut self, now: Time) -> Completion {
        if self.work().table.is_none() {
            return Completion { done: now, status: Status::Done };
        }
        let safe = safe_in(&mut *self.backing, now, &mut self.scratch);
        self.work().has_lost |= safe.status != Status::Done;
        safe
    }

    /// What a cache knows that writes back.
    pub(super) fn work(&mut self) -> &mut WriteBack {
        self.write_back.as_mut().expect("the cache writes back")
    }
}
