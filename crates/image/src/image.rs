//! An open image: records go into its journal, pages into its extents, and now and then a checkpoint.

use crate::buffers::Buffers;
use crate::disk::{self, Disk};
use crate::error::{ImageError, Problem};
use crate::extents::{self, Extents, Geometry};
use crate::identity;
use crate::journal::{self, Records};
use crate::store::ImageStore;
use crate::superblock::{self, Checkpoint, IDENTITY_BYTES, JOURNAL_START, SLOTS, Superblock};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// Room for the journal of a new image. With half of it filled a checkpoint is due; the other half is
/// for the record that comes first.
const JOURNAL_BYTES: u64 = 128 << 20;

/// A device's image, open in this process alone. Clones are the same image.
///
/// The lock is held until the last clone and the last [`ImageStore`] are gone.
#[derive(Clone, Debug)]
pub struct Image {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    held: Arc<Mutex<Held>>,
}

/// What an image gives when it is opened: the device is brought to `state`, then `records` are played back.
#[derive(Debug)]
pub struct Opened {
    /// The image. Nothing is appended to it before the records are played back.
    pub image: Image,
    /// The state at the last checkpoint; `None` if there was none: the device is as new.
    pub state: Option<Vec<u8>>,
    /// What was appended since.
    pub records: Records,
    /// Whether the journal ended in a record that was not wholly written, as after a kill or a power
    /// failure. It was never acknowledged as synced, and is cut off.
    pub torn: bool,
}

impl Image {
    /// Creates the image of a device that is as new. `identity` tells devices apart: lines `key = value`,
    /// each key once.
    ///
    /// Errors: something is at `path` already, its folder is not there, the disk is full, the identity has
    /// no room. Then no file is left behind.
    pub fn create(path: &Path, identity: &str, geometry: Geometry) -> Result<Image, ImageError> {
        let file = disk::create(path).map_err(|problem| ImageError::new(path, problem))?;
        let created = Image::create_on(Arc::new(file), path, identity, geometry, JOURNAL_BYTES);
        let synced = created.and_then(|image| match disk::sync_folder(path) {
            Ok(()) => Ok(image),
            Err(error) => Err(ImageError::new(path, Problem::io("syncing its folder", &error))),
        });
        synced.inspect_err(|_| {
            // It holds nothing, and was not there before.
            let _ = std::fs::remove_file(path);
        })
    }

    /// Opens the image of the device with this identity and geometry. Changes nothing in the file.
    ///
    /// Errors: there is none, it is locked, of another device, of another format, cut short, damaged.
    pub fn open(path: &Path, identity: &str, geometry: Geometry) -> Result<Opened, ImageError> {
        let file = disk::open(path).map_err(|problem| ImageError::new(path, problem))?;
        Image::open_on(Arc::new(file), path, identity, geometry)
    }

    /// Opens the image, or creates it if there is nothing at `path`.
    ///
    /// Errors: those of [`Image::open`] and [`Image::create`].
    pub fn open_or_create(path: &Path, identity: &str, geometry: Geometry) -> Result<Opened, ImageError> {
        match Image::open(path, identity, geometry) {
            Err(ImageError { problem: Problem::Missing, .. }) => {
                let image = Image::create(path, identity, geometry)?;
                Ok(Opened { image, state: None, records: Records::default(), torn: false })
            }
            opened => opened,
        }
    }

    /// The geometry and identity of the device in the image at `path`, which may be open elsewhere.
    ///
    /// Errors: there is none, it is of another format, damaged.
    pub fn inspect(path: &Path) -> Result<(Geometry, String), ImageError> {
        let superblock = disk::open_to_look(path).and_then(|file| superblock::read(&file));
        let superblock = superblock.map_err(|problem| ImageError::new(path, problem))?;
        Ok((superblock.geometry, superblock.identity))
    }

    /// The pages, for the device to own.
    pub fn store(&self) -> ImageStore {
        ImageStore::new(self.clone())
    }

    /// Appends `record` to the journal: it will be played back even if the process is killed now.
    ///
    /// Errors: the disk is full or fails, now or earlier.
    ///
    /// # Panics
    /// If the record is longer than [`Image::longest_record`], or [`Image::wants_checkpoint`] was ignored
    /// until the journal is full.
    pub fn append(&self, record: &[u8]) -> Result<(), ImageError> {
        assert!(record.len() <= self.longest_record(), "a record of {} bytes is too long", record.len());
        let mut held = self.hold();
        held.check()?;
        if !held.appending {
            let generation = held.superblock.generation + 1;
            let superblock = Superblock { generation, ..held.superblock.clone() };
            self.write_superblocks(&mut held, superblock)?;
        }
        let Held { superblock, buffer, journal_bytes, .. } = &mut *held;
        buffer.clear();
        journal::encode(superblock.generation, record, buffer);
        let end = *journal_bytes + buffer.len() as u64;
        assert!(end <= superblock.journal_bytes, "the journal is full: a checkpoint was due");
        let written = self.disk.write_at(JOURNAL_START + *journal_bytes, buffer);
        *journal_bytes = end;
        written.map_err(|error| held.fail(&self.path, "appending to its journal", &error))
    }

    /// The longest record that [`Image::append`] takes, bytes.
    pub fn longest_record(&self) -> usize {
        self.hold().superblock.journal_bytes as usize / 2 - journal::HEAD_BYTES
    }

    /// Everything appended so far survives a power failure when this returns.
    ///
    /// Errors: the disk is full or fails, now or earlier.
    pub fn sync(&self) -> Result<(), ImageError> {
        self.hold().check()?;
        // Others may append meanwhile.
        self.disk.sync().map_err(|error| self.hold().fail(&self.path, "syncing it", &error))
    }

    /// Whether the journal is so long that a checkpoint is due before the next record.
    pub fn wants_checkpoint(&self) -> bool {
        let held = self.hold();
        held.journal_bytes > held.superblock.journal_bytes / 2
    }

    /// Makes `state`, and the pages as they are, the new beginning: the journal is empty after it. Survives
    /// a power failure when it returns.
    ///
    /// Errors: the disk is full or fails, now or earlier. Then the last checkpoint and the journal stand.
    pub fn checkpoint(&self, state: &[u8]) -> Result<(), ImageError> {
        let mut held = self.hold();
        held.check()?;
        let table = held.extents.encode();
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&table);
        checksum.update(state);
        let mut checkpoint = Checkpoint {
            offset: 0,
            table_bytes: table.len() as u64,
            state_bytes: state.len() as u64,
            checksum: checksum.finalize(),
        };
        checkpoint.offset = held.extents.space.take(checkpoint.bytes());
        let written = held
            .buffers
            .flush(&*self.disk)
            .and_then(|()| self.disk.write_at(checkpoint.offset, &table))
            .and_then(|()| self.disk.write_at(checkpoint.offset + checkpoint.table_bytes, state))
            .and_then(|()| self.disk.sync());
        written.map_err(|error| held.fail(&self.path, "writing a checkpoint", &error))?;
        let generation = held.superblock.generation + 1;
        let superblock = Superblock {
            generation,
            journal_generation: generation,
            checkpoint: Some(checkpoint),
            ..held.superblock.clone()
        };
        let old = held.superblock.checkpoint;
        self.write_superblocks(&mut held, superblock)?;
        // Both copies lead to the new checkpoint: what only the old one used is unused.
        held.journal_bytes = 0;
        held.extents.keep();
        if let Some(old) = old {
            held.extents.space.give(old.offset, old.bytes());
        }
        Ok(())
    }

    /// The failure after which nothing more is written, if there was one. The store cannot return it, so
    /// whoever reads pages asks here before the bytes go on.
    pub fn error(&self) -> Option<ImageError> {
        self.hold().error.clone()
    }

    pub(crate) fn create_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        identity: &str,
        geometry: Geometry,
        journal_bytes: u64,
    ) -> Result<Image, ImageError> {
        let (found, limit) = (identity.len(), IDENTITY_BYTES);
        if found > limit {
            return Err(ImageError::new(path, Problem::IdentityTooLong { found, limit }));
        }
        let superblock = Superblock {
            generation: 1,
            journal_generation: 1,
            journal_bytes,
            geometry,
            checkpoint: None,
            identity: identity.into(),
        };
        let journal_end = superblock.journal_end();
        let held = Held::new(superblock.clone(), Extents::new(geometry, journal_end));
        let image = Image { path: path.to_path_buf(), disk, held: Arc::new(Mutex::new(held)) };
        // The journal is part of the file from the beginning, so that a file cut short is found out.
        let sized = image.disk.set_length(journal_end);
        sized.map_err(|error| ImageError::new(path, Problem::io("creating it", &error)))?;
        image.write_superblocks(&mut image.hold(), superblock)?;
        Ok(image)
    }

    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        identity: &str,
        geometry: Geometry,
    ) -> Result<Opened, ImageError> {
        let opened = load(&*disk, identity, geometry);
        let (held, state, found) = opened.map_err(|problem| ImageError::new(path, problem))?;
        let image = Image { path: path.to_path_buf(), disk, held: Arc::new(Mutex::new(held)) };
        Ok(Opened { image, state, records: found.records, torn: found.torn })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    pub(crate) fn hold(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("nobody panics while holding an image")
    }

    /// Writes both copies, the second when the first is durable.
    fn write_superblocks(&self, held: &mut Held, superblock: Superblock) -> Result<(), ImageError> {
        let copy = superblock.encode();
        for slot in SLOTS {
            let written = self.disk.write_at(slot, &copy).and_then(|()| self.disk.sync());
            written.map_err(|error| held.fail(&self.path, "writing its superblock", &error))?;
        }
        (held.superblock, held.appending) = (superblock, true);
        Ok(())
    }
}

/// What the clones of an image share.
#[derive(Debug)]
pub(crate) struct Held {
    superblock: Superblock,
    /// Whether the superblock's generation is this process's own.
    appending: bool,
    pub(crate) extents: Extents,
    pub(crate) buffers: Buffers,
    /// Bytes of the journal that hold records.
    journal_bytes: u64,
    error: Option<ImageError>,
    /// For a record, or a page being copied.
    pub(crate) buffer: Vec<u8>,
}

impl Held {
    fn new(superblock: Superblock, extents: Extents) -> Held {
        let (appending, journal_bytes, error) = (false, 0, None);
        let (buffers, buffer) = (Buffers::default(), Vec::new());
        Held { superblock, appending, extents, buffers, journal_bytes, error, buffer }
    }

    /// Errors: there was a failure.
    pub(crate) fn check(&self) -> Result<(), ImageError> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Nothing more is written: what is in memory may be ahead of what the file can be brought to.
    pub(crate) fn fail(&mut self, path: &Path, doing: &'static str, error: &io::Error) -> ImageError {
        self.error.get_or_insert_with(|| ImageError::new(path, Problem::io(doing, error))).clone()
    }
}

/// Checks everything and reads state and journal.
fn load(
    disk: &dyn Disk,
    identity: &str,
    geometry: Geometry,
) -> Result<(Held, Option<Vec<u8>>, journal::Found), Problem> {
    let superblock = superblock::read(disk)?;
    let differences = identity::differences(
        &identity::lines(&superblock.geometry, &superblock.identity),
        &identity::lines(&geometry, identity),
    );
    if !differences.is_empty() {
        return Err(Problem::OtherDevice { differences });
    }
    let length = disk.length().map_err(|error| Problem::io("reading its length", &error))?;
    let reaches = |expected| match length < expected {
        true => Err(Problem::CutShort { found: length, expected }),
        false => Ok(()),
    };
    reaches(superblock.journal_end())?;
    let mut extents = Extents::new(geometry, superblock.journal_end());
    let mut state = None;
    if let Some(checkpoint) = superblock.checkpoint {
        reaches(checkpoint.offset.saturating_add(checkpoint.bytes()))?;
        state = Some(load_checkpoint(disk, &checkpoint, &mut extents)?);
        reaches(extents.needed_length())?;
    }
    let found = journal::read(disk, &superblock)?;
    let mut held = Held::new(superblock, extents);
    held.journal_bytes = found.bytes;
    Ok((held, state, found))
}

/// Reads table and state, gives the table to `extents` and returns the state.
fn load_checkpoint(
    disk: &dyn Disk,
    checkpoint: &Checkpoint,
    extents: &mut Extents,
) -> Result<Vec<u8>, Problem> {
    let mut bytes = vec![0; checkpoint.bytes() as usize];
    let read = disk.read_at(checkpoint.offset, &mut bytes);
    read.map_err(|error| Problem::io("reading its checkpoint", &error))?;
    let (expected, found) = (checkpoint.checksum, crc32fast::hash(&bytes));
    let damaged = |expected: String, found: String| Problem::Damaged {
        part: "the checkpoint",
        at: checkpoint.offset,
        expected,
        found,
    };
    if found != expected {
        return Err(damaged(format!("checksum {expected:08x}"), format!("{found:08x}")));
    }
    let state = bytes.split_off(checkpoint.table_bytes as usize);
    if !extents.space.claim(checkpoint.offset, checkpoint.bytes()) {
        return Err(damaged("a place after the journal".into(), "one before its end".into()));
    }
    extents.decode(&bytes).map_err(|error| extents::damaged(checkpoint.offset, error))?;
    Ok(state)
}
