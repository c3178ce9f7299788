//! Target path of a new file: the existing file that may be replaced, and the final rename.

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum number of alternative names that are tried if the target name is in use.
const NAMES: u32 = 1000;

/// Handling of an existing file at the target. Links, folders, devices, and locked files, such as images of
/// servers and memories, are never replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Keeps the existing file and does not write a new one.
    Kept,
    /// Replaces the existing file.
    Replaced,
}

/// Target path of a new file, and the existing file that it may replace.
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    /// Device and inode of the existing file, or `None` if no existing file may be replaced.
    old: Option<(u64, u64)>,
}

impl Target {
    /// Checks the target. Returns an error if a file exists that must not be replaced.
    pub(crate) fn look(path: &Path, existing: Existing) -> io::Result<Target> {
        let old = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
            Ok(_) if existing == Existing::Kept => return Err(is_taken()),
            Ok(found) if found.is_file() => {
                hold(path)?;
                Some(identity(&found))
            }
            Ok(_) => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "the existing entry is not a file"));
            }
        };
        Ok(Target { path: path.to_path_buf(), old })
    }

    /// Renames the file `from` to the target. Returns an error if another file was created at the target
    /// since [`Target::look`], or if the existing file is in use.
    pub(crate) fn take(&self, from: &Path) -> io::Result<()> {
        let there = self.path.symlink_metadata().ok();
        match (self.old, there) {
            (Some(old), Some(there)) if identity(&there) == old => {
                // While the lock is held, no other process can start to use the file before it is replaced.
                let _held = hold(&self.path)?;
                fs::rename(from, &self.path)
            }
            _ => move_to_free(from, &self.path),
        }
    }

    /// Renames the file `from` to the first unused similar name, e.g. `a-2.nacre.zst` for `a.nacre.zst`.
    /// Returns the name.
    pub(crate) fn take_other(&self, from: &Path) -> io::Result<PathBuf> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let dot =
            name.char_indices().skip(1).find(|&(_, letter)| letter == '.').map_or(name.len(), |(at, _)| at);
        let (stem, ending) = name.split_at(dot);
        for number in 2..NAMES {
            let other = self.path.with_file_name(format!("{stem}-{number}{ending}"));
            match move_to_free(from, &other) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                moved => return moved.map(|()| other),
            }
        }
        Err(is_taken())
    }
}

/// Locks the file at `path`. Returns an error if another process has locked it.
fn hold(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.try_lock_shared() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let used = "it is in use by a server or a memory; choose another name";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, used))
        }
        // On a file system without locks, no file is locked.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Renames a file to an unused name. Returns an error e.g. if the name is in use.
pub fn move_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(is_taken()),
        // The file system cannot guarantee that the name is unused, so another file may be created between
        // this check and the rename.
        Err(Errno::INVAL | Errno::NOSYS) if to.symlink_metadata().is_err() => fs::rename(from, to),
        Err(Errno::INVAL | Errno::NOSYS) => Err(is_taken()),
        Err(error) => Err(error.into()),
    }
}

fn is_taken() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "the file already exists")
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
