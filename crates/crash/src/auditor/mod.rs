//! An auditor: what each byte of a device may be, from what was written, acknowledged, flushed and committed.

mod loss;

use crate::contents::Content;
use loss::is_torn;
use nacre_kernel::{Persistence, Time};
use std::collections::{BTreeMap, BTreeSet};

/// What a device may return, block by block. Every write of a block fills it with bytes that no other write and
/// no other block has, so that what was lost, torn or mixed up shows.
#[derive(Clone, Debug)]
pub struct Auditor {
    block_bytes: usize,
    /// Bytes that a loss of power leaves old or new as a whole.
    atomic_unit: u64,
    persistence: Persistence,
    /// Whether what recovery counts as lost may be lost.
    forgives: bool,
    blocks: BTreeMap<u64, Block>,
    writes: u32,
    /// The transaction that is open, and the last one that was committed.
    transactions: u32,
    is_open: bool,
    committed: Option<Commit>,
}

#[derive(Clone, Debug)]
struct Block {
    /// What it held before it held `base`. Kept where what recovery counts as lost may be lost: recovery itself may
    /// have put `base` where only stored energy keeps it, and the next loss of power takes it.
    earlier: Vec<Content>,
    /// What was there before `versions`.
    base: Content,
    versions: Vec<Version>,
}

/// One write or trim of a block.
#[derive(Clone, Debug)]
struct Version {
    content: Content,
    write: u32,
    kind: Kind,
    acknowledged: Time,
    /// From when on the device promises that it survives.
    safe: Time,
    /// Pages that the device counted as lost when a flush promised it.
    lost_before: u64,
    /// A flush that was to save it failed, or it was told as lost: no later flush promises it.
    is_given_up: bool,
    /// The transaction it is part of; 0 is none.
    transaction: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Write,
    /// It may leave what was there.
    Trim,
    /// A write that was refused: it is there, or not, or in part.
    Refused,
    /// A write that a loss of power may have taken, of a block that could not be read then: it is there, or not, or
    /// in part.
    Doubtful,
}

#[derive(Clone, Copy, Debug)]
struct Commit {
    transaction: u32,
    done: Time,
}

/// What an audit found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Blocks that are not what was written last.
    pub behind: u64,
    /// Of these, blocks of which an acknowledged write is lost.
    pub lost: u64,
    /// Blocks that hold parts of several writes.
    pub torn: u64,
}

/// What a device returned, and may not return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl Auditor {
    /// Of blocks of so many bytes, none of which was written, on a device that promises this.
    pub fn new(block_bytes: usize, atomic_unit: u32, persistence: Persistence) -> Auditor {
        Auditor {
            block_bytes,
            atomic_unit: atomic_unit.into(),
            persistence,
            forgives: persistence.is_up_to_energy(),
            blocks: BTreeMap::new(),
            writes: 0,
            transactions: 0,
            is_open: false,
            committed: None,
        }
    }

    /// From the first write on, what recovery counts as lost may be lost, whatever was promised.
    pub fn forgive(&mut self) {
        self.forgives = true;
    }

    /// Bytes of a block.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// The blocks that were written or trimmed, in order.
    pub fn known(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks.keys().copied()
    }

    /// What the next write puts into `count` blocks from `first` on.
    pub fn next_write(&mut self, first: u64, count: u64, into: &mut Vec<u8>) {
        self.writes += 1;
        into.clear();
        into.resize(count as usize * self.block_bytes, 0);
        for (block, bytes) in (first..).zip(into.chunks_mut(self.block_bytes)) {
            Content::of(self.writes, block).fill(bytes);
        }
    }

    /// What [`Auditor::next_write`] gave last was written, and acknowledged.
    pub fn wrote(&mut self, first: u64, count: u64, acknowledged: Time) {
        let is_safe = !self.persistence.needs_flush() && !self.is_open;
        let safe = if is_safe { acknowledged } else { Time::MAX };
        self.push(first, count, Kind::Write, acknowledged, safe);
    }

    /// What [`Auditor::next_write`] gave last was refused.
    pub fn refused(&mut self, first: u64, count: u64) {
        self.push(first, count, Kind::Refused, Time::MAX, Time::MAX);
    }

    /// `count` blocks from `first` on were trimmed.
    pub fn trimmed(&mut self, first: u64, count: u64, acknowledged: Time) {
        self.push(first, count, Kind::Trim, acknowledged, Time::MAX);
    }

    fn push(&mut self, first: u64, count: u64, kind: Kind, acknowledged: Time, safe: Time) {
        let (write, transaction) = (self.writes, if self.is_open { self.transactions } else { 0 });
        for number in first..first + count {
            let content = if kind == Kind::Trim { Content::ZERO } else { Content::of(write, number) };
            let block = self.blocks.entry(number).or_insert(Block::new(Content::ZERO));
            block.versions.push(Version {
                content,
                write,
                kind,
                acknowledged,
                safe,
                lost_before: 0,
                is_given_up: false,
                transaction,
            });
        }
    }

    /// A flush that was asked for at `asked` is done at `done`, when the device counted so many `lost_pages`.
    pub fn flushed(&mut self, asked: Time, done: Time, lost_pages: u64) {
        for version in self.covered(asked) {
            if version.safe == Time::MAX {
                version.lost_before = lost_pages;
            }
            version.safe = version.safe.min(done);
        }
    }

    /// A flush failed: a later one says nothing of what was asked for before.
    pub fn flush_failed(&mut self) {
        let waiting = self.covered(Time::MAX).filter(|version| version.safe == Time::MAX);
        waiting.for_each(|version| version.is_given_up = true);
    }

    /// What a flush that is asked for at `asked` is to save.
    fn covered(&mut self, asked: Time) -> impl Iterator<Item = &mut Version> {
        let open = if self.is_open { self.transactions } else { u32::MAX };
        let versions = self.blocks.values_mut().flat_map(|block| &mut block.versions);
        versions.filter(move |version| {
            version.acknowledged <= asked && version.transaction != open && !version.is_given_up
        })
    }

    /// A transaction is open from now on.
    pub fn began(&mut self) {
        (self.transactions, self.is_open) = (self.transactions + 1, true);
    }

    /// The open transaction is committed at `done`.
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

    /// The open transaction was taken back, by the host or by a loss of power.
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

    /// No loss of power comes before `time`: what cannot be lost any more is forgotten.
    pub fn settle(&mut self, time: Time) {
        if self.forgives {
            return;
        }
        for block in self.blocks.values_mut().filter(|block| block.versions.len() > 1) {
            if let Some(safe) = block.newest_safe(time) {
                block.versions.drain(..safe);
            }
        }
    }

    /// Errors: `found` is not what was written last to the blocks from `first` on.
    pub fn check_read(&self, first: u64, found: &[u8]) -> Result<(), Broken> {
        for (number, found) in (first..).zip(found.chunks(self.block_bytes)) {
            let Some(block) = self.blocks.get(&number) else {
                if Content::ZERO.is(found) {
                    continue;
                }
                let told = Content::found(found).describe(self.writes);
                return Err(Broken(format!("block {number} was never written and reads as {told}")));
            };
            let written = block.versions.iter().rposition(|version| version.kind == Kind::Write);
            let newest = &block.versions[written.unwrap_or(0)..];
            let base = if written.is_none() { Some(&block.base) } else { None };
            let is_doubtful =
                newest.iter().any(|version| matches!(version.kind, Kind::Doubtful | Kind::Refused));
            let fits = newest.iter().any(|version| version.content.is(found))
                || base.is_some_and(|base| base.is(found))
                || is_trimmed_in_part(found, base, newest.iter())
                || is_doubtful && !self.is_atomic() && is_torn(found, base.into_iter(), newest.iter());
            if !fits {
                return Err(self.told("block", number, found, base, newest));
            }
        }
        Ok(())
    }

    /// A read of block `number` failed, of what was there at `at`, and the device counts so many `lost_pages`.
    ///
    /// Errors: it counted as many when a flush promised the block that was done by then.
    pub fn check_unread(&self, number: u64, at: Time, lost_pages: u64) -> Result<(), Broken> {
        let versions = self.blocks.get(&number).map_or(&[][..], |block| &block.versions);
        let mut promised = versions.iter().rev().filter(|of| of.kind == Kind::Write && of.safe <= at);
        match promised.next().is_none_or(|promised| lost_pages > promised.lost_before) {
            true => Ok(()),
            false => Err(Broken(format!(
                "block {number} cannot be read, which was flushed, and the device counts no page that it lost since"
            ))),
        }
    }

    /// After a loss of power at `at` blocks hold what was `found`, and that stays. Of those that are `unread` nothing new
    /// is known, but that what was not safe may be gone.
    pub fn rebase(&mut self, at: Time, found: &[u8], unread: &BTreeSet<u64>) {
        self.aborted();
        self.committed = None;
        for ((number, block), found) in self.blocks.iter_mut().zip(found.chunks(self.block_bytes)) {
            if unread.contains(number) {
                block.doubt(if self.forgives { None } else { block.newest_safe(at) });
                continue;
            }
            let before = std::mem::replace(block, Block::new(Content::found(found)));
            if self.forgives {
                let versions = before.versions.into_iter().map(|version| version.content);
                block.earlier = before.earlier;
                block.earlier.extend(std::iter::once(before.base).chain(versions));
                block.earlier.dedup();
            }
        }
    }

    fn told(
        &self,
        what: &str,
        number: u64,
        found: &[u8],
        base: Option<&Content>,
        allowed: &[Version],
    ) -> Broken {
        let describe = |content: &Content| content.describe(self.writes);
        let base = base.into_iter().map(|base| format!("{}, as before all these", describe(base)));
        let others = allowed.iter().map(|version| describe(&version.content));
        let allowed: Vec<String> = base.chain(others).collect();
        let found = describe(&Content::found(found));
        Broken(format!("{what} {number} holds {found}; it may hold {}", allowed.join(", or ")))
    }
}

impl Block {
    /// One that holds `base`.
    fn new(base: Content) -> Block {
        Block { earlier: Vec::new(), base, versions: Vec::new() }
    }

    /// A loss of power came when the block could not be read: what is newer than version `safe` may be gone. No later
    /// flush promises any of it.
    fn doubt(&mut self, safe: Option<usize>) {
        self.versions.iter_mut().for_each(|version| version.is_given_up = true);
        for version in &mut self.versions[safe.map_or(0, |safe| safe + 1)..] {
            (version.acknowledged, version.safe) = (Time::MAX, Time::MAX);
            if version.kind == Kind::Write {
                version.kind = Kind::Doubtful;
            }
        }
    }

    /// The newest version that survives a loss of power at `at`.
    fn newest_safe(&self, at: Time) -> Option<usize> {
        self.versions.iter().rposition(|version| version.safe <= at && version.kind == Kind::Write)
    }
}

/// Whether `found` is one of these, with zeroes where a trim behind it was heeded: the parts of a stack heed a trim
/// each for itself, or not, so that a block may read in part as it was.
fn is_trimmed_in_part<'a>(
    found: &[u8],
    base: Option<&Content>,
    versions: impl Iterator<Item = &'a Version>,
) -> bool {
    let mut before: Vec<&Content> = base.into_iter().collect();
    for version in versions {
        match version.kind {
            Kind::Write => before = vec![&version.content],
            Kind::Doubtful => before.push(&version.content),
            Kind::Refused => {}
            Kind::Trim => {
                let fits = |before: &&Content| {
                    found.iter().enumerate().all(|(index, byte)| *byte == 0 || *byte == before.byte(index))
                };
                if before.iter().any(fits) {
                    return true;
                }
            }
        }
    }
    false
}
