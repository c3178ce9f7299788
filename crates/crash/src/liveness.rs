//! Behind a recovery, with faults over: the device does what it is asked, comes to rest, and keeps it.

use crate::auditor::Broken;
use crate::life::asking::Asking;
use crate::life::{LIVES_WITHIN, Life};
use crate::reading::Answer;
use crate::sequence::Loss;
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Status, Streams, Time};

/// Blocks that are written after a recovery, with faults over.
const LIVES_ON: usize = 4;
/// Events after which a device that nobody asks has nothing left to do.
const RESTS_WITHIN: usize = 1_000_000;

impl Life<'_> {
    /// Faults are over: the device takes writes and gives them back, comes to rest, and keeps what is flushed when the
    /// power fails once more.
    pub(crate) fn live(&mut self, ready: Time, loss: &Loss) -> Result<(), Broken> {
        self.media.go_wrong(None);
        self.device.check_invariants();
        let mut blocks: Vec<u64> = self.auditor.known().collect();
        blocks.truncate(LIVES_ON);
        let mut auditor = self.auditor.clone();
        let (mut now, mut written) = (ready, Vec::new());
        for &block in &blocks {
            let mut bytes = Vec::new();
            auditor.writes(block, 1, &mut bytes);
            written.push(bytes.clone());
            let write = Asking { op: Op::Write, blocks: (block, 1), data: bytes.into() };
            let (done, status) = self.ask(now, write)?;
            if status != Status::Done {
                return Ok(());
            }
            now = done;
        }
        let flush = Asking { op: Op::Flush, blocks: (0, 0), data: Payload::NONE };
        let (flushed, flush) = self.ask(now, flush)?;
        let is_promised = flush == Status::Done && self.capabilities.persistence.needs_flush();
        let lost_pages = if is_promised { self.lost_pages(flushed) } else { 0 };
        let problem = "data written after recovery is read back differently";
        self.find_again(flushed, &blocks, &written, (lost_pages, problem))?;
        let rest = self.rest()?;
        self.device.power_fail(rest, &mut Streams::new(loss.chance).stream("again"));
        let recovery = self.recover(rest + loss.off)?;
        if recovery.bytes_lost > 0 || flush != Status::Done {
            return Ok(());
        }
        let problem = "data flushed after recovery is lost at the next power loss";
        self.find_again(recovery.done, &blocks, &written, (lost_pages, problem))
    }

    /// Errors: these blocks do not hold what was written to them, and the device does not say that it has lost more
    /// than so many pages since.
    fn find_again(
        &mut self,
        at: Time,
        blocks: &[u64],
        written: &[Vec<u8>],
        (lost_pages, problem): (u64, &str),
    ) -> Result<(), Broken> {
        for (&block, written) in blocks.iter().zip(written) {
            let is_there = match self.read(at, block, 1)? {
                Answer::Given => self.bytes == *written,
                Answer::Lost => self.lost_pages(self.now) > lost_pages,
                Answer::Failed => true,
            };
            if !is_there {
                return Err(Broken(format!("{problem}, in block {block}")));
            }
        }
        Ok(())
    }

    /// When the device has nothing to do any more, if nobody asks anything. Errors: it always has.
    fn rest(&mut self) -> Result<Time, Broken> {
        let from = self.now;
        for _ in 0..RESTS_WITHIN {
            let next = self.device.next_event();
            if next == Time::MAX {
                return Ok(self.now);
            }
            if next > from + LIVES_WITHIN {
                break;
            }
            self.run_to(next + Time::from_ps(1))?;
        }
        let at = self.now;
        Err(Broken(format!("after recovery the idle device is still busy at {at}")))
    }
}
