//! An image on a disk that is full: what a checkpoint needs, and what it gives back.

use super::{Held, Image, SPARE_BYTES};
use crate::error::is_full;
use crate::space::UNIT_BYTES;
use crate::superblock::JOURNAL_START;
use std::collections::BTreeSet;
use std::io;

impl Image {
    /// Makes room on a full disk for a checkpoint: pages that wait and were erased since are forgotten, and the journal
    /// gives back what it has not begun to use. Pages get that room only if the checkpoint frees as much.
    pub(super) fn make_room(&self, held: &mut Held) -> io::Result<()> {
        held.is_tight = true;
        let programmed: BTreeSet<u64> = held.extents.programmed().map(|page| page.offset).collect();
        held.buffers.retain(|offset| programmed.contains(&offset));
        let (used, reserved) = (held.journal_bytes.next_multiple_of(UNIT_BYTES), held.reserved);
        let spare = reserved.saturating_sub(used);
        if held.extents.freed_by_checkpoint() < spare {
            held.buffers.drain(&*self.disk)?;
        }
        if spare > 0 && self.disk.zero_at(JOURNAL_START + used, spare, false)? {
            held.reserved = used;
        }
        Ok(())
    }

    /// After a checkpoint on a full disk: gives the file system back what nothing uses, and takes the journal's spare room
    /// from it.
    pub(super) fn give_back(&self, held: &mut Held) -> io::Result<()> {
        for (offset, bytes) in held.extents.space.unused_before(self.disk.length()?) {
            self.disk.zero_at(offset, bytes, false)?;
        }
        let spare = SPARE_BYTES.min(held.superblock.journal_bytes);
        if held.reserved < spare {
            match self.disk.reserve(JOURNAL_START, spare) {
                Ok(()) => held.reserved = spare,
                Err(error) if is_full(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
