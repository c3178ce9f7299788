//! Files with saved states.

use crate::{Existing, ShareRead, WholeFile, decompressed, open, open_file};
use nacre_machine::saved::{MAGIC, Preparations};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Returns the saved state at `path`, decompressed.
///
/// Returns an error if the file does not exist or cannot be read.
pub fn read_state(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(fs::metadata(path)?.len()).unwrap_or(0));
    open(path, &ShareRead::default())?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A state file that is written atomically.
pub struct StateFile(WholeFile);

impl StateFile {
    /// Checks that a state can be saved at `path`, and starts the file.
    ///
    /// Returns an error if an existing file at `path` is not a saved state, or if the folder is not writable.
    pub fn begin(path: &Path) -> io::Result<StateFile> {
        let mut head = [0; MAGIC.len()];
        let is_other = match open_file(path).and_then(|file| decompressed(Box::new(BufReader::new(file)))) {
            Ok(mut file) => file.read_exact(&mut head).is_err() || head != *MAGIC,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        if is_other {
            let text = "an existing file is not a saved state and is not overwritten; choose another name";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        WholeFile::begin(path, Existing::Replaced).map(StateFile)
    }

    /// Writes `state` and renames the file to its final name. Returns an error e.g. if the disk is full. The
    /// previous file then remains.
    pub fn finish(mut self, state: &[u8]) -> io::Result<()> {
        self.0.write_all(state)?;
        self.0.finish().map(|_| ())
    }

    /// Like [`StateFile::finish`], for a state that other processes may save at the same time. If another
    /// process has created the file in the meantime, the new file is dropped, and an error is returned.
    fn finish_or_drop(mut self, state: &[u8]) -> io::Result<()> {
        self.0.write_all(state)?;
        self.0.finish_or_drop().map(|_| ())
    }
}

/// Folder with saved preconditioned states.
#[derive(Clone, Debug)]
pub struct PreparationFolder(PathBuf);

impl PreparationFolder {
    /// Creates a cache that stores preconditioned states in `folder`, which must exist.
    pub fn new(folder: impl Into<PathBuf>) -> PreparationFolder {
        PreparationFolder(folder.into())
    }

    fn path_of(&self, preparation: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        preparation.hash(&mut hasher);
        self.0.join(format!("{:016x}.state", hasher.finish()))
    }
}

impl Preparations for PreparationFolder {
    fn find(&self, preparation: &str) -> Option<Vec<u8>> {
        let path = self.path_of(preparation);
        let mut bytes = Vec::new();
        File::open(path).ok()?.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn keep(&self, preparation: &str, state: &[u8]) {
        // If the disk is full, the only effect is that the next run preconditions again.
        let _ = StateFile::begin(&self.path_of(preparation)).and_then(|file| file.finish_or_drop(state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("nacre-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_state_replaces_a_state_and_nothing_else() {
        let folder = Folder::new("states");
        let (path, other) = (folder.0.join("drive.state"), folder.0.join("notes.txt"));
        let state = |byte: u8| [&MAGIC[..], &[byte; 9]].concat();
        for byte in [1, 2] {
            StateFile::begin(&path).and_then(|file| file.finish(&state(byte))).unwrap();
            assert_eq!(read_state(&path).unwrap(), state(byte));
        }
        // Dropping an unfinished state file preserves the existing file.
        drop(StateFile::begin(&path).unwrap());
        assert_eq!(read_state(&path).unwrap(), state(2));
        fs::write(&other, "mine").unwrap();
        assert!(StateFile::begin(&other).is_err());
        assert_eq!(fs::read(&other).unwrap(), b"mine");
        assert!(StateFile::begin(&folder.0.join("missing/drive.state")).is_err());
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2, "nothing is left behind");
    }

    #[test]
    fn preparations_are_found_under_what_they_were_made_of() {
        let folder = Folder::new("preparations");
        let kept = PreparationFolder::new(&folder.0);
        let state = [&MAGIC[..], &[7; 20]].concat();
        kept.keep("a = 1", &state);
        assert_eq!(kept.find("a = 1"), Some(state));
        assert_eq!(kept.find("a = 2"), None);
    }
}
