//! Files that are written atomically.

use crate::compression::Compressor;
use crate::target::{Existing, Target};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Number of files that this process has started, used to make temporary names unique.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// A file that is written under a temporary name next to its target. If the value is dropped before it is
/// finished, the temporary file is removed.
///
/// The content is compressed if the name ends in `.gz`, `.zst` or `.xz`.
pub struct WholeFile {
    target: Target,
    temporary: PathBuf,
    content: Option<Compressor>,
}

impl WholeFile {
    /// Starts a file that will be moved to `path`.
    ///
    /// Returns an error if an existing file must not be replaced, or if the folder does not exist or is not
    /// writable.
    pub fn begin(path: &Path, existing: Existing) -> io::Result<WholeFile> {
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let temporary = path.with_file_name(format!(".{}.{process}-{number}.part", name.to_string_lossy()));
        let target = Target::look(path, existing)?;
        // `create_new` does not follow symbolic links.
        let file = BufWriter::with_capacity(super::BUFFER_BYTES, File::create_new(&temporary)?);
        let content = Some(Compressor::new(file, path)?);
        Ok(WholeFile { target, temporary, content })
    }

    /// Makes the file durable and moves it to its target, replacing an existing file if allowed. Returns
    /// the size of the file.
    ///
    /// Returns an error if the disk is full or fails, or if another file was created at the target in the
    /// meantime. In the latter case, the other file remains, and the new file gets a similar name, which the
    /// error contains.
    pub fn finish(self) -> io::Result<u64> {
        self.end(|target, temporary, error| match target.take_other(temporary) {
            Ok(other) => {
                io::Error::new(error.kind(), format!("{error}; the new one is kept as {}", other.display()))
            }
            Err(_) => error,
        })
    }

    /// Like [`WholeFile::finish`], for a file that is not essential. If another file was created at the
    /// target in the meantime, the new file is dropped, and an error is returned.
    pub(crate) fn finish_or_drop(self) -> io::Result<u64> {
        self.end(|_, _, error| error)
    }

    fn end(mut self, refused: impl FnOnce(&Target, &Path, io::Error) -> io::Error) -> io::Result<u64> {
        let file = self.content.take().expect("the file is open until it is finished").finish()?;
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        let placed = self.target.take(&self.temporary);
        let placed = placed.map_err(|error| refused(&self.target, &self.temporary, error));
        // The new name is durable only after the folder is synced.
        let folder = self.target.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        placed.map(|()| bytes)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.as_mut().expect("the file is open until it is finished").writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.content.as_mut().expect("the file is open until it is finished").writer().flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        // After `finish`, the temporary name no longer exists, and this call has no effect.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// A [`WholeFile`] that one owner writes and another owner finishes.
#[derive(Clone)]
pub struct SharedFile(Arc<Mutex<Option<WholeFile>>>);

impl SharedFile {
    /// Starts a file that will be moved to `path`.
    ///
    /// Returns an error if an existing file must not be replaced, or if the folder does not exist or is not
    /// writable.
    pub fn begin(path: &Path, existing: Existing) -> io::Result<SharedFile> {
        Ok(SharedFile(Arc::new(Mutex::new(Some(WholeFile::begin(path, existing)?)))))
    }

    /// Makes the file durable and moves it to its target. Later writes fail. Returns the size of the file.
    ///
    /// Returns the same errors as [`WholeFile::finish`].
    pub fn finish(&self) -> io::Result<u64> {
        self.with(|file| file.take().map_or(Ok(0), WholeFile::finish))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Option<WholeFile>) -> T) -> T {
        act(&mut self.0.lock().expect("no writer of a file panics while it writes"))
    }
}

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|file| match file {
            Some(file) => file.write(bytes),
            None => Err(io::Error::other("the file is finished")),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|file| file.as_mut().map_or(Ok(()), Write::flush))
    }
}
