//! Handling of the reads of a run, and of blocks that the device reports as lost.
//!
//! A stack with a worn-out medium loses data that a cache cannot write back. The report counts a lost page,
//! and reads of the page fail. A read that fails without such a count is a violation.

use crate::auditor::Violation;
use crate::device_run::DeviceRun;
use crate::device_run::requests::{By, NewRequest, OutstandingRequest};
use nacre_kernel::event::Payload;
use nacre_kernel::ledger::LOST_PAGES;
use nacre_kernel::{ComponentReport, FaultCounts, Status, Time};

/// Maximum number of blocks per request of an audit.
const READ_AT_ONCE: u64 = 16;

/// Result of a read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The read returned data.
    Given,
    /// The device reports that some of the blocks are lost.
    Lost,
    /// The read failed because of an injected fault, so the content is unknown.
    Failed,
}

impl DeviceRun<'_> {
    /// Interprets the status of a read. Returns an error if the read failed without an injected fault and
    /// without a counted lost page.
    fn answer(&self, at: Time, (first, count): (u64, u64), status: Status) -> Result<Answer, Violation> {
        match status {
            Status::Done => Ok(Answer::Given),
            // An injected fault may have caused the failure, even if the device also counts lost pages.
            _ if self.made().errors > 0 => Ok(Answer::Failed),
            Status::MediaError if self.lost_pages(at) > 0 => Ok(Answer::Lost),
            status => Err(Violation(format!("a read of {count} blocks from {first} failed with {status:?}"))),
        }
    }

    /// Reads blocks into `bytes`. No other request may be outstanding.
    pub(crate) fn read(&mut self, at: Time, first: u64, count: u64) -> Result<Answer, Violation> {
        let (done, status) = self.ask(at, NewRequest::read(first, count))?;
        self.answer(done, (first, count), status)
    }

    /// Checks the result of a read that is a step of the run.
    pub(crate) fn check_read(
        &mut self,
        pending: &OutstandingRequest,
        at: Time,
        (blocks, status, data): ((u64, u64), Status, &Payload),
    ) -> Result<(), Violation> {
        let (first, count) = blocks;
        match self.answer(at, blocks, status)? {
            Answer::Given => {
                let bytes = data.bytes().unwrap_or_default();
                if bytes.len() != pending.request.bytes as usize {
                    return Err(Violation(format!("{:?} returned {} bytes", pending.request, bytes.len())));
                }
                self.auditor.check_read(pending.began, first, bytes)
            }
            _ if count > 1 => {
                // Each block is read individually to find the lost blocks.
                for block in first..first + count {
                    let began = self.auditor.advance();
                    self.submit(at, NewRequest::read(block, 1), began, By::Host);
                }
                Ok(())
            }
            Answer::Lost => self.auditor.check_unread((first, pending.began), at, self.lost_pages(at)),
            Answer::Failed => {
                self.failed_reads += 1;
                Ok(())
            }
        }
    }

    /// Reads all blocks that were ever written into `found`, with as few requests as possible. Lost blocks
    /// are added to `unread`. The power failed at `failed`. Returns the number of blocks.
    pub(crate) fn read_all(&mut self, at: Time, failed: Time) -> Result<u64, Violation> {
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        for block in self.auditor.known() {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == block && *count < READ_AT_ONCE => *count += 1,
                _ => runs.push((block, 1)),
            }
        }
        let audited: u64 = runs.iter().map(|(_, count)| count).sum();
        let size = self.auditor.block_bytes();
        self.found.clear();
        self.found.resize(audited as usize * size, 0xAA);
        self.unread.clear();
        self.failed = failed;
        self.run_to(at)?;
        let mut position = 0;
        for &(first, count) in &runs {
            self.wait_for_queue_slot()?;
            self.submit(self.now, NewRequest::read(first, count), 0, By::Audit(position));
            position += count as usize * size;
        }
        self.runs = runs;
        self.wait_for_all()?;
        Ok(audited)
    }

    /// Stores the data of an audit read at its position in `found`.
    pub(crate) fn audited(
        &mut self,
        (first, count): (u64, u64),
        at: Time,
        (status, data): (Status, &Payload),
        position: usize,
    ) -> Result<(), Violation> {
        let size = self.auditor.block_bytes();
        let answer = self.answer(at, (first, count), status)?;
        if answer != Answer::Given && count > 1 {
            for number in 0..count {
                let position = By::Audit(position + number as usize * size);
                self.submit(at, NewRequest::read(first + number, 1), 0, position);
            }
            return Ok(());
        }
        match answer {
            Answer::Given => {}
            Answer::Lost => {
                self.auditor.check_unread(
                    (first, crate::auditor::LogicalTime::MAX),
                    self.failed,
                    self.lost_pages(at),
                )?;
            }
            Answer::Failed => self.failed_reads += 1,
        }
        if answer != Answer::Given {
            self.unread.insert(first);
            return Ok(());
        }
        let into = &mut self.found[position..position + count as usize * size];
        match data.bytes() {
            Some(bytes) if bytes.len() == into.len() => into.copy_from_slice(bytes),
            _ => {
                return Err(Violation(format!(
                    "a read of {count} blocks from {first} returned the wrong number of bytes"
                )));
            }
        }
        Ok(())
    }

    /// Sum of the effects of all injected device faults so far.
    pub(crate) fn made(&self) -> FaultCounts {
        let mut sum = FaultCounts::default();
        add_made(&self.device.report(self.now), &mut sum);
        sum
    }

    /// Number of lost pages that the device and its children have counted up to `at`.
    pub(crate) fn lost_pages(&self, at: Time) -> u64 {
        lost_pages(&self.device.report(at))
    }
}

fn lost_pages(report: &ComponentReport) -> u64 {
    let own = report.counters.iter().filter(|(name, _)| *name == LOST_PAGES).map(|(_, count)| count);
    own.sum::<u64>() + report.children.iter().map(lost_pages).sum::<u64>()
}

fn add_made(report: &ComponentReport, sum: &mut FaultCounts) {
    report.faults.iter().for_each(|fault| sum.add(&fault.counts));
    report.children.iter().for_each(|child| add_made(child, sum));
}
