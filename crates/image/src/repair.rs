//! Repair of a damaged image: a copy that contains the intact data and can be opened.

use crate::check::{Checked, Inspected, Watch, continues, inspect};
use crate::disk::{self, Disk};
use crate::error::{ImageError, Problem};
use crate::snapshot::copy_contents;
use crate::superblock::{Checkpoint, JOURNAL_START, SLOTS};
use std::io;
use std::path::Path;

/// Number of zero bytes per write.
const PART_BYTES: u64 = 1 << 20;

/// Copies the image at `path` to `out`, which must not exist, and repairs the copy. The image at `path`
/// does not change. Returns the result of the check.
///
/// Damaged pages keep their current bytes. If the file is too short, the missing bytes read as zeros. The
/// journal is cut off before its first damaged record. A damaged superblock is restored from its other
/// copy.
///
/// Returns an error if [`check`](crate::check) does, if the device state is damaged (the pages are useless
/// without it), if the copy cannot be written, or if `watch` stopped the repair.
pub fn repair(path: &Path, out: &Path, watch: &mut Watch<'_>) -> Result<Checked, ImageError> {
    let of_image = |problem| ImageError::new(path, problem);
    let of_copy = |problem| ImageError::new(out, problem);
    let file = disk::open_locked_read_only(path).map_err(of_image)?;
    let inspected = inspect(&file, watch).map_err(of_image)?;
    if !inspected.checked.can_be_repaired() {
        let why = inspected.checked.checkpoint.unwrap_or_default();
        return Err(of_image(Problem::BeyondRepair { why }));
    }
    let checked = inspected.checked.clone();
    let copy = disk::create(out).map_err(of_copy)?;
    let made = copy_contents(&file, &copy, watch)
        .and_then(|()| mend(&copy, inspected, watch))
        .and_then(|()| disk::sync_folder(out));
    match made {
        Ok(()) => Ok(checked),
        Err(error) => {
            disk::discard(out, &copy);
            Err(of_copy(Problem::io("writing the repaired copy", &error)))
        }
    }
}

/// Repairs the contents of a copy and writes its superblocks last. Until then, the copy is recognizable as
/// unfinished.
pub(crate) fn mend(disk: &dyn Disk, inspected: Inspected, watch: &mut Watch<'_>) -> io::Result<()> {
    let Inspected { mut superblock, mut extents, state, journal_bytes, checked } = inspected;
    let length = disk.length()?;
    if checked.cut_short > 0 {
        disk.set_length(length + checked.cut_short)?;
    }
    clear(disk, JOURNAL_START + journal_bytes, superblock.journal_end(), watch)?;
    match (superblock.checkpoint, state) {
        (Some(checkpoint), Some(state))
            if checked.pages.damaged > 0 || checked.checkpoint_copies != [true; 2] =>
        {
            extents.accept(|offset, bytes| disk.read_at(offset, bytes).map(|_| ()))?;
            let table = extents.encode();
            assert_eq!(table.len() as u64, checkpoint.table_bytes, "checksums take the same room");
            let bytes = [table, state].concat();
            for offset in checkpoint.offsets {
                disk.write_at(offset, &bytes)?;
            }
            let checksum = crc32fast::hash(&bytes);
            superblock.checkpoint = Some(Checkpoint { checksum, ..checkpoint });
        }
        // For raw bytes, the checkpoint contains the injected media errors.
        (Some(_), None) => superblock.checkpoint = None,
        _ => {}
    }
    superblock.generation += 1;
    disk.sync()?;
    let copy = superblock.encode();
    for slot in SLOTS {
        disk.write_at(slot, &copy)?;
        disk.sync()?;
    }
    Ok(())
}

/// Zeroes the bytes from `start` up to `end`.
fn clear(disk: &dyn Disk, start: u64, end: u64, watch: &mut Watch<'_>) -> io::Result<()> {
    let zeroes = vec![0; PART_BYTES as usize];
    let mut at = start;
    while let Some(data) = disk.next_data(at)?.filter(|&data| data < end) {
        continues(watch)?;
        at = at.max(data);
        let count = PART_BYTES.min(end - at);
        disk.write_at(at, &zeroes[..count as usize])?;
        at += count;
    }
    Ok(())
}
