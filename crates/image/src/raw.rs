//! Raw bytes of an image by host address, for an image without a modeled device.
//!
//! Raw bytes are not journaled. When a write returns, its data is in the page cache of the operating
//! system, which survives the end of the process. [`Image::sync`] makes the data durable. A trim frees the
//! space of its range if the file system supports that.

use crate::disk::Disk;
use crate::image::Image;
use crate::space::{UNIT_BYTES, units};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of bytes per write. Longer writes are divided, because a file system caches each write as
/// one unit, and a later write to a part of the unit takes time in proportion to the length of the unit.
const PART_BYTES: usize = 8 << 10;
/// Zeros for a write of at most [`PART_BYTES`] bytes.
static ZEROES: [u8; PART_BYTES] = [0; PART_BYTES];

/// Raw bytes of an image.
#[derive(Debug)]
pub struct Raw {
    image: Image,
    /// Offset of the raw bytes in the file.
    start: u64,
    bytes: u64,
    /// Whether the content of the disk is unknown because a sync has failed.
    is_broken: AtomicBool,
    /// Whether the file system can zero a range without deallocating it.
    zeroes_fast: OnceLock<bool>,
}

impl Image {
    /// Returns access to the raw bytes of an image that has no modeled device.
    pub fn raw(&self) -> Raw {
        let (start, bytes) = self.raw_bytes();
        let (is_broken, zeroes_fast) = (AtomicBool::new(false), OnceLock::new());
        Raw { image: self.clone(), start, bytes, is_broken, zeroes_fast }
    }
}

impl Raw {
    /// Returns the number of raw bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads bytes, starting at `offset`.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        match self.disk()?.read_at(self.start + offset, into)? < into.len() {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(()),
        }
    }

    /// Writes bytes, starting at `offset`.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let disk = self.disk()?;
        let mut parts = (self.start + offset..).step_by(PART_BYTES).zip(bytes.chunks(PART_BYTES));
        parts.try_for_each(|(at, part)| disk.write_at(at, part))
    }

    /// Zeroes `length` bytes at `offset`. Deallocates the range unless `keeps_room` is set.
    pub fn zero(&self, offset: u64, length: u64, keeps_room: bool) -> io::Result<()> {
        match self.disk()?.zero_at(self.start + offset, length, keeps_room)? {
            true => Ok(()),
            // The file system does not support zeroing, so zeros are written.
            false => self.write_zeroes(offset, length),
        }
    }

    /// Returns whether [`Raw::zero`] takes constant time, because the file system performs it.
    pub fn zeroes_fast(&self, keeps_room: bool) -> bool {
        if !keeps_room {
            // Every file system with sparse files can deallocate a range, and an image is sparse.
            return true;
        }
        *self.zeroes_fast.get_or_init(|| {
            // The unit after the raw bytes is always zero, so this test may zero it.
            let behind = self.start + units(self.bytes);
            self.disk().is_ok_and(|disk| disk.zero_at(behind, UNIT_BYTES, true).is_ok_and(|is_done| is_done))
        })
    }

    /// Returns whether the bytes at `offset` are allocated, and the length of the range for which this
    /// holds, at most `length`.
    pub fn stored(&self, offset: u64, length: u64) -> io::Result<(bool, u64)> {
        let (file, from) = (self.file()?, self.start + offset);
        let upto = |end: u64| (end.saturating_sub(from)).clamp(1, length);
        let data = match seek(file, SeekFrom::Data(from)) {
            Ok(data) => data,
            // No byte from `offset` to the end of the file is allocated.
            Err(Errno::NXIO) => return Ok((false, length)),
            Err(error) => return Err(error.into()),
        };
        if data > from {
            return Ok((false, upto(data)));
        }
        let hole = seek(file, SeekFrom::Hole(from)).map_err(io::Error::from)?;
        Ok((true, upto(hole)))
    }

    /// Makes all writes durable. After a failure, all operations fail.
    pub fn sync(&self) -> io::Result<()> {
        self.disk()?;
        self.image.sync().map_err(|error| {
            self.is_broken.store(true, Ordering::Release);
            io::Error::other(error)
        })
    }

    fn write_zeroes(&self, offset: u64, length: u64) -> io::Result<()> {
        let mut at = 0;
        while at < length {
            let count = (length - at).min(ZEROES.len() as u64);
            self.write(offset + at, &ZEROES[..count as usize])?;
            at += count;
        }
        Ok(())
    }

    fn file(&self) -> io::Result<&File> {
        self.disk()?.file().ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    fn disk(&self) -> io::Result<&dyn Disk> {
        if self.is_broken.load(Ordering::Acquire) {
            return Err(io::Error::other("the image failed before; serve it again"));
        }
        Ok(self.image.disk())
    }
}
