//! Copies of an image.

use crate::check::{Watch, continues};
use crate::disk::{self, Disk};
use crate::error::{ImageError, Problem};
use crate::image::Image;
use crate::superblock::{JOURNAL_START, SLOTS};
use rustix::fs::{SeekFrom, ioctl_ficlone, seek};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Number of bytes that are copied and synced at a time, so that the final sync is short.
const PART_BYTES: u64 = 32 << 20;
/// Unit of `st_blocks`, in bytes.
const BLOCK: u64 = 512;

impl Image {
    /// Copies the image in its current state to `to`, which must not exist. The copy is an image of the
    /// same device. Returns the disk space of the copy in bytes. If the file system supports it, the copy
    /// shares this space with the image.
    ///
    /// Returns an error if the path exists, the copy cannot be written, or `watch` stopped the copying.
    /// After an error, no file is left behind.
    pub fn copy_to(&self, to: &Path, watch: &mut Watch<'_>) -> Result<u64, ImageError> {
        let wrong = |problem| ImageError::new(to, problem);
        let io = |error: io::Error| wrong(Problem::io("copying the image", &error));
        // The lock prevents changes to the image during the copy.
        let held = self.hold();
        held.check()?;
        let Some(file) = self.disk().file() else {
            return Err(io(io::ErrorKind::Unsupported.into()));
        };
        let copy = disk::create(to).map_err(wrong)?;
        let copied = copy_stored(file, &copy, watch).and_then(|()| disk::sync_folder(to));
        copied.and_then(|()| Ok(copy.metadata()?.blocks() * BLOCK)).map_err(|error| {
            disk::discard(to, &copy);
            io(error)
        })
    }

    /// Returns whether `path` leads to the image's file, directly or through links.
    pub fn is_at(&self, path: &Path) -> bool {
        let place = |file: &std::fs::Metadata| (file.dev(), file.ino());
        let held = self.disk().file().and_then(|file| file.metadata().ok());
        held.is_some_and(|held| path.metadata().is_ok_and(|there| place(&there) == place(&held)))
    }
}

/// Copies allocated ranges and preserves holes. The superblocks are written last, so that an interrupted copy
/// is recognizable.
fn copy_stored(from: &File, to: &File, watch: &mut Watch<'_>) -> io::Result<()> {
    if ioctl_ficlone(to, from).is_err() {
        copy_contents(from, to, watch)?;
    }
    to.sync_all()?;
    let mut head = vec![0; JOURNAL_START as usize];
    Disk::read_at(from, 0, &mut head)?;
    for slot in SLOTS {
        let end = (slot + SLOTS[1]) as usize;
        to.write_at(slot, &head[slot as usize..end])?;
        Disk::sync(to)?;
    }
    Ok(())
}

/// Copies all data except the superblocks and preserves holes.
pub(crate) fn copy_contents(from: &File, to: &File, watch: &mut Watch<'_>) -> io::Result<()> {
    let length = from.metadata()?.len();
    to.set_len(length)?;
    let mut at = JOURNAL_START;
    while at < length {
        let start = match seek(from, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = seek(from, SeekFrom::Hole(start))?.min(start + PART_BYTES);
        continues(watch)?;
        seek(from, SeekFrom::Start(start))?;
        seek(to, SeekFrom::Start(start))?;
        // The operating system copies without passing data through this process.
        let copied = io::copy(&mut from.take(end - start), &mut &*to)?;
        if copied < end - start {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Disk::sync(to)?;
        at = end;
    }
    Ok(())
}
