//! Reads of a life, and blocks that the device says it has lost.
//!
//! A stack whose medium is worn out loses what a cache of it can write nowhere. That is told where the read fails
//! and the report counts a page that is lost; a read that fails without such a count is a finding.

use crate::auditor::Broken;
use crate::life::{Life, Way};
use nacre_kernel::ledger::LOST_PAGES;
use nacre_kernel::{ComponentReport, Op, Status, Time};

/// Blocks that one request of an audit reads at most.
const READ_AT_ONCE: u64 = 16;

/// How a read ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// With bytes.
    Given,
    /// The device says that it has lost some of them.
    Lost,
}

impl Life<'_> {
    /// Reads blocks into `bytes`. Errors: it fails, and the device counts no page that it lost.
    pub(crate) fn read(&mut self, at: Time, first: u64, count: u64) -> Result<Answer, Broken> {
        match self.ask(at, Op::Read, first, count, Way::Read)? {
            (_, Status::Done) => Ok(Answer::Given),
            (_, Status::MediaError) if self.lost_pages() > 0 => Ok(Answer::Lost),
            (_, status) => {
                Err(Broken(format!("reading {count} blocks from {first} on ends with {status:?}")))
            }
        }
    }

    /// Reads blocks as the host does, and checks them.
    pub(crate) fn read_and_check(&mut self, first: u64, count: u64) -> Result<(), Broken> {
        match self.read(self.now, first, count)? {
            Answer::Given => self.auditor.check_read(first, &self.bytes),
            Answer::Lost if count > 1 => {
                (first..first + count).try_for_each(|block| self.read_and_check(block, 1))
            }
            Answer::Lost => self.auditor.check_unread(first, self.now, self.lost_pages()),
        }
    }

    /// Reads all blocks that were ever written into `found`, in as few requests as that takes; those that are lost
    /// are `unread`. The power `failed` before.
    pub(crate) fn read_all(&mut self, at: Time, failed: Time) -> Result<u64, Broken> {
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        for block in self.auditor.known() {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == block && *count < READ_AT_ONCE => *count += 1,
                _ => runs.push((block, 1)),
            }
        }
        self.found.clear();
        self.unread.clear();
        for &(first, count) in &runs {
            if self.read(at, first, count)? == Answer::Given {
                self.found.extend_from_slice(&self.bytes);
                continue;
            }
            for block in first..first + count {
                if self.read(at, block, 1)? == Answer::Lost {
                    self.auditor.check_unread(block, failed, self.lost_pages())?;
                    self.unread.insert(block);
                }
                self.found.extend_from_slice(&self.bytes);
            }
        }
        let audited = runs.iter().map(|(_, count)| count).sum();
        self.runs = runs;
        Ok(audited)
    }

    /// Pages that the device and those below it count as lost.
    pub(crate) fn lost_pages(&self) -> u64 {
        lost_pages(&self.device.report(self.now))
    }
}

fn lost_pages(report: &ComponentReport) -> u64 {
    let own = report.counters.iter().filter(|(name, _)| *name == LOST_PAGES).map(|(_, count)| count);
    own.sum::<u64>() + report.children.iter().map(lost_pages).sum::<u64>()
}
