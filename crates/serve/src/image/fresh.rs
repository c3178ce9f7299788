//! New files that are there as a whole or not at all.

use super::header::MAGIC;
use super::problem::Problem;
use nacre_files::move_to_free;
use rustix::fs::OFlags;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What a file begins with while it is made. Nothing else does: neither a foreign file nor an image is taken for one.
const IN_THE_MAKING: &[u8; 8] = b"NACRENEW";

/// An image in the making, beside the place it is for. One that a kill left behind is used again; anything else of
/// that name stays as it is.
pub(super) struct Fresh {
    pub(super) file: File,
    at: PathBuf,
    target: PathBuf,
}

impl Fresh {
    /// A file with no more in it than its mark, locked. Errors: somebody else makes one for the same place, or a
    /// foreign file has its name.
    pub(super) fn begin(target: &Path) -> Result<Fresh, Problem> {
        let at = beside(target, ".new");
        let created = OpenOptions::new().read(true).write(true).create_new(true).open(&at);
        let file = match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                open_own(&at, IN_THE_MAKING, true)?.ok_or(Problem::Locked)?
            }
            created => created?,
        };
        lock(&file)?;
        // Whoever held the lock before may have renamed it meanwhile: then it is somebody's image.
        let is_ours = at.symlink_metadata().is_ok_and(|named| {
            file.metadata().is_ok_and(|held| (held.dev(), held.ino()) == (named.dev(), named.ino()))
        });
        if !is_ours {
            return Err(Problem::Locked);
        }
        file.set_len(0)?;
        let fresh = Fresh { file, at, target: target.to_path_buf() };
        fresh.mark().inspect_err(|_| fresh.give_up())?;
        Ok(fresh)
    }

    /// Marks it as being made; what else it begins with is an image's magic number, which it gets back in its place.
    pub(super) fn mark(&self) -> io::Result<()> {
        self.file.write_all_at(IN_THE_MAKING, 0)
    }

    /// Brings it to the disk and to its place. `replaces` the file that is there, or fails where something is.
    pub(super) fn publish(self, replaces: bool) -> Result<File, Problem> {
        let written = self.mark().and_then(|()| self.file.sync_all()).map_err(Problem::from);
        if let Err(problem) = written.and_then(|()| self.rename(replaces)) {
            self.give_up();
            return Err(problem);
        }
        // A kill before this leaves one good copy of the header, which is enough.
        self.file.write_all_at(MAGIC, 0)?;
        self.file.sync_all()?;
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        OpenOptions::new().read(true).open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(self.file)
    }

    fn rename(&self, replaces: bool) -> Result<(), Problem> {
        if replaces {
            return Ok(std::fs::rename(&self.at, &self.target)?);
        }
        move_to_free(&self.at, &self.target).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Problem::Exists,
            _ => error.into(),
        })
    }

    /// Removes it; nothing came of it.
    pub(super) fn give_up(&self) {
        // What stays is used again by the next one.
        let _ = std::fs::remove_file(&self.at);
    }
}

/// Opens a file beside an image that begins with `mark`, or is empty as a kill may leave it; `None` where there is
/// nothing. Errors: it is a link or a foreign file, among others.
pub(super) fn open_own(path: &Path, mark: &[u8], writes: bool) -> Result<Option<File>, Problem> {
    let foreign = || Problem::Foreign(path.to_path_buf());
    // A pipe would wait for its other end.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new().read(true).write(writes).custom_flags(flags.bits() as i32).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) if path.symlink_metadata().is_ok_and(|found| !found.is_file()) => return Err(foreign()),
        Err(error) => return Err(error.into()),
    };
    let found = file.metadata()?;
    let mut start = vec![0; mark.len().min(found.len() as usize)];
    if !found.is_file() || file.read_exact_at(&mut start, 0).is_err() || !mark.starts_with(&start) {
        return Err(foreign());
    }
    Ok(Some(file))
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
