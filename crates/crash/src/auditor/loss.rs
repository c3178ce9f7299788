//! Content checks after a power loss.

use super::{Audit, Auditor, Block, Commit, Kind, LogicalTime, Version, Violation, is_trimmed_in_part};
use crate::contents::Content;
use nacre_kernel::{Recovery, Time};
use std::collections::BTreeSet;

impl Auditor {
    /// Checks the content after a power loss at `at`. `found` is the data of all [`Auditor::known`] blocks
    /// except `unread` blocks, which the device reported as lost. `recovery` reports whether acknowledged
    /// data was lost. Damaged pages may read as zeros.
    ///
    /// Returns an error if a block has none of its possible contents, or if an acknowledged write was lost
    /// without a report.
    pub fn check_loss(
        &self,
        at: Time,
        found: &[u8],
        unread: &BTreeSet<u64>,
        recovery: &Recovery,
    ) -> Result<Audit, Violation> {
        let mut audit = Audit::default();
        let is_reported = recovery.bytes_lost > 0;
        let is_damaged = is_reported && recovery.pages_damaged > 0;
        for ((&number, block), found) in self.blocks.iter().zip(found.chunks(self.block_bytes)) {
            if unread.contains(&number) {
                (audit.behind, audit.lost) = (audit.behind + 1, audit.lost + 1);
                continue;
            }
            let open = if self.is_open { self.transactions } else { u32::MAX };
            let stays = |version: &&Version| version.transaction != open;
            if let [.., last] = &block.versions[..]
                && last.transaction != open
                && last.content.is(found)
            {
                continue;
            }
            audit.behind += u64::from(block.versions.iter().any(|version| stays(&version)));
            let is_excused = is_reported && self.allows_reported_losses;
            let safe = if is_excused { None } else { block.safe_floor(at) };
            let base = if safe.is_none() { Some(&block.base) } else { None };
            let allowed: Vec<&Version> = block.behind(safe).filter(stays).collect();
            let earlier = if is_excused { &block.earlier[..] } else { &[] };
            let is_whole = earlier.iter().chain(base).any(|content| content.is(found))
                || is_excused && (is_damaged && Content::ZERO.is(found) || self.was_elsewhere(found))
                || allowed.iter().any(|version| version.content.is(found))
                || is_trimmed_in_part(found, base, &allowed);
            if !is_whole {
                audit.torn += 1;
                if self.is_atomic() || !is_torn(found, earlier.iter().chain(base), &allowed) {
                    return Err(self.violation("after a power loss, block", number, found, base, &allowed));
                }
            }
            let is_acknowledged =
                |version: &&&Version| version.acknowledged <= at && version.kind == Kind::Write;
            let newest = allowed.iter().filter(is_acknowledged).max_by_key(|version| version.began);
            let Some(newest) = newest else { continue };
            let behind: Vec<&Version> =
                allowed.iter().copied().filter(|version| version.ended >= newest.began).collect();
            if !behind.iter().any(|version| version.content.is(found))
                && !is_trimmed_in_part(found, None, &behind)
                && (is_whole || !is_torn(found, std::iter::empty(), &behind))
            {
                audit.lost += 1;
                if !is_reported {
                    let write = newest.write;
                    return Err(Violation(format!(
                        "after a power loss, acknowledged write {write} of block {number} is lost, and recovery \
                         reports no lost bytes"
                    )));
                }
            }
        }
        if audit.behind > 0 {
            self.check_units(found, unread)?;
            self.check_commit(at, found, unread)?;
        }
        Ok(audit)
    }

    /// Whether every word of `found` was written to some block at some time. Data may move between devices,
    /// and one of these devices may report that it lost acknowledged data. A moved block may then have the
    /// earlier content of its new location, which may belong to another block.
    fn was_elsewhere(&self, found: &[u8]) -> bool {
        Content::all_were_written(found, self.writes)
    }

    pub(super) fn is_atomic(&self) -> bool {
        self.atomic_unit >= self.block_bytes as u64
    }

    /// Returns an error if an atomic unit is torn, i.e. if adjacent blocks of the unit that were written by
    /// one request are partly old and partly new.
    fn check_units(&self, found: &[u8], unread: &BTreeSet<u64>) -> Result<(), Violation> {
        let size = self.block_bytes as u64;
        if self.atomic_unit <= size {
            return Ok(());
        }
        let mut before: Option<(u64, &Block, Option<usize>)> = None;
        for ((&number, block), found) in self.blocks.iter().zip(found.chunks(self.block_bytes)) {
            let is = if unread.contains(&number) { None } else { block.only(found) };
            if let Some((other, neighbor, was)) = before
                && other + 1 == number
                && other * size / self.atomic_unit == number * size / self.atomic_unit
                && let (Some(is), Some(was)) = (is, was)
            {
                // Indices count from the base, which is 0. A later write, or a write that was outstanding at
                // the same time, may explain either content.
                for (index, version) in block.versions.iter().enumerate() {
                    let same = |own: &Version| own.began == version.began;
                    if version.kind == Kind::Write
                        && let Some(own) = neighbor.versions.iter().position(same)
                        && (is == index + 1 && neighbor.is_older(was, version.began)
                            || was == own + 1 && block.is_older(is, version.began))
                    {
                        let write = version.write;
                        return Err(Violation(format!(
                            "after a power loss, blocks {other} and {number} hold only a part of write {write}, \
                             although they are in one atomic unit of {} bytes",
                            self.atomic_unit
                        )));
                    }
                }
            }
            before = Some((number, block, is));
        }
        Ok(())
    }

    /// Returns an error if a transaction whose commit was in progress is only partly present.
    fn check_commit(&self, at: Time, found: &[u8], unread: &BTreeSet<u64>) -> Result<(), Violation> {
        let Some(Commit { transaction, .. }) = self.committed.filter(|commit| commit.done > at) else {
            return Ok(());
        };
        let mut seen = [None, None];
        for ((&number, block), found) in self.blocks.iter().zip(found.chunks(self.block_bytes)) {
            let own = block.versions.iter().rposition(|version| version.transaction == transaction);
            if let (Some(own), Some(is), false) = (own, block.only(found), unread.contains(&number)) {
                // A block that was overwritten after the transaction does not show whether the transaction
                // was performed.
                if is <= own + 1 {
                    seen[usize::from(own < is)] = Some(number);
                }
            }
        }
        match seen {
            [Some(old), Some(new)] => Err(Violation(format!(
                "after a power loss during a commit, block {old} has data from before the transaction, and block \
                 {new} has data of the transaction"
            ))),
            _ => Ok(()),
        }
    }
}

impl Block {
    /// Whether a write submitted at `began` overwrote content `position`. Position 0 is the base content,
    /// and versions count from 1.
    fn is_older(&self, position: usize, began: LogicalTime) -> bool {
        position == 0 || self.versions[position - 1].ended < began
    }

    /// Index of the only content that equals `found`: 0 is the base content, and versions count from 1.
    /// `None` if several contents or no content match.
    fn only(&self, found: &[u8]) -> Option<usize> {
        let contents =
            std::iter::once(&self.base).chain(self.versions.iter().map(|version| &version.content));
        let mut fitting = contents.enumerate().filter(|(_, content)| content.is(found));
        let (index, _) = fitting.next()?;
        if fitting.next().is_none() { Some(index) } else { None }
    }
}

/// Whether every byte of `found` equals the byte at the same offset in one of the contents in `before` and
/// `allowed`.
pub(super) fn is_torn<'a>(
    found: &[u8],
    before: impl Iterator<Item = &'a Content>,
    allowed: &[&'a Version],
) -> bool {
    let contents: Vec<&Content> = before.chain(allowed.iter().map(|version| &version.content)).collect();
    found.iter().enumerate().all(|(index, byte)| contents.iter().any(|content| content.byte(index) == *byte))
}
