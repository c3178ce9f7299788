//! New files that are there as a whole or not at all.

use super::problem::Problem;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file in the making, beside the place it is for. One that a kill left behind is used again.
pub(super) struct Fresh {
    pub(super) file: File,
    at: PathBuf,
    target: PathBuf,
}

impl Fresh {
    /// An empty file, locked. Errors: somebody else makes one for the same place.
    pub(super) fn begin(target: &Path) -> Result<Fresh, Problem> {
        let at = beside(target, ".new");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&at)?;
        lock(&file)?;
        // Whoever held the lock before may have renamed it meanwhile: then it is somebody's image.
        let is_ours = at.metadata().is_ok_and(|named| {
            file.metadata().is_ok_and(|held| (held.dev(), held.ino()) == (named.dev(), named.ino()))
        });
        if !is_ours {
            return Err(Problem::Locked);
        }
        file.set_len(0)?;
        Ok(Fresh { file, at, target: target.to_path_buf() })
    }

    /// Brings it to the disk and to its place. `replaces` what is there, or fails where something is.
    pub(super) fn publish(self, replaces: bool) -> Result<File, Problem> {
        let published = self.file.sync_all().map_err(Problem::from).and_then(|()| self.rename(replaces));
        if let Err(problem) = published {
            self.give_up();
            return Err(problem);
        }
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        OpenOptions::new().read(true).open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(self.file)
    }

    fn rename(&self, replaces: bool) -> Result<(), Problem> {
        if replaces {
            return Ok(std::fs::rename(&self.at, &self.target)?);
        }
        match renameat_with(CWD, &self.at, CWD, &self.target, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::EXIST) => Err(Problem::Exists),
            // The file system cannot promise it; between look and rename another file may come and go.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if !self.target.exists() => {
                Ok(std::fs::rename(&self.at, &self.target)?)
            }
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Removes it; nothing came of it.
    pub(super) fn give_up(&self) {
        // What stays is used again by the next one.
        let _ = std::fs::remove_file(&self.at);
    }
}

/// The lock goes with the open file: it ends with the process, however that ends.
pub(super) fn lock(file: &File) -> Result<(), Problem> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Problem::Locked,
        TryLockError::Error(error) => Problem::System(error),
    })
}

/// The name of a file beside `path`.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}
