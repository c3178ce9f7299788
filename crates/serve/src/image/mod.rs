//! The image of a served device: its bytes and its state, in one sparse file.
//!
//! | offset | what |
//! |---|---|
//! | 0 | header: which device this is |
//! | 512 KiB | the same again |
//! | 1 MiB | byte 0 of the device, and so on |
//! | behind them, at a multiple of 4 KiB | journal: what the device was asked, in entries of 24 bytes |
//!
//! Bytes and sums are in `docs/formats/nacre-served-image.md`, why it is so in `docs/decisions/0013-served-device.md`.
//!
//! A write and its entry reach the page cache of the system before the answer leaves, so a kill loses nothing; a
//! flush waits for the disk. Trimmed bytes give their room back where the file system can.
//!
//! Opening changes nothing before everything was found good and the journal was played back. Then what a kill left
//! half done is finished: a torn end of the journal is cut off, a damaged copy of the header written anew, a power
//! failure carried out.

mod fresh;
mod header;
mod journal;
mod outage;
mod problem;
mod scan;
mod snapshot;

pub use problem::{ImageError, Problem};

pub(crate) use journal::{Entry, Journal, What};
#[cfg(test)]
pub(crate) use outage::encode as outage_bytes;

use crate::undo::{Old, Piece};
use fresh::{Fresh, lock};
use header::Header;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where the bytes of the device begin.
pub(crate) const DATA: u64 = 1 << 20;
/// Long writes are made in parts: a file system keeps what is written at once as one piece of its cache, and each
/// later write into a piece costs time in proportion to the piece's length.
const PART_BYTES: usize = 32 << 10;
/// What the journal begins at a multiple of.
const ALIGNMENT: u64 = 4096;
/// Bytes of the device up to so many are read without looking for holes.
const SHORT: u64 = 64 << 10;

/// What is to be in an image.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Bytes of the device.
    pub bytes: u64,
    /// The scenario.
    pub name: &'a str,
    /// Lines `key = value` of everything that decides how the device behaves.
    pub identity: &'a str,
    /// Nothing is changed, and nothing can be.
    pub read_only: bool,
}

/// An open image. One process holds it at a time.
#[derive(Debug)]
pub struct Image {
    file: File,
    path: PathBuf,
    bytes: u64,
    read_only: bool,
    journal: Journal,
    found: Found,
    /// What is on the disk is not known any more.
    is_broken: AtomicBool,
    /// Whether the file system zeroes a range and keeps its room.
    zeroes_fast: OnceLock<bool>,
}

/// What opening found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Entries of the journal that count.
    pub entries: u64,
    /// Bytes behind them that were torn.
    pub torn: u64,
    /// Whether a copy of the header is damaged.
    pub header_torn: bool,
}

impl Image {
    /// Opens the image at `path`, or makes it where there is none. What was torn is still there:
    /// [`Image::mend`] cuts it off.
    pub fn open(path: &Path, wanted: &Wanted<'_>) -> Result<Image, ImageError> {
        Image::open_or_make(path, wanted).map_err(|problem| ImageError::new(path, problem))
    }

    fn open_or_make(path: &Path, wanted: &Wanted<'_>) -> Result<Image, Problem> {
        if wanted.bytes >= journal::ADDRESS_END {
            return Err(Problem::TooLarge(wanted.bytes));
        }
        match path.metadata() {
            // A pipe would wait for its other end.
            Ok(there) if !there.is_file() => return Err(Problem::NotAnImage),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Image::make(path, wanted, false),
            Err(error) => return Err(error.into()),
        }
        let file = OpenOptions::new().read(true).write(!wanted.read_only).open(path)?;
        lock(&file)?;
        let length = file.metadata()?.len();
        if length == 0 {
            // Through a link the file is made where it leads, and the link stays.
            let image = Image::make(&path.canonicalize()?, wanted, true)?;
            return Ok(Image { path: path.to_path_buf(), ..image });
        }
        let found = check(&file, length, wanted)?;
        Ok(Image::new(file, path, wanted, found))
    }

    fn make(path: &Path, wanted: &Wanted<'_>, replaces: bool) -> Result<Image, Problem> {
        if wanted.read_only {
            return Err(Problem::Missing);
        }
        let header =
            Header { bytes: wanted.bytes, name: wanted.name.into(), identity: wanted.identity.into() };
        let fresh = Fresh::begin(path)?;
        let written = header.write(&fresh.file);
        let written = written.and_then(|()| Ok(fresh.file.set_len(journal_at(wanted.bytes))?));
        if let Err(problem) = written {
            fresh.give_up();
            return Err(problem);
        }
        let file = fresh.publish(replaces)?;
        Ok(Image::new(file, path, wanted, Found::default()))
    }

    fn new(file: File, path: &Path, wanted: &Wanted<'_>, found: Found) -> Image {
        Image {
            file,
            path: path.to_path_buf(),
            bytes: wanted.bytes,
            read_only: wanted.read_only,
            journal: Journal::new(found.entries),
            found,
            is_broken: AtomicBool::new(false),
            zeroes_fast: OnceLock::new(),
        }
    }

    /// What opening found.
    pub fn found(&self) -> Found {
        self.found
    }

    /// Whether nothing can be changed.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Whether `path` names its file, whatever links lead there.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        path.metadata().is_ok_and(|there| {
            self.file.metadata().is_ok_and(|held| (held.dev(), held.ino()) == (there.dev(), there.ino()))
        })
    }

    /// Calls `visit` with every entry of the journal that was there when it was opened.
    pub(crate) fn entries(
        &self,
        visit: &mut dyn FnMut(u64, Entry) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        scan::each(&self.file, journal_at(self.bytes), self.found.entries, &mut |number, bytes| {
            let unfit = Problem::JournalUnfit { entry: number, detail: "it is of an unknown kind" };
            visit(number, Entry::parse(bytes).ok_or(unfit)?)
        })
    }

    /// Finishes what a kill left half done. `last` is the last entry of the journal.
    pub(crate) fn mend(&self, header: &Wanted<'_>, last: Option<Entry>) -> Result<(), Problem> {
        let number = self.found.entries.checked_sub(1);
        let failed = last.filter(|last| last.what == What::PowerFailure).and(number);
        let pending = outage::pending(&self.path, failed);
        if self.read_only {
            let is_pending = pending.is_ok_and(|pieces| pieces.is_some());
            return if is_pending { Err(Problem::Interrupted) } else { Ok(()) };
        }
        let pending = pending?;
        if self.found.header_torn {
            let Wanted { bytes, name, identity, .. } = *header;
            Header { bytes, name: name.into(), identity: identity.into() }.write(&self.file)?;
        }
        if self.found.torn > 0 {
            self.file.set_len(journal_at(self.bytes) + self.found.entries * journal::ENTRY_BYTES as u64)?;
        }
        outage::complete(self, pending.as_deref())?;
        self.sync()?;
        Ok(())
    }

    /// Adds an entry to the journal; [`Image::commit`] writes it.
    pub(crate) fn push(&self, entry: Entry) {
        self.journal.push(entry);
    }

    /// What was pushed is in the file when this returns. Returns how many entries there are.
    pub(crate) fn commit(&self) -> io::Result<u64> {
        let start = journal_at(self.bytes);
        self.journal.commit(|at, bytes| self.write_at(start + at, bytes))
    }

    /// Writes what could not be written before, if there is any.
    pub(crate) fn catch_up(&self) -> io::Result<()> {
        if self.journal.is_behind() { self.commit().map(|_| ()) } else { Ok(()) }
    }

    /// Reads bytes of the device.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.check_sound()?;
        self.file.read_exact_at(into, DATA + offset)
    }

    /// Writes bytes of the device.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut parts = (DATA + offset..).step_by(PART_BYTES).zip(bytes.chunks(PART_BYTES));
        parts.try_for_each(|(at, part)| self.write_at(at, part))
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.check_sound()?;
        self.file.write_all_at(bytes, at)
    }

    /// From `offset` on, `length` bytes read as zeroes. They keep no room unless `keeps_room`.
    pub fn zero(&self, offset: u64, length: u64, keeps_room: bool) -> io::Result<()> {
        self.check_sound()?;
        let flags = if keeps_room { FallocateFlags::ZERO_RANGE } else { FallocateFlags::PUNCH_HOLE };
        match fallocate(&self.file, flags | FallocateFlags::KEEP_SIZE, DATA + offset, length) {
            Ok(()) => Ok(()),
            // The file system has no such thing: zeroes are written.
            Err(rustix::io::Errno::OPNOTSUPP) => self.write_zeroes(offset, length),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether [`Image::zero`] takes no longer for many bytes than for few: the file system does it.
    pub(crate) fn zeroes_fast(&self, keeps_room: bool) -> bool {
        if !keeps_room {
            // Every file system with sparse files has it, and an image is one.
            return true;
        }
        *self.zeroes_fast.get_or_init(|| {
            let flags = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
            fallocate(&self.file, flags, header::UNUSED, header::UNUSED_BYTES).is_ok()
        })
    }

    fn write_zeroes(&self, offset: u64, length: u64) -> io::Result<()> {
        static ZEROES: [u8; 64 << 10] = [0; 64 << 10];
        let mut at = 0;
        while at < length {
            let count = (length - at).min(ZEROES.len() as u64);
            self.write(offset + at, &ZEROES[..count as usize])?;
            at += count;
        }
        Ok(())
    }

    /// Everything written, entries included, is on the disk when this returns. After a failure nothing more is
    /// done: what is on the disk is not known then.
    pub fn sync(&self) -> io::Result<()> {
        let entries = self.commit()?;
        self.check_sound()?;
        self.file.sync_data().inspect_err(|_| self.give_up())?;
        self.journal.synced(entries);
        Ok(())
    }

    /// The image is used no more by this process; opening it again finds everything acknowledged.
    fn give_up(&self) {
        self.is_broken.store(true, Ordering::Release);
    }

    fn check_sound(&self) -> io::Result<()> {
        if self.is_broken.load(Ordering::Acquire) {
            return Err(io::Error::other("the image failed before; serve it anew"));
        }
        Ok(())
    }

    /// Whether the bytes at `offset` are stored, and how many from there on, `length` at most, are the same.
    pub fn stored(&self, offset: u64, length: u64) -> io::Result<(bool, u64)> {
        let from = DATA + offset;
        let upto = |end: u64| (end.saturating_sub(from)).clamp(1, length);
        let data = match seek(&self.file, SeekFrom::Data(from)) {
            Ok(data) => data,
            // Nothing is stored from there to the end.
            Err(rustix::io::Errno::NXIO) => return Ok((false, length)),
            Err(error) => return Err(error.into()),
        };
        if data > from {
            return Ok((false, upto(data)));
        }
        let hole = seek(&self.file, SeekFrom::Hole(from)).map_err(io::Error::from)?;
        Ok((true, upto(hole)))
    }

    /// The bytes of a range as they are. `None` where more than `most` of them are stored.
    pub(crate) fn pieces(&self, offset: u64, length: u64, most: u64) -> io::Result<Option<Vec<Piece>>> {
        let (mut pieces, mut at, mut held) = (Vec::new(), offset, 0);
        while at < offset + length {
            let rest = offset + length - at;
            let (is_stored, count) = if length <= SHORT { (true, rest) } else { self.stored(at, rest)? };
            let old = if is_stored {
                held += count;
                if held > most {
                    return Ok(None);
                }
                let mut bytes = vec![0; count as usize];
                self.read(at, &mut bytes)?;
                Old::Bytes(bytes)
            } else {
                Old::Zeroes(count)
            };
            pieces.push(Piece { offset: at, old });
            at += count;
        }
        Ok(Some(pieces))
    }

    fn put_back(&self, piece: &Piece) -> io::Result<()> {
        match &piece.old {
            Old::Bytes(bytes) => self.write(piece.offset, bytes),
            Old::Zeroes(length) => self.zero(piece.offset, *length, false),
        }
    }
}

/// Where the journal of a device of `bytes` begins.
fn journal_at(bytes: u64) -> u64 {
    (DATA + bytes).next_multiple_of(ALIGNMENT)
}

/// Whether `file` is the image of what is wanted.
fn check(file: &File, length: u64, wanted: &Wanted<'_>) -> Result<Found, Problem> {
    let (header, is_whole) = Header::read(file)?;
    let differences = nacre_image::differences(&header.identity, wanted.identity);
    if !differences.is_empty() {
        return Err(Problem::OtherDevice { found: header.name, asked: wanted.name.into(), differences });
    }
    let (found, expected) = (header.bytes, wanted.bytes);
    if found != expected {
        return Err(Problem::OtherSize { found, expected });
    }
    let start = journal_at(found);
    if length < start {
        return Err(Problem::CutShort { found: length, expected: start });
    }
    let journal = scan::scan(file, found, length)?;
    Ok(Found { entries: journal.entries, torn: journal.torn, header_torn: !is_whole })
}
