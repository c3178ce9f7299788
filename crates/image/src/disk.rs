//! The file of an image: opening, locking, and access at offsets.

use crate::error::Problem;
use rustix::fs::{FallocateFlags, OFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;
use std::fmt::Debug;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// File operations of an image. Tests implement this trait with files that record operations, fail, and lose
/// unsynced data.
pub trait Disk: Debug + Send + Sync {
    /// Reads at `offset` until `into` is full or the file ends; returns the number of bytes read.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes all writes durable.
    fn sync(&self) -> io::Result<()>;

    /// Returns the length of the file, in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Sets the length of the file. New bytes read as zeros and take no disk space.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Returns the offset of the first allocated byte at or after `offset`, as far as known, or `None` if
    /// there is no such byte.
    fn next_data(&self, offset: u64) -> io::Result<Option<u64>>;

    /// Zeroes `length` bytes at `offset`. The range stays allocated if `keeps_room` is set. Returns false and
    /// does nothing if the file system does not support this.
    fn zero_at(&self, offset: u64, length: u64, keeps_room: bool) -> io::Result<bool>;

    /// Returns the underlying file, or `None` if there is no file.
    fn file(&self) -> Option<&File>;

    /// Preallocates `bytes` bytes at `offset`. Existing content does not change.
    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()>;
}

impl Disk for File {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match FileExt::read_at(self, &mut into[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn length(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        match seek(self, SeekFrom::Data(offset)) {
            Ok(data) => Ok(Some(data)),
            Err(Errno::NXIO) => Ok(None),
            // The file system does not report holes, so the rest of the file may be data.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok((offset < self.length()?).then_some(offset)),
            Err(error) => Err(error.into()),
        }
    }

    fn zero_at(&self, offset: u64, length: u64, keeps_room: bool) -> io::Result<bool> {
        let flags = if keeps_room { FallocateFlags::ZERO_RANGE } else { FallocateFlags::PUNCH_HOLE };
        match fallocate(self, flags | FallocateFlags::KEEP_SIZE, offset, length) {
            Ok(()) => Ok(true),
            Err(Errno::OPNOTSUPP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn file(&self) -> Option<&File> {
        Some(self)
    }

    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        match fallocate(self, FallocateFlags::KEEP_SIZE, offset, bytes) {
            // If preallocation is unsupported, a later write fails when the disk is full.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Creates the file, which must not exist, and locks it.
pub(crate) fn create(path: &Path) -> Result<File, Problem> {
    if let Ok(metadata) = path.metadata() {
        is_file(&metadata)?;
    }
    let opened = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists if path.is_symlink() => Problem::Linked,
        io::ErrorKind::AlreadyExists => Problem::Exists,
        _ => Problem::io("creating it", &error),
    })?;
    lock(&file)?;
    Ok(file)
}

/// Opens and locks an empty file that will become an image. Links are not followed.
pub(crate) fn open_empty(path: &Path) -> Result<File, Problem> {
    let metadata = path.symlink_metadata().map_err(|error| opening(&error))?;
    if metadata.is_symlink() {
        return Err(Problem::Linked);
    }
    is_file(&metadata)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(OFlags::NOFOLLOW.bits() as i32);
    let file = options.open(path).map_err(|error| opening(&error))?;
    hold(&file, path)?;
    match file.length() {
        Ok(0) => Ok(file),
        Ok(_) => Err(Problem::Exists),
        Err(error) => Err(Problem::io("opening it", &error)),
    }
}

/// Removes an unfinished file, unless its name now refers to another file.
pub(crate) fn discard(path: &Path, file: &File) {
    if is_at(file, path) {
        // If this fails, the unfinished file remains, which is harmless.
        let _ = std::fs::remove_file(path);
    }
}

/// Returns whether `path` is the name of `file` and not of a link to it.
fn is_at(file: &File, path: &Path) -> bool {
    is_of(file, path.symlink_metadata())
}

/// Returns whether the metadata `there` belongs to `file`.
fn is_of(file: &File, there: io::Result<Metadata>) -> bool {
    let identity = |file: Metadata| (file.dev(), file.ino());
    there.ok().zip(file.metadata().ok()).is_some_and(|(there, file)| identity(there) == identity(file))
}

/// Makes the name of a new file durable by syncing its folder.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    OpenOptions::new().read(true).open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Opens the file for reading and writing, and locks it.
pub(crate) fn open(path: &Path) -> Result<File, Problem> {
    let metadata = path.metadata().map_err(|error| opening(&error))?;
    // This is checked before opening, because opening a pipe would block.
    is_file(&metadata)?;
    if metadata.permissions().readonly() {
        return Err(Problem::ReadOnly);
    }
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(|error| opening(&error))?;
    hold(&file, path)?;
    Ok(file)
}

/// Opens the file for reading, and locks it.
pub(crate) fn open_locked_read_only(path: &Path) -> Result<File, Problem> {
    let file = open_read_only(path)?;
    hold(&file, path)?;
    Ok(file)
}

/// Opens the file for reading, even if another process has locked it.
pub(crate) fn open_read_only(path: &Path) -> Result<File, Problem> {
    is_file(&path.metadata().map_err(|error| opening(&error))?)?;
    OpenOptions::new().read(true).open(path).map_err(|error| opening(&error))
}

fn opening(error: &io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::NotFound => Problem::Missing,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Problem::ReadOnly,
        _ => Problem::io("opening it", error),
    }
}

fn is_file(metadata: &Metadata) -> Result<(), Problem> {
    match () {
        () if metadata.is_file() => Ok(()),
        () if metadata.is_dir() => Err(Problem::NotAFile { found: "a directory" }),
        () => Err(Problem::NotAFile { found: "a pipe, a socket or a device" }),
    }
}

/// Locks a file that was opened at `path`, and checks that `path` still refers to it. The process that had
/// the lock before may have replaced the file.
pub(crate) fn hold(file: &File, path: &Path) -> Result<(), Problem> {
    lock(file)?;
    if is_of(file, path.metadata()) { Ok(()) } else { Err(Problem::Replaced) }
}

/// Locks the open file. The lock ends when the process ends.
fn lock(file: &File) -> Result<(), Problem> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Problem::Locked,
        TryLockError::Error(error) => Problem::io("locking it", &error),
    })
}
