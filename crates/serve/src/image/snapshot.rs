//! Copies of an image.

use super::fresh::Fresh;
use super::header::MAGIC;
use super::{Image, ImageError, Problem};
use rustix::fs::{SeekFrom, ioctl_ficlone, seek};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What `st_blocks` counts in.
const BLOCK: u64 = 512;

impl Image {
    /// Copies the image to `to`, where nothing may be yet. Nobody writes meanwhile. Returns the bytes of disk that
    /// the copy takes; where the file system can, it shares them with the image.
    pub(crate) fn copy_to(&self, to: &Path) -> Result<u64, ImageError> {
        self.copy(to).map_err(|problem| ImageError::new(to, problem))
    }

    fn copy(&self, to: &Path) -> Result<u64, Problem> {
        if to.symlink_metadata().is_ok() {
            return Err(Problem::Exists);
        }
        if self.read_only {
            self.check_sound()?;
        } else {
            self.sync()?;
        }
        let fresh = Fresh::begin(to)?;
        let copied = match ioctl_ficlone(&fresh.file, &self.file) {
            Ok(()) => fresh.mark(),
            Err(_) => copy_stored(&self.file, &fresh.file),
        };
        if let Err(error) = copied {
            fresh.give_up();
            return Err(error.into());
        }
        let file = fresh.publish(false)?;
        Ok(file.metadata()?.blocks() * BLOCK)
    }
}

/// Copies what is stored behind the magic number; holes stay holes.
fn copy_stored(from: &File, to: &File) -> io::Result<()> {
    let length = from.metadata()?.len();
    to.set_len(length)?;
    let mut at = MAGIC.len() as u64;
    while at < length {
        let start = match seek(from, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = seek(from, SeekFrom::Hole(start))?;
        seek(from, SeekFrom::Start(start))?;
        seek(to, SeekFrom::Start(start))?;
        // The system copies, without a way through this process.
        let copied = io::copy(&mut from.take(end - start), &mut &*to)?;
        if copied < end - start {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        at = end;
    }
    Ok(())
}
