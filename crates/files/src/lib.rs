//! File access for scenarios: opens their files, decompresses traces, and writes new files atomically.
//!
//! The model crates do not open files. The caller supplies a [`ScenarioFiles`].
#![expect(
    clippy::disallowed_methods,
    reason = "this crate is where files are opened; the fences are for the model"
)]

use nacre_machine::{Files, HostMemory};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

mod compression;
mod memory;
mod opening;
mod share;
mod states;
mod target;
mod whole;

pub use compression::decompressed;
pub use opening::open_file;
pub use share::ShareRead;
pub use states::{PreparationFolder, StateFile, read_state};
pub use target::{Existing, move_to_free};
pub use whole::{SharedFile, WholeFile};

/// Number of bytes read from or written to the disk at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// Files that a scenario names. Paths are relative to the folder of the scenario. Names without a folder may
/// be built-in traces.
#[derive(Clone, Debug)]
pub struct ScenarioFiles {
    folder: PathBuf,
    shipped_traces: Option<PathBuf>,
    share: ShareRead,
}

impl ScenarioFiles {
    /// Creates access to files relative to `folder`. The folder `shipped_traces` contains the built-in
    /// traces.
    pub fn new(folder: impl Into<PathBuf>, shipped_traces: Option<PathBuf>) -> ScenarioFiles {
        ScenarioFiles { folder: folder.into(), shipped_traces, share: ShareRead::default() }
    }

    /// Returns the counter of the bytes that have been read from the opened traces.
    pub fn share_read(&self) -> &ShareRead {
        &self.share
    }

    /// Returns the path of `file`, which is relative to the scenario or is a built-in trace.
    pub fn locate(&self, file: &str) -> PathBuf {
        let path = self.folder.join(file);
        if path.exists() || Path::new(file).components().count() != 1 {
            return path;
        }
        let shipped = self.shipped_traces.iter().map(|folder| folder.join(format!("{file}.nacre.zst")));
        shipped.into_iter().find(|shipped| shipped.exists()).unwrap_or(path)
    }
}

impl Files for ScenarioFiles {
    fn text(&self, file: &str) -> io::Result<String> {
        let mut text = String::new();
        let path = self.locate(file);
        open(&path, &ShareRead::default())
            .map_err(|error| located(&error, &path))?
            .read_to_string(&mut text)?;
        Ok(text)
    }

    fn trace(&self, file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let path = self.locate(file);
        open(&path, &self.share).map_err(|error| located(&error, &path))
    }

    fn memory(&self) -> Option<HostMemory> {
        memory::of_this_machine()
    }

    fn shipped_traces(&self) -> Vec<String> {
        let entries = self.shipped_traces.iter().filter_map(|folder| std::fs::read_dir(folder).ok());
        let names = entries.flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter_map(|name| name.strip_suffix(".nacre.zst").map(String::from)).collect();
        names.sort();
        names
    }
}

/// Adds the full path to the error, because the file name in the scenario does not contain it.
fn located(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{error}, at {}", path.display()))
}

/// Opens `path` for reading, and decompresses gzip, zstd, and xz according to the content. `share` counts
/// the bytes that are read.
///
/// Returns an error if the file does not exist, is a directory, cannot be read, or has damaged compressed
/// content.
pub fn open(path: &Path, share: &ShareRead) -> io::Result<Box<dyn BufRead + Send>> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let counted = share.counted(file, bytes);
    decompressed(Box::new(BufReader::with_capacity(BUFFER_BYTES, counted)))
}
