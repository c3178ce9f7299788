//! An image on a full disk: space for a checkpoint, and the space that the checkpoint releases.
//!
//! Space that neither the last checkpoint nor a page uses is returned to the file system immediately. Space
//! that only the last checkpoint uses is returned when the next one is durable. The next checkpoint is
//! written to the spare space of the journal, which is also for waiting pages. Pages use this space only if
//! it
//! suffices for all of them, and if as much space is available again after the checkpoint, because the
//! following
//! checkpoint needs it.

use super::{Held, Image, spare_with};
use crate::error::is_full;
use crate::space::{UNIT_BYTES, units};
use crate::superblock::{Checkpoint, JOURNAL_START};
use std::collections::BTreeSet;
use std::io;

impl Image {
    /// Frees space on a full disk for `checkpoint`. Drops waiting pages that were erased in the meantime, and
    /// releases unused extents and the unused space of the journal.
    pub(super) fn make_room(&self, held: &mut Held, checkpoint: &Checkpoint) -> io::Result<()> {
        held.is_tight = true;
        let programmed: BTreeSet<u64> = held.extents.programmed().map(|page| page.offset).collect();
        held.buffers.retain(|offset| programmed.contains(&offset));
        self.punch_unused(held)?;
        let (used, reserved) = (units(held.journal_bytes), held.reserved);
        let spare = reserved.saturating_sub(used);
        let needed = held.buffers.waiting_room() + checkpoint.room();
        let last = held.superblock.checkpoint.map_or(0, |last| last.room());
        let freed = held.extents.freed_by_checkpoint() + last;
        // The journal restarts in the space that it already occupies.
        let next = spare_with(Some(*checkpoint)).saturating_sub(used);
        if needed > spare || needed + next > spare + freed {
            held.buffers.drain(&*self.disk)?;
        }
        if spare > 0 && self.disk.zero_at(JOURNAL_START + used, spare, false)? {
            held.reserved = used;
        }
        Ok(())
    }

    /// Releases unused space after a checkpoint on a full disk. Reserves part of the released space as the
    /// spare space of the journal.
    pub(super) fn give_back(&self, held: &mut Held) -> io::Result<()> {
        self.punch_unused(held)?;
        self.take_spare(held)
    }

    /// Allocates the spare space after the end of the journal. Does nothing if the disk is full.
    pub(super) fn take_spare(&self, held: &mut Held) -> io::Result<()> {
        let wanted = held.superblock.journal_bytes.min(held.journal_bytes + held.spare());
        if held.reserved < wanted {
            match self.disk.reserve(JOURNAL_START + held.reserved, wanted - held.reserved) {
                Ok(()) => held.reserved = wanted,
                Err(error) if is_full(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Releases space that neither the last checkpoint nor a page uses.
    fn punch_unused(&self, held: &mut Held) -> io::Result<()> {
        let length = self.disk.length()?;
        held.buffers.forget();
        let unused = held.extents.space.unused_before(length).chain(held.extents.unused_pages());
        for (offset, bytes) in unused {
            let start = offset.next_multiple_of(UNIT_BYTES);
            let end = length.min(offset + bytes) / UNIT_BYTES * UNIT_BYTES;
            if start < end {
                self.disk.zero_at(start, end - start, false)?;
            }
        }
        Ok(())
    }
}
