//! The bytes of a served device: a sparse file of a header and of the data as it is.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `NACREBLK` |
//! | 8 | 4 | version of the format, little-endian like all numbers |
//! | 12 | 4 | CRC-32 of the header but for these four bytes |
//! | 16 | 8 | bytes of the device |
//! | 24 | 4072 | zeroes |
//! | 1 MiB | | byte 0 of the device, and so on |
//!
//! A write reaches the page cache of the system before it is answered, so a kill loses nothing; a flush waits for
//! the disk. Trimmed bytes give their room back where the file system can.

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"NACREBLK";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 4096;
const DATA: u64 = 1 << 20;
/// Long writes are made in parts: a file system keeps what is written at once as one piece of its cache, and each
/// later write into a piece costs time in proportion to the piece's length.
const PART_BYTES: usize = 32 << 10;

/// An open image. One process holds it at a time.
#[derive(Debug)]
pub struct Image {
    file: File,
    bytes: u64,
}

/// An image that cannot be used. Finding out changed nothing in it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct ImageError {
    /// The image.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with an image, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Another process has it.
    #[error("another process has it open, and only one may; end that one first")]
    Locked,
    /// Something else.
    #[error("it is not the image of a served device; name another file, or one that is not there yet")]
    NotAnImage,
    /// Of another version.
    #[error("its format is version {0}, and this Nacre knows version {VERSION}; use the Nacre it is from")]
    OtherVersion(u32),
    /// The header is damaged or cut short.
    #[error("its header is damaged; restore it from a copy")]
    Damaged,
    /// Of a device of another size.
    #[error(
        "it holds a device of {found} bytes, and the scenario describes one of {expected}; use the scenario it was made for, or another image"
    )]
    OtherSize {
        /// Of the image.
        found: u64,
        /// Of the scenario.
        expected: u64,
    },
    /// The file is shorter than the device.
    #[error("it is cut short: {found} of {expected} bytes are there; restore it from a copy")]
    CutShort {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be.
        expected: u64,
    },
    /// The system refuses.
    #[error("{0}")]
    System(io::Error),
}

impl Image {
    /// Opens the image at `path` for a device of `bytes`, or makes it where there is none.
    pub fn open(path: &Path, bytes: u64) -> Result<Image, ImageError> {
        let wrong = |problem| ImageError { path: path.to_path_buf(), problem };
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(|error| wrong(Problem::System(error)))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(wrong(Problem::Locked)),
            Err(TryLockError::Error(error)) => return Err(wrong(Problem::System(error))),
        }
        let metadata = file.metadata().map_err(|error| wrong(Problem::System(error)))?;
        if !metadata.is_file() {
            return Err(wrong(Problem::NotAnImage));
        }
        let image = Image { file, bytes };
        if metadata.len() == 0 {
            image.create().map_err(|error| wrong(Problem::System(error)))?;
        } else {
            image.check(metadata.len()).map_err(wrong)?;
        }
        Ok(image)
    }

    fn create(&self) -> io::Result<()> {
        self.file.set_len(DATA + self.bytes)?;
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[16..24].copy_from_slice(&self.bytes.to_le_bytes());
        let sum = checksum(&header).to_le_bytes();
        header[12..16].copy_from_slice(&sum);
        self.file.write_all_at(&header, 0)?;
        self.file.sync_all()
    }

    fn check(&self, length: u64) -> Result<(), Problem> {
        let mut header = [0; HEADER_BYTES];
        let head = self.file.read_at(&mut header, 0).map_err(Problem::System)?;
        if head < 16 || header[..8] != *MAGIC {
            return Err(Problem::NotAnImage);
        }
        let number = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        if number(8) != VERSION {
            return Err(Problem::OtherVersion(number(8)));
        }
        if head < HEADER_BYTES || number(12) != checksum(&header) {
            return Err(Problem::Damaged);
        }
        let found = u64::from_le_bytes(header[16..24].try_into().expect("eight bytes"));
        if found != self.bytes {
            return Err(Problem::OtherSize { found, expected: self.bytes });
        }
        if length < DATA + found {
            return Err(Problem::CutShort { found: length, expected: DATA + found });
        }
        Ok(())
    }

    /// Reads bytes of the device.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, DATA + offset)
    }

    /// Writes bytes of the device.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let parts = (DATA + offset..).step_by(PART_BYTES).zip(bytes.chunks(PART_BYTES));
        parts.map(|(at, part)| self.file.write_all_at(part, at)).collect()
    }

    /// From `offset` on, `length` bytes read as zeroes. They keep no room unless `keeps_room`.
    pub fn zero(&self, offset: u64, length: u64, keeps_room: bool) -> io::Result<()> {
        let flags = if keeps_room { FallocateFlags::ZERO_RANGE } else { FallocateFlags::PUNCH_HOLE };
        match fallocate(&self.file, flags | FallocateFlags::KEEP_SIZE, DATA + offset, length) {
            Ok(()) => Ok(()),
            // The file system has no such thing: zeroes are written.
            Err(rustix::io::Errno::OPNOTSUPP) => self.write_zeroes(offset, length),
            Err(error) => Err(error.into()),
        }
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

    /// Everything written is on the disk when this returns.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
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
}

/// CRC-32 of a header but for its own place.
fn checksum(header: &[u8; HEADER_BYTES]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&header[..12]);
    sum.update(&header[16..]);
    sum.finalize()
}
