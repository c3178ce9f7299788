//! The place of a new file: what may be there already, and how a file comes there.

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What becomes of a file that is at the place of a new one. Links, folders and devices always stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and there is no new one.
    Kept,
    /// The new one replaces it.
    Replaced,
}

/// Where a file is to appear, and the one it may replace there.
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    /// Device and number of the file that is there, if it may go.
    old: Option<(u64, u64)>,
}

impl Place {
    /// Errors: something is there that stays.
    pub(crate) fn look(path: &Path, existing: Existing) -> io::Result<Place> {
        let old = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
            Ok(_) if existing == Existing::Kept => return Err(is_taken()),
            Ok(found) if found.is_file() => Some(identity(&found)),
            Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "what is there is not a file")),
        };
        Ok(Place { path: path.to_path_buf(), old })
    }

    /// Moves a file here. Errors: another file has come here since [`Place::look`].
    pub(crate) fn take(&self, from: &Path) -> io::Result<()> {
        let there = self.path.symlink_metadata().ok();
        match (self.old, there) {
            (Some(old), Some(there)) if identity(&there) == old => fs::rename(from, &self.path),
            _ => move_to_free(from, &self.path),
        }
    }
}

/// Renames a file to a name that is free. Errors: it is not, among others.
pub fn move_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(is_taken()),
        // The file system cannot promise it; between look and rename another file may come.
        Err(Errno::INVAL | Errno::NOSYS) if to.symlink_metadata().is_err() => fs::rename(from, to),
        Err(Errno::INVAL | Errno::NOSYS) => Err(is_taken()),
        Err(error) => Err(error.into()),
    }
}

fn is_taken() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "there is already a file of this name")
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
