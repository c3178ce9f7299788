//! Checks of a device after a recovery, without further faults. The device must return its data even after
//! cached copies were evicted, serve requests, become idle, and keep its data.

use crate::auditor::Violation;
use crate::device_run::requests::{By, NewRequest};
use crate::device_run::{CHECKED_ONE_IN, DeviceRun};
use crate::reading::Answer;
use crate::sequence::PowerLoss;
use nacre_kernel::{Op, Status, Streams, Time};

/// Number of blocks that are written after a recovery, when faults are disabled.
const BLOCKS_WRITTEN: usize = 4;
/// On average, 1 in `READS_ELSEWHERE` final power losses is followed by reads of other blocks, which evict
/// cached copies.
const READS_ELSEWHERE: u64 = 8 * CHECKED_ONE_IN;
/// Total size in bytes of the reads that evict cached copies.
const ELSEWHERE_BYTES: u64 = 128 << 10;
/// Number of bytes in each read of other blocks.
const ELSEWHERE_AT_ONCE: u64 = 16 << 10;
/// Maximum number of events until a device without requests is idle. The resync of a mirror over caches and
/// NVRAM cards of 8 MiB takes more than a million events, because each memory burst of a card causes
/// several events.
const RESTS_WITHIN: usize = 20_000_000;
/// Maximum time until a device without requests is idle. A mirror that copies 512 B at a time between disks that
/// stop after 1 ms waits for a spin-up of about ten seconds per copy, so its resync takes days.
const IDLE_WITHIN: Time = Time::from_s(30 * 86_400);

impl DeviceRun<'_> {
    /// Performs the tests without faults: the device accepts writes and returns their data, becomes idle, and
    /// keeps flushed data across another power loss.
    pub(crate) fn check_works(&mut self, ready: Time, loss: &PowerLoss) -> Result<(), Violation> {
        self.media.inject(None);
        self.device.check_invariants();
        if loss.seed.is_multiple_of(READS_ELSEWHERE) {
            self.run_to(ready)?;
            self.find_without_copies(loss)?;
        }
        let mut blocks: Vec<u64> = self.auditor.known().collect();
        blocks.truncate(BLOCKS_WRITTEN);
        let mut auditor = self.auditor.clone();
        let (mut now, mut written) = (ready.max(self.now), Vec::new());
        for &block in &blocks {
            let mut bytes = Vec::new();
            auditor.writes(block, 1, &mut bytes);
            written.push(bytes.clone());
            let write = NewRequest { op: Op::Write, data: bytes.into(), ..NewRequest::read(block, 1) };
            let (done, status) = self.ask(now, write)?;
            if status != Status::Done {
                return Ok(());
            }
            now = done;
        }
        let flush = NewRequest { op: Op::Flush, ..NewRequest::read(0, 0) };
        let (flushed, flush) = self.ask(now, flush)?;
        let is_guarantee = flush == Status::Done && self.capabilities.persistence.needs_flush();
        let lost_pages = if is_guarantee { self.lost_pages(flushed) } else { 0 };
        let problem = "data written after recovery is read back differently";
        self.find_again(flushed, &blocks, &written, (lost_pages, problem))?;
        let rest = self.rest()?;
        self.device.power_fail(rest, &mut Streams::new(loss.seed).stream("again"));
        let recovery = self.recover(rest + loss.off)?;
        if loss.seed.is_multiple_of(READS_ELSEWHERE) {
            self.run_to(recovery.done)?;
            self.find_without_copies(loss)?;
        }
        if recovery.bytes_lost > 0 || flush != Status::Done {
            return Ok(());
        }
        let problem = "data flushed after recovery is lost at the next power loss";
        self.find_again(self.now.max(recovery.done), &blocks, &written, (lost_pages, problem))
    }

    /// Checks that blocks keep their content after reads of other blocks, because a cached copy can hide that
    /// the device below lost the data. The checked blocks are those that an audit reads last, so that they
    /// are cached.
    fn find_without_copies(&mut self, loss: &PowerLoss) -> Result<(), Violation> {
        let blocks: Vec<u64> = self.auditor.known().collect();
        let blocks = &blocks[blocks.len().saturating_sub(BLOCKS_WRITTEN)..];
        let mut before = Vec::new();
        for &block in blocks {
            let answer = self.read(self.now, block, 1)?;
            before.push((answer == Answer::Given).then(|| self.bytes.clone()));
        }
        self.read_elsewhere(loss)?;
        for (&block, before) in blocks.iter().zip(before) {
            let answer = self.read(self.now, block, 1)?;
            if answer == Answer::Given && before.is_some_and(|before| before != self.bytes) {
                return Err(Violation(format!(
                    "block {block} has other content after reads of other blocks"
                )));
            }
        }
        Ok(())
    }

    /// Reads adjacent blocks with many outstanding requests. The content that the reads return is not
    /// checked.
    fn read_elsewhere(&mut self, loss: &PowerLoss) -> Result<(), Violation> {
        let size = self.auditor.block_bytes() as u64;
        let capacity = self.device.capacity().map_or(ELSEWHERE_BYTES, |capacity| capacity.0);
        let bytes = ELSEWHERE_BYTES.min(capacity);
        let (blocks, count) = (capacity / size, bytes / size);
        let first = Streams::new(loss.seed).stream("elsewhere").below(blocks - count + 1);
        for block in (first..first + count).step_by((ELSEWHERE_AT_ONCE / size) as usize) {
            self.wait_for_queue_slot()?;
            let blocks = (ELSEWHERE_AT_ONCE / size).min(first + count - block);
            self.submit(self.now, NewRequest::read(block, blocks), 0, By::Waiting);
        }
        self.wait_for_all()
    }

    /// Returns an error if `blocks` do not have the data in `written` and the device has not reported
    /// additional lost pages.
    fn find_again(
        &mut self,
        at: Time,
        blocks: &[u64],
        written: &[Vec<u8>],
        (lost_pages, problem): (u64, &str),
    ) -> Result<(), Violation> {
        for (&block, written) in blocks.iter().zip(written) {
            let is_there = match self.read(at, block, 1)? {
                Answer::Given => self.bytes == *written,
                Answer::Lost => self.lost_pages(self.now) > lost_pages,
                Answer::Failed => true,
            };
            if !is_there {
                return Err(Violation(format!("{problem} (block {block})")));
            }
        }
        Ok(())
    }

    /// Runs the device without further requests, and returns the time at which it becomes idle. Returns an
    /// error if the device never becomes idle.
    fn rest(&mut self) -> Result<Time, Violation> {
        let from = self.now;
        for _ in 0..RESTS_WITHIN {
            let next = self.device.next_event();
            if next == Time::MAX {
                return Ok(self.now);
            }
            if next > from + IDLE_WITHIN {
                break;
            }
            self.run_to(next + Time::from_ps(1))?;
        }
        let at = self.now;
        Err(Violation(format!("after recovery, the device is not idle by {at}")))
    }
}
