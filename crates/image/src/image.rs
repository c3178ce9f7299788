//! An open image: journal, extents of pages, and checkpoints.

use crate::buffers::{self, Buffers};
use crate::disk::{self, Disk};
use crate::error::{ImageError, Problem, is_full};
use crate::extents::{Extents, Programmed};
use crate::journal;
use crate::superblock::{Checkpoint, JOURNAL_START, SLOTS, Superblock};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

mod full;
mod opening;

pub use opening::{NewImage, Opened};
pub(crate) use opening::{load_checkpoint, read_copy};

/// Journal size of a new image, in bytes. A checkpoint is due when half of the journal is full. The other
/// half is for the last record before the checkpoint.
const JOURNAL_BYTES: u64 = 128 << 20;
/// Journal space in bytes that is reserved for short records when the disk is full, e.g. trims and ends of
/// transactions. These records need no other space. Additional space is reserved for a checkpoint and its
/// pages.
const SPARE_BYTES: u64 = 64 << 10;
/// Number of bytes of the journal that are preallocated, so that most records need no allocation.
const AHEAD_BYTES: u64 = 256 << 10;
/// Maximum size in bytes of a record that may use the reserved space.
const SHORT_BYTES: usize = 256;

/// The image of a device. Only this process has it open. Clones refer to the same image.
///
/// The lock on the file is held until the last clone and the last [`ImageStore`](crate::ImageStore) are
/// dropped.
#[derive(Clone, Debug)]
pub struct Image {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    held: Arc<Mutex<Held>>,
}

impl Image {
    /// Appends `record` to the journal. When this function returns, the record will be replayed even if the
    /// process is
    /// killed immediately.
    ///
    /// Returns an error if the disk is full and the record was not appended, or the disk fails or has
    /// failed earlier.
    ///
    /// # Panics
    ///
    /// If the record is longer than [`Image::longest_record`], or [`Image::wants_checkpoint`] was ignored
    /// until the journal is full.
    pub fn append(&self, record: &[u8]) -> Result<(), ImageError> {
        assert!(record.len() <= self.longest_record(), "a record of {} bytes is too long", record.len());
        assert!(!record.is_empty(), "an empty record is a mark");
        let mut held = self.hold();
        held.check()?;
        if held.is_read_only {
            return Err(ImageError::new(&self.path, Problem::OpenedToRead));
        }
        if !held.appending {
            self.forget_torn_head(&mut held)?;
            let generation = held.superblock.generation + 1;
            let superblock = Superblock { generation, ..held.superblock.clone() };
            self.write_superblocks(&mut held, superblock)?;
        }
        let Held { superblock, buffer, journal_bytes, synced, .. } = &mut *held;
        let at = *journal_bytes;
        buffer.clear();
        let position = journal::Position { generation: superblock.generation, at, synced: *synced };
        journal::encode(position, record, buffer);
        let end = at + buffer.len() as u64;
        assert!(end <= superblock.journal_bytes, "the journal is full: a checkpoint was due");
        let written = self.reserve(&mut held, end, record.len());
        let written = written.and_then(|()| self.disk.write_at(JOURNAL_START + at, &held.buffer));
        match written {
            Ok(()) => {
                (held.journal_bytes, held.marked) = (end, held.synced);
                Ok(())
            }
            // The next record will overwrite the partial record.
            Err(error) if is_full(&error) => {
                held.is_tight = true;
                Err(ImageError::new(&self.path, Problem::io("appending to its journal", &error)))
            }
            Err(error) => Err(held.fail("appending to its journal", &error)),
        }
    }

    /// Zeroes the head of a torn record at the position of the first record of this process. Otherwise, the
    /// torn record could become valid: its other sectors may be rewritten with equal content while the write
    /// of the head is lost.
    fn forget_torn_head(&self, held: &mut Held) -> Result<(), ImageError> {
        let mut head = [0; journal::HEAD_BYTES];
        let at = JOURNAL_START + held.journal_bytes;
        let read =
            self.disk.read_at(at, &mut head).map_err(|error| held.fail("reading its journal", &error))?;
        if head[..read].iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        head.fill(0);
        let inside = head.len().min((held.superblock.journal_bytes - held.journal_bytes) as usize);
        self.disk.write_at(at, &head[..inside]).map_err(|error| held.fail("appending to its journal", &error))
    }

    /// Allocates disk space for the journal up to `end`, for a checkpoint, and for the pages that the record
    /// may write. `record` is the size of the record in bytes.
    fn reserve(&self, held: &mut Held, end: u64, record: usize) -> io::Result<()> {
        let (journal, is_short) = (held.superblock.journal_bytes, record <= SHORT_BYTES);
        let most = end + held.spare() + if is_short { 0 } else { record as u64 };
        if held.reserved >= journal.min(most) {
            return Ok(());
        }
        let mut reserve = |upto: u64| {
            self.disk.reserve(JOURNAL_START + held.reserved, upto - held.reserved)?;
            held.reserved = upto;
            Ok(())
        };
        match reserve(journal.min(most + AHEAD_BYTES)) {
            Err(error) if is_full(&error) => match reserve(journal.min(most)) {
                Err(error) if is_full(&error) && is_short && end <= held.reserved => Ok(()),
                reserved => reserved,
            },
            reserved => reserved,
        }
    }

    /// Returns the maximum size of a record for [`Image::append`], in bytes.
    pub fn longest_record(&self) -> usize {
        self.hold().superblock.journal_bytes as usize / 2 - 2 * (journal::HEAD_BYTES + journal::TAIL_BYTES)
    }

    /// Makes all appended records durable. A mark after the records states that they were synced, so that
    /// later damage of the file is detected. A power loss before the next sync may lose the mark.
    ///
    /// Returns an error if the disk is full or fails, or has failed earlier.
    pub fn sync(&self) -> Result<(), ImageError> {
        let (generation, bytes) = {
            let held = self.hold();
            held.check()?;
            (held.superblock.generation, held.journal_bytes)
        };
        // Other threads may append during the sync.
        self.disk.sync().map_err(|error| self.hold().fail("syncing it", &error))?;
        let mut held = self.hold();
        if held.superblock.generation != generation {
            return Ok(());
        }
        held.synced = held.synced.max(bytes);
        self.mark_synced(&mut held)
    }

    /// Appends an empty record that marks the synced position.
    fn mark_synced(&self, held: &mut Held) -> Result<(), ImageError> {
        let at = held.journal_bytes;
        if !held.appending || held.marked >= held.synced {
            return Ok(());
        }
        let position = journal::Position { generation: held.superblock.generation, at, synced: held.synced };
        held.buffer.clear();
        journal::encode(position, &[], &mut held.buffer);
        let end = at + held.buffer.len() as u64;
        let written = self.reserve(held, end, 0);
        match written.and_then(|()| self.disk.write_at(JOURNAL_START + at, &held.buffer)) {
            Ok(()) => {
                (held.journal_bytes, held.marked) = (end, end);
                Ok(())
            }
            // The durability guarantee does not depend on the mark. The next record overwrites it.
            Err(error) if is_full(&error) => Ok(()),
            Err(error) => Err(held.fail("appending to its journal", &error)),
        }
    }

    /// Returns whether the disk is full and pages wait in memory. In this case, the caller must not write.
    /// The next [`Image::checkpoint`] tries again to write the pages.
    pub fn is_full(&self) -> bool {
        let held = self.hold();
        held.buffers.is_waiting() && !held.is_read_only
    }

    /// Tries to write the pages that wait for space. Returns an error if the disk is still full or fails.
    pub fn retry(&self) -> Result<(), ImageError> {
        let mut held = self.hold();
        held.check()?;
        held.buffers.drain(&*self.disk).map_err(|error| held.fail_or_wait("writing pages", &error))
    }

    /// Returns whether the image is read-only.
    pub fn is_read_only(&self) -> bool {
        self.hold().is_read_only
    }

    /// Returns whether a checkpoint is due before the next record.
    pub fn wants_checkpoint(&self) -> bool {
        let held = self.hold();
        held.journal_bytes > held.superblock.journal_bytes / 2
    }

    /// Writes a checkpoint of `state` and the current pages, and empties the journal. The checkpoint is
    /// durable on return.
    ///
    /// Returns an error if the disk is full or fails, or has failed earlier. The last checkpoint and the
    /// journal then remain valid.
    pub fn checkpoint(&self, state: &[u8]) -> Result<(), ImageError> {
        let mut held = self.hold();
        held.check()?;
        if held.is_read_only {
            return Err(ImageError::new(&self.path, Problem::OpenedToRead));
        }
        let table = held.extents.encode();
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&table);
        checksum.update(state);
        let mut checkpoint = Checkpoint {
            offsets: [0; 2],
            table_bytes: table.len() as u64,
            state_bytes: state.len() as u64,
            checksum: checksum.finalize(),
        };
        checkpoint.offsets = [(); 2].map(|()| held.extents.space.take(checkpoint.bytes()));
        let write = |held: &mut Held| {
            held.buffers.drain(&*self.disk)?;
            for offset in checkpoint.offsets {
                self.disk.write_at(offset, &table)?;
                self.disk.write_at(offset + checkpoint.table_bytes, state)?;
            }
            self.disk.sync()
        };
        let mut written = write(&mut held);
        if written.as_ref().is_err_and(is_full) {
            written = self.make_room(&mut held, &checkpoint).and_then(|()| write(&mut held));
        }
        written.map_err(|error| {
            held.extents.give(&checkpoint);
            // A partly written checkpoint would remain allocated.
            if is_full(&error) {
                for offset in checkpoint.offsets {
                    let _ = self.disk.zero_at(offset, checkpoint.bytes(), false);
                }
                let _ = self.take_spare(&mut held);
            }
            held.fail_or_wait("writing a checkpoint", &error)
        })?;
        let generation = held.superblock.generation + 1;
        let superblock = Superblock {
            generation,
            journal_generation: generation,
            checkpoint: Some(checkpoint),
            ..held.superblock.clone()
        };
        let old = held.superblock.checkpoint;
        self.write_superblocks(&mut held, superblock)?;
        // Both superblocks refer to the new checkpoint, so the space of the old one is unused.
        (held.journal_bytes, held.synced, held.marked) = (0, 0, 0);
        held.extents.keep();
        if let Some(old) = old {
            held.extents.give(&old);
        }
        if std::mem::take(&mut held.is_tight) {
            let given = self.give_back(&mut held);
            given.map_err(|error| held.fail("releasing space", &error))?;
        }
        Ok(())
    }

    /// Returns the failure that stopped all writes, if any. An image store cannot return this failure, so
    /// code that reads pages must call this function before it uses the data.
    pub fn error(&self) -> Option<ImageError> {
        self.hold().check().err()
    }

    /// Returns the offset and size of the raw bytes in the file.
    pub(crate) fn raw_bytes(&self) -> (u64, u64) {
        let held = self.hold();
        (held.superblock.journal_end(), held.superblock.geometry.raw_bytes)
    }

    /// Removes the image's file, unless its path refers to another file. Used for a new image that is not
    /// needed.
    pub fn discard(&self) {
        if let Some(file) = self.disk.file() {
            disk::discard(&self.path, file);
        }
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    pub(crate) fn hold(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("no thread panics while it holds an image")
    }

    /// Writes both copies of the superblock. The second copy is written after the first is durable.
    fn write_superblocks(&self, held: &mut Held, superblock: Superblock) -> Result<(), ImageError> {
        let copy = superblock.encode();
        for slot in SLOTS {
            let written = self.disk.write_at(slot, &copy).and_then(|()| self.disk.sync());
            written.map_err(|error| held.fail("writing its superblock", &error))?;
        }
        (held.superblock, held.appending) = (superblock, true);
        // The sync included the whole file.
        held.synced = held.journal_bytes;
        Ok(())
    }
}

/// State shared by the clones of an image.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    /// Number of the process that opened the image.
    process: u32,
    superblock: Superblock,
    /// Whether this process has written its generation to the superblocks.
    appending: bool,
    is_read_only: bool,
    pub(crate) extents: Extents,
    pub(crate) buffers: Buffers,
    /// Number of bytes of records in the journal.
    journal_bytes: u64,
    /// Number of journal bytes that are synced.
    synced: u64,
    /// Number of journal bytes that are synced according to the marks in the journal.
    marked: u64,
    /// Number of journal bytes that are allocated.
    reserved: u64,
    /// Whether the disk has been full since the last checkpoint.
    is_tight: bool,
    error: Option<ImageError>,
    /// Buffer for a record, or for a page that is being copied.
    pub(crate) buffer: Vec<u8>,
}

impl Held {
    fn new(path: &Path, superblock: Superblock, extents: Extents) -> Held {
        Held {
            path: path.to_path_buf(),
            process: std::process::id(),
            superblock,
            appending: false,
            is_read_only: false,
            extents,
            buffers: Buffers::default(),
            journal_bytes: 0,
            synced: 0,
            marked: 0,
            reserved: 0,
            is_tight: false,
            error: None,
            buffer: Vec::new(),
        }
    }

    /// Returns the number of bytes to keep allocated after the end of the journal.
    fn spare(&self) -> u64 {
        spare_with(self.superblock.checkpoint)
    }

    /// Returns an error after an earlier failure, or if this process did not open the image.
    pub(crate) fn check(&self) -> Result<(), ImageError> {
        if std::process::id() != self.process {
            return Err(ImageError::new(&self.path, Problem::OtherProcess { by: self.process }));
        }
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Stops all writes, because the file may lack changes that the state in memory already has. Returns the
    /// error.
    pub(crate) fn fail(&mut self, doing: &'static str, error: &io::Error) -> ImageError {
        let failed = || ImageError::new(&self.path, Problem::io(doing, error));
        self.error.get_or_insert_with(failed).clone()
    }

    /// Reads part of a page. Returns an error if the disk failed, the file is truncated, or the page is
    /// damaged. After an error, all writes stop.
    pub(crate) fn read_page(
        &mut self,
        disk: &dyn Disk,
        found: Programmed,
        offset: usize,
        into: &mut [u8],
    ) -> Result<(), ImageError> {
        let page_bytes = self.extents.page_bytes();
        let Some(expected) = found.checksum else {
            return self.read_bytes(disk, found.offset + offset as u64, into);
        };
        if into.len() == page_bytes {
            self.read_bytes(disk, found.offset, into)?;
            return self.verify(found, expected, crc32fast::hash(into));
        }
        let mut page = std::mem::take(&mut self.buffer);
        page.resize(page_bytes, 0);
        let read = self.read_bytes(disk, found.offset, &mut page);
        let sum = crc32fast::hash(&page);
        into.copy_from_slice(&page[offset..offset + into.len()]);
        self.buffer = page;
        read.and_then(|()| self.verify(found, expected, sum))
    }

    /// Reads from the file, or from pages that wait to be written. A waiting page may be a copy of a damaged
    /// page.
    fn read_bytes(&mut self, disk: &dyn Disk, offset: u64, into: &mut [u8]) -> Result<(), ImageError> {
        if self.buffers.read(offset, into) {
            return Ok(());
        }
        let read = disk.read_at(offset, into).and_then(|read| match read < into.len() {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(()),
        });
        read.map_err(|error| self.fail("reading a page", &error))
    }

    fn verify(&mut self, found: Programmed, expected: u32, sum: u32) -> Result<(), ImageError> {
        if sum == expected {
            return Ok(());
        }
        let problem = Problem::DamagedPage { page: found.page, at: found.offset, expected, found: sum };
        let failed = || ImageError::new(&self.path, problem);
        Err(self.error.get_or_insert_with(failed).clone())
    }

    /// Like [`Held::fail`], but permits retries if the disk is full.
    fn fail_or_wait(&mut self, doing: &'static str, error: &io::Error) -> ImageError {
        match is_full(error) {
            true => ImageError::new(&self.path, Problem::io(doing, error)),
            false => self.fail(doing, error),
        }
    }
}

/// Returns the number of bytes to allocate after the end of the journal: space for a next checkpoint as
/// large as `last`, and for the pages that wait when a full disk is detected.
fn spare_with(last: Option<Checkpoint>) -> u64 {
    SPARE_BYTES + buffers::RUN_BYTES as u64 + last.map_or(0, |last| last.room())
}
