//! The auditor: possible contents of each byte of a device, derived from writes, completions, flushes, and
//! commits.

mod loss;
#[cfg(test)]
mod tests;

use crate::contents::Content;
use loss::is_torn;
use nacre_kernel::{Persistence, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Possible contents of each block of a device. Every write fills a block with unique bytes, so that lost,
/// torn, or mixed data is detected.
///
/// Requests overlap in time. A write overwrites an earlier write only if it was submitted after the earlier
/// write completed. If two writes were outstanding at the same time, either write may take effect last.
#[derive(Clone, Debug)]
pub struct Auditor {
    block_bytes: usize,
    /// Size in bytes of the unit that a power loss leaves completely old or completely new.
    atomic_unit: u64,
    persistence: Persistence,
    /// Whether losses reported by recovery are allowed.
    allows_reported_losses: bool,
    blocks: BTreeMap<u64, Block>,
    writes: u32,
    /// Logical time of submissions and completions, which orders simultaneous events.
    clock: LogicalTime,
    /// Number of transactions so far.
    transactions: u32,
    /// Whether a transaction is open.
    is_open: bool,
    /// The last committed transaction, if any.
    committed: Option<Commit>,
}

/// Sequence number of a submission or a completion.
pub type LogicalTime = u64;

/// Completion time of a request that has not completed.
const NEVER: LogicalTime = LogicalTime::MAX;

#[derive(Clone, Debug)]
struct Block {
    /// Content before `base`. It is stored if reported losses are allowed: recovery may have written `base`
    /// with only stored energy as protection, so the next power loss may restore the earlier content.
    earlier: Vec<Content>,
    /// Content of the block before the first of its `versions`.
    base: Content,
    /// Writes and trims of the block, in submission order.
    versions: Vec<Version>,
}

/// A write or trim of a block.
#[derive(Clone, Debug)]
struct Version {
    content: Content,
    write: u32,
    kind: Kind,
    /// Logical time of submission.
    began: LogicalTime,
    /// Logical time of completion, or of the power loss that interrupted the request.
    ended: LogicalTime,
    acknowledged: Time,
    /// Time after which the device guarantees that the version survives a power loss; [`Time::MAX`] without a
    /// guarantee.
    safe: Time,
    /// Number of lost pages that the device had counted when a flush guaranteed the durability of the
    /// version.
    lost_before: u64,
    /// Whether a flush of the version failed, or a power loss occurred while the block was unreadable. Later
    /// flushes do not guarantee the durability of such a version.
    is_given_up: bool,
    /// Number of the transaction that contains the version; 0 means none.
    transaction: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A write, which may be present, absent, or partial while it is outstanding.
    Write,
    /// A trim, which may leave the old content.
    Trim,
    /// A rejected write, which may be present, absent, or partial.
    Refused,
    /// A write that a power loss may have destroyed, in a block that was unreadable after the power loss. The
    /// write may be present, absent, or partial.
    Doubtful,
}

#[derive(Clone, Copy, Debug)]
struct Commit {
    transaction: u32,
    done: Time,
}

/// Result of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Number of blocks that do not contain their latest write.
    pub behind: u64,
    /// Number of blocks in `behind` that lost an acknowledged write.
    pub lost: u64,
    /// Number of blocks with parts of several writes.
    pub torn: u64,
}

/// Description of a violation, i.e. of data that a device returned but must not return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl Auditor {
    /// Creates an auditor of unwritten blocks of `block_bytes` on a device with the given atomic unit and
    /// persistence.
    pub fn new(block_bytes: usize, atomic_unit: u32, persistence: Persistence) -> Auditor {
        Auditor {
            block_bytes,
            atomic_unit: atomic_unit.into(),
            persistence,
            allows_reported_losses: persistence.is_up_to_energy(),
            blocks: BTreeMap::new(),
            writes: 0,
            clock: 0,
            transactions: 0,
            is_open: false,
            committed: None,
        }
    }

    /// Allows losses that recovery reports, despite guarantees. Must be called before the first write.
    pub fn allow_reported_losses(&mut self) {
        self.allows_reported_losses = true;
    }

    /// Size of a block in bytes.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Blocks that were written or trimmed, in ascending order.
    pub fn known(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks.keys().copied()
    }

    /// Advances the logical time for a submission or a completion, and returns the new time.
    pub fn advance(&mut self) -> LogicalTime {
        self.clock += 1;
        self.clock
    }

    /// Records the submission of a write of `count` blocks that starts at block `first`, and stores its data
    /// in `into`. Returns the logical time of the submission.
    pub fn writes(&mut self, first: u64, count: u64, into: &mut Vec<u8>) -> LogicalTime {
        self.writes += 1;
        into.clear();
        into.resize(count as usize * self.block_bytes, 0);
        for (block, bytes) in (first..).zip(into.chunks_mut(self.block_bytes)) {
            Content::of(self.writes, block).fill(bytes);
        }
        self.push(first, count, Kind::Write)
    }

    /// Records the submission of a trim of `count` blocks that starts at block `first`. Returns the logical
    /// time of the submission.
    pub fn trims(&mut self, first: u64, count: u64) -> LogicalTime {
        self.push(first, count, Kind::Trim)
    }

    fn push(&mut self, first: u64, count: u64, kind: Kind) -> LogicalTime {
        let began = self.advance();
        let (write, transaction) = (self.writes, if self.is_open { self.transactions } else { 0 });
        for number in first..first + count {
            let content = if kind == Kind::Trim { Content::ZERO } else { Content::of(write, number) };
            let block = self.blocks.entry(number).or_insert(Block::new(Content::ZERO));
            block.versions.push(Version {
                content,
                write,
                kind,
                began,
                ended: NEVER,
                acknowledged: Time::MAX,
                safe: Time::MAX,
                lost_before: 0,
                is_given_up: false,
                transaction,
            });
        }
        began
    }

    /// Records that the write or trim submitted at `began` completed at `at`.
    pub fn done(&mut self, began: LogicalTime, (first, count): (u64, u64), at: Time) {
        let (needs_flush, ended) = (self.persistence.needs_flush(), self.advance());
        for version in self.versions_of(began, first, count) {
            (version.acknowledged, version.ended) = (at, ended);
            if version.kind == Kind::Write && version.transaction == 0 && !needs_flush {
                version.safe = at;
            }
        }
    }

    /// Records that the write submitted at `began` was rejected.
    pub fn refused(&mut self, began: LogicalTime, (first, count): (u64, u64)) {
        let ended = self.advance();
        for version in self.versions_of(began, first, count) {
            (version.kind, version.ended) = (Kind::Refused, ended);
        }
    }

    fn versions_of(
        &mut self,
        began: LogicalTime,
        first: u64,
        count: u64,
    ) -> impl Iterator<Item = &mut Version> {
        let blocks = self.blocks.range_mut(first..first + count);
        blocks.filter_map(move |(_, block)| block.versions.iter_mut().find(|version| version.began == began))
    }

    /// Records a flush that was submitted at `submitted` (logical time `began`) and completed at `done`, when
    /// the device had counted `lost_pages` lost pages.
    pub fn flushed(&mut self, (began, submitted): (LogicalTime, Time), done: Time, lost_pages: u64) {
        let open = if self.is_open { self.transactions } else { u32::MAX };
        let versions = self.blocks.values_mut().flat_map(|block| &mut block.versions);
        let is_covered = |version: &&mut Version| {
            version.ended < began
                && version.acknowledged <= submitted
                && version.transaction != open
                && !version.is_given_up
        };
        for version in versions.filter(is_covered) {
            if version.safe == Time::MAX {
                version.lost_before = lost_pages;
            }
            version.safe = version.safe.min(done);
        }
    }

    /// Records a failed flush. Later flushes do not guarantee the durability of earlier unflushed requests.
    pub fn flush_failed(&mut self) {
        let open = if self.is_open { self.transactions } else { u32::MAX };
        let versions = self.blocks.values_mut().flat_map(|block| &mut block.versions);
        let waiting = versions.filter(|version| version.safe == Time::MAX && version.transaction != open);
        waiting.for_each(|version| version.is_given_up = true);
    }

    /// Records the start of a transaction. No request may be outstanding when a transaction starts or ends.
    pub fn began(&mut self) {
        (self.transactions, self.is_open) = (self.transactions + 1, true);
    }

    /// Records the commit of the open transaction at `done`.
    pub fn committed(&mut self, done: Time) {
        self.is_open = false;
        let transaction = self.transactions;
        let is_safe = !self.persistence.needs_flush();
        for version in self.blocks.values_mut().flat_map(|block| &mut block.versions) {
            if version.transaction == transaction {
                version.acknowledged = done;
                version.safe = if is_safe { done } else { Time::MAX };
            }
        }
        self.committed = Some(Commit { transaction, done });
    }

    /// Records a rollback of the open transaction by the host or by a power loss.
    pub fn aborted(&mut self) {
        if self.is_open {
            let transaction = self.transactions;
            for block in self.blocks.values_mut() {
                block.versions.retain(|version| version.transaction != transaction);
            }
        }
        self.is_open = false;
    }

    /// Whether a transaction is open.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Discards versions that can no longer be lost or read. All later power losses must be at or after
    /// `time`. The oldest outstanding read was submitted at `oldest`.
    pub fn settle(&mut self, time: Time, oldest: LogicalTime) {
        if self.allows_reported_losses {
            return;
        }
        for block in self.blocks.values_mut().filter(|block| block.versions.len() > 1) {
            let settled = block.floor(|version| version.safe <= time && version.ended < oldest);
            if let Some(floor) = settled {
                block.versions.retain(|version| version.ended >= floor);
            }
        }
    }

    /// Returns an error unless `found` is a possible content of the blocks from `first` for a read that was
    /// submitted at `began` and completes now.
    pub fn check_read(&self, began: LogicalTime, first: u64, found: &[u8]) -> Result<(), Violation> {
        for (number, found) in (first..).zip(found.chunks(self.block_bytes)) {
            let Some(block) = self.blocks.get(&number) else {
                if Content::ZERO.is(found) {
                    continue;
                }
                let content = Content::found(found).describe(self.writes);
                return Err(Violation(format!("block {number} was never written but returned {content}")));
            };
            let floor = block.floor(|version| version.ended < began);
            let newest: Vec<&Version> = block.behind(floor).collect();
            let base = if floor.is_none() { Some(&block.base) } else { None };
            let fits = newest.iter().any(|version| version.content.is(found))
                || base.is_some_and(|base| base.is(found))
                || is_trimmed_in_part(found, base, &newest)
                || self.may_be_mixed(began, &newest) && is_torn(found, base.into_iter(), &newest);
            if !fits {
                return Err(self.violation("block", number, found, base, &newest));
            }
        }
        Ok(())
    }

    /// Whether a read submitted at `began` may return a mixture of these versions. A mixture is allowed if a
    /// version was written while the read was outstanding. In blocks larger than the atomic unit, a mixture
    /// is also allowed if several versions were outstanding at the same time (like writes larger than AWUN in
    /// the NVM Command Set Specification, "Atomic Operations"), or if a version may be partial.
    fn may_be_mixed(&self, began: LogicalTime, newest: &[&Version]) -> bool {
        let is_doubtful = |version: &&Version| matches!(version.kind, Kind::Doubtful | Kind::Refused);
        let overlap = |version: &&Version| version.ended >= began;
        newest.iter().any(overlap)
            || !self.is_atomic() && (newest.len() > 1 || newest.iter().any(is_doubtful))
    }

    /// Checks a failed read of the content that block `number` had at `at`, when the device had counted
    /// `lost_pages` lost pages. The read was submitted at `began`.
    ///
    /// Returns an error if a flush had guaranteed the durability of the block and the count has not increased
    /// since. Writes that completed after the submission of the read do not matter, because the read may have
    /// failed before these writes.
    pub fn check_unread(
        &self,
        (number, began): (u64, LogicalTime),
        at: Time,
        lost_pages: u64,
    ) -> Result<(), Violation> {
        let versions = self.blocks.get(&number).map_or(&[][..], |block| &block.versions);
        let is_guaranteed = |of: &&Version| of.kind == Kind::Write && of.safe <= at && of.ended < began;
        let mut guaranteed = versions.iter().rev().filter(is_guaranteed);
        match guaranteed.next().is_none_or(|guaranteed| lost_pages > guaranteed.lost_before) {
            true => Ok(()),
            false => Err(Violation(format!(
                "block {number} was flushed but cannot be read, and the device counts no further lost page since then"
            ))),
        }
    }

    /// Replaces the possible contents with the contents `found` after a power loss at `at`. The `unread`
    /// blocks keep their possible contents, but their data without a durability guarantee may be lost.
    pub fn rebase(&mut self, at: Time, found: &[u8], unread: &BTreeSet<u64>) {
        self.aborted();
        self.committed = None;
        let now = self.advance();
        for ((number, block), found) in self.blocks.iter_mut().zip(found.chunks(self.block_bytes)) {
            if unread.contains(number) {
                block.doubt((!self.allows_reported_losses).then_some(at), now);
                continue;
            }
            let before = std::mem::replace(block, Block::new(Content::found(found)));
            if self.allows_reported_losses {
                let versions = before.versions.into_iter().map(|version| version.content);
                block.earlier = before.earlier;
                block.earlier.extend(std::iter::once(before.base).chain(versions));
                block.earlier.dedup();
            }
        }
    }

    fn violation(
        &self,
        what: &str,
        number: u64,
        found: &[u8],
        base: Option<&Content>,
        allowed: &[&Version],
    ) -> Violation {
        let describe = |content: &Content| content.describe(self.writes);
        let base = base.into_iter().map(|base| format!("{} (from before these writes)", describe(base)));
        let others = allowed.iter().map(|version| describe(&version.content));
        let allowed: Vec<String> = base.chain(others).collect();
        let found = describe(&Content::found(found));
        Violation(format!("{what} {number} holds {found}; allowed: {}", allowed.join(", or ")))
    }
}

impl Block {
    /// Creates a block with content `base`.
    fn new(base: Content) -> Block {
        Block { earlier: Vec::new(), base, versions: Vec::new() }
    }

    /// Records a power loss at `now` while the block was unreadable. Data without a durability guarantee at
    /// `at` may be lost. If `at` is `None`, all data may be lost. Later flushes do not guarantee the
    /// durability of this data.
    fn doubt(&mut self, at: Option<Time>, now: LogicalTime) {
        for version in &mut self.versions {
            version.is_given_up = true;
            version.ended = version.ended.min(now);
            if at.is_none_or(|at| version.safe > at) {
                (version.acknowledged, version.safe) = (Time::MAX, Time::MAX);
                if version.kind == Kind::Write {
                    version.kind = Kind::Doubtful;
                }
            }
        }
    }

    /// Submission time of the newest of the selected writes, or `None` if no write is selected. This write
    /// has overwritten the versions that completed before its submission.
    fn floor(&self, are: impl Fn(&Version) -> bool) -> Option<LogicalTime> {
        let writes = self.versions.iter().filter(|version| version.kind == Kind::Write && are(version));
        writes.map(|version| version.began).max()
    }

    /// Submission time of the newest write that survives a power loss at `at`. `None` if no write survives.
    fn safe_floor(&self, at: Time) -> Option<LogicalTime> {
        self.floor(|version| version.safe <= at)
    }

    /// Versions that were not overwritten by a write submitted at or before `floor`.
    fn behind(&self, floor: Option<LogicalTime>) -> impl Iterator<Item = &Version> {
        self.versions.iter().filter(move |version| floor.is_none_or(|floor| version.ended >= floor))
    }
}

/// Whether `found` is one of these contents, partly replaced by zeros of a later trim. The components of a
/// stack apply a trim independently, so part of a block may be trimmed.
fn is_trimmed_in_part(found: &[u8], base: Option<&Content>, versions: &[&Version]) -> bool {
    let mut trims = versions.iter().filter(|version| version.kind == Kind::Trim);
    trims.any(|trim| {
        let written =
            versions.iter().filter(|version| version.kind == Kind::Write && version.ended < trim.began);
        let floor = written.map(|version| version.began).max();
        let is_before = |version: &&&Version| {
            matches!(version.kind, Kind::Write | Kind::Doubtful)
                && version.began < trim.ended
                && floor.is_none_or(|floor| version.ended >= floor)
        };
        let before = versions.iter().filter(is_before).map(|version| &version.content);
        base.filter(|_| floor.is_none()).into_iter().chain(before).any(|before| {
            found.iter().enumerate().all(|(index, byte)| *byte == 0 || *byte == before.byte(index))
        })
    })
}
