//! Opening of regular files.

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a regular file for reading. Pipes are rejected, because they could block the reader forever.
///
/// Returns an error if `path` is not a regular file or cannot be opened.
pub fn open_file(path: &Path) -> io::Result<File> {
    // With these flags, opening never blocks.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    Ok(file)
}
