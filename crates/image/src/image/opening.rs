//! Creation and opening of images.

use super::{Held, Image, JOURNAL_BYTES};
use crate::buffers::Buffers;
use crate::disk::{self, Disk};
use crate::error::{ImageError, Problem};
use crate::extents::{self, Extents};
use crate::geometry::Geometry;
use crate::identity;
use crate::journal::{self, Records};
use crate::superblock::{self, Checkpoint, IDENTITY_BYTES, Superblock};
use nacre_kernel::identity::differences;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Properties of a new image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewImage {
    /// The geometry of the device's pages.
    pub geometry: Geometry,
    /// Whether every page has a checksum. With checksums, data that the disk has changed is detected and
    /// never returned.
    pub page_checksums: bool,
}

impl From<Geometry> for NewImage {
    /// Creates the properties of an image with page checksums.
    fn from(geometry: Geometry) -> NewImage {
        NewImage { geometry, page_checksums: true }
    }
}

/// An opened image. The caller restores `state` and then replays `records`.
#[derive(Debug)]
pub struct Opened {
    /// The image. The caller must replay the records before it appends to the image.
    pub image: Image,
    /// The state at the last checkpoint, or `None` if the device is new and has no checkpoint.
    pub state: Option<Vec<u8>>,
    /// Records appended since the checkpoint.
    pub records: Records,
    /// Whether the journal ended with an incomplete record, e.g. after a kill or a power loss. This record
    /// was never acknowledged as synced, and is dropped.
    pub torn: bool,
}

impl Image {
    /// Creates the image of a new device. `identity` distinguishes devices and consists of lines
    /// `path = value` with unique keys.
    ///
    /// Returns an error if the path exists, its folder does not exist, the disk is full, or the identity is
    /// too long. No file is then left behind.
    pub fn create(path: &Path, identity: &str, properties: impl Into<NewImage>) -> Result<Image, ImageError> {
        let file = Arc::new(disk::create(path).map_err(|problem| ImageError::new(path, problem))?);
        let created = Image::create_on(file.clone(), path, identity, properties, JOURNAL_BYTES);
        let synced = created.and_then(|image| match disk::sync_folder(path) {
            Ok(()) => Ok(image),
            Err(error) => Err(ImageError::new(path, Problem::io("syncing its folder", &error))),
        });
        synced.inspect_err(|_| disk::discard(path, &file))
    }

    /// Opens the image of the device with this identity and geometry without changing the file.
    ///
    /// Returns an error if the image does not exist, is locked, belongs to another device, has another
    /// format, is truncated, or is damaged.
    pub fn open(path: &Path, identity: &str, geometry: Geometry) -> Result<Opened, ImageError> {
        let file = disk::open(path).map_err(|problem| ImageError::new(path, problem))?;
        Image::open_on(Arc::new(file), path, identity, geometry)
    }

    /// Like [`Image::open`], but read-only. The file may be write-protected and is not changed. Programmed
    /// pages stay in memory, and no record can be appended.
    ///
    /// Returns the same errors as [`Image::open`].
    pub fn open_to_read(path: &Path, identity: &str, geometry: Geometry) -> Result<Opened, ImageError> {
        let file = disk::open_locked_read_only(path).map_err(|problem| ImageError::new(path, problem))?;
        let opened = Image::open_on(Arc::new(file), path, identity, geometry)?;
        {
            let mut held = opened.image.hold();
            (held.is_read_only, held.buffers) = (true, Buffers::of_read_only());
        }
        Ok(opened)
    }

    /// Opens the image, or creates it if the path does not exist or is an empty file. Links to existing
    /// images are followed, but no image is created through a link.
    ///
    /// Returns the same errors as [`Image::open`] and [`Image::create`].
    pub fn open_or_create(
        path: &Path,
        identity: &str,
        properties: impl Into<NewImage>,
    ) -> Result<Opened, ImageError> {
        let properties = properties.into();
        let image = match Image::open(path, identity, properties.geometry) {
            Err(ImageError { problem: Problem::Missing, .. }) => Image::create(path, identity, properties)?,
            Err(ImageError { problem: Problem::Unfinished, .. })
                if path.metadata().is_ok_and(|file| file.len() == 0) =>
            {
                let file = disk::open_empty(path).map_err(|problem| ImageError::new(path, problem))?;
                let file = Arc::new(file);
                let created = Image::create_on(file.clone(), path, identity, properties, JOURNAL_BYTES);
                created.inspect_err(|_| {
                    // The file is emptied again, if possible. The original error is reported in any case.
                    let _ = file.set_len(0);
                })?
            }
            opened => return opened,
        };
        Ok(Opened { image, state: None, records: Records::default(), torn: false })
    }

    /// Returns the geometry and the identity of the device in the image at `path`. Another process may have
    /// the image open.
    ///
    /// Returns an error if the image does not exist, has another format, or is damaged.
    pub fn inspect(path: &Path) -> Result<(Geometry, String), ImageError> {
        let superblock = disk::open_read_only(path).and_then(|file| superblock::read(&file));
        let superblock = superblock.map_err(|problem| ImageError::new(path, problem))?;
        Ok((superblock.geometry, superblock.identity))
    }

    /// Like [`Image::create`], but on an empty `disk`, and with a journal of `journal_bytes`. Error
    /// messages contain `path`.
    ///
    /// Returns an error if the disk is full or fails, or the identity is too long.
    pub fn create_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        identity: &str,
        properties: impl Into<NewImage>,
        journal_bytes: u64,
    ) -> Result<Image, ImageError> {
        let NewImage { geometry, page_checksums: has_checksums } = properties.into();
        let (found, limit) = (identity.len(), IDENTITY_BYTES);
        if found > limit {
            return Err(ImageError::new(path, Problem::IdentityTooLong { found, limit }));
        }
        let superblock = Superblock {
            generation: 1,
            journal_generation: 1,
            journal_bytes,
            geometry,
            has_checksums,
            checkpoint: None,
            identity: identity.into(),
        };
        let raw_end = superblock.raw_end();
        let held = Held::new(path, superblock.clone(), Extents::new(geometry, raw_end, has_checksums));
        let image = Image { path: path.to_path_buf(), disk, held: Arc::new(Mutex::new(held)) };
        // From its creation, the file includes the journal and the raw bytes, so that truncation is detected.
        let sized = image.disk.set_length(raw_end);
        sized.map_err(|error| ImageError::new(path, Problem::io("creating it", &error)))?;
        image.write_superblocks(&mut image.hold(), superblock)?;
        Ok(image)
    }

    /// Like [`Image::open`], but on a `disk`.
    ///
    /// Returns the same errors as [`Image::open`].
    pub fn open_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        identity: &str,
        geometry: Geometry,
    ) -> Result<Opened, ImageError> {
        let opened = load(&*disk, path, identity, geometry);
        let (held, state, found) = opened.map_err(|problem| ImageError::new(path, problem))?;
        let image = Image { path: path.to_path_buf(), disk, held: Arc::new(Mutex::new(held)) };
        Ok(Opened { image, state, records: found.records, torn: found.torn })
    }
}

/// Checks the whole image and returns its state and its journal records.
fn load(
    disk: &dyn Disk,
    path: &Path,
    identity: &str,
    geometry: Geometry,
) -> Result<(Held, Option<Vec<u8>>, journal::Contents), Problem> {
    let superblock = superblock::read(disk)?;
    match (superblock.geometry.raw_bytes > 0, geometry.raw_bytes > 0) {
        (false, true) => return Err(Problem::HoldsDevice),
        (true, false) => return Err(Problem::HoldsRawBytes),
        _ => {}
    }
    let differences = differences(
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
    reaches(superblock.raw_end())?;
    let mut extents = Extents::new(geometry, superblock.raw_end(), superblock.has_checksums);
    let mut state = None;
    if let Some(checkpoint) = superblock.checkpoint {
        reaches(checkpoint.end())?;
        state = Some(load_checkpoint(disk, &checkpoint, &mut extents)?);
        reaches(extents.needed_length())?;
    }
    let found = journal::read(disk, &superblock)?;
    let mut held = Held::new(path, superblock, extents);
    held.journal_bytes = found.bytes;
    Ok((held, state, found))
}

/// Reads the table and the state from the first intact copy of the checkpoint. Passes the table to
/// `extents` and returns the state.
pub(crate) fn load_checkpoint(
    disk: &dyn Disk,
    checkpoint: &Checkpoint,
    extents: &mut Extents,
) -> Result<Vec<u8>, Problem> {
    let [first, second] = checkpoint.offsets;
    let read = read_copy(disk, checkpoint, first);
    let mut bytes = read.or_else(|problem| read_copy(disk, checkpoint, second).map_err(|_| problem))?;
    let state = bytes.split_off(checkpoint.table_bytes as usize);
    for offset in checkpoint.offsets {
        if !extents.space.claim(offset, checkpoint.bytes()) {
            return Err(damaged(
                offset,
                "an offset after the journal".into(),
                "an offset before its end".into(),
            ));
        }
    }
    extents.decode(&bytes).map_err(|error| extents::damaged(first, error))?;
    Ok(state)
}

/// Reads the table and the state from the copy at `offset`. Returns an error if the copy is damaged.
pub(crate) fn read_copy(disk: &dyn Disk, checkpoint: &Checkpoint, offset: u64) -> Result<Vec<u8>, Problem> {
    let mut bytes = vec![0; checkpoint.bytes() as usize];
    let read = disk.read_at(offset, &mut bytes);
    read.map_err(|error| Problem::io("reading its checkpoint", &error))?;
    let (expected, found) = (checkpoint.checksum, crc32fast::hash(&bytes));
    match found == expected {
        true => Ok(bytes),
        false => Err(damaged(offset, format!("checksum {expected:08x}"), format!("{found:08x}"))),
    }
}

fn damaged(at: u64, expected: String, found: String) -> Problem {
    Problem::Damaged { part: "the checkpoint", at, expected, found }
}
