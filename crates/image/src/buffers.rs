//! Pages on their way to and from the file, many at a time: a cleaner copies page after page.
//!
//! Pages may wait in memory, since the journal brings back what a kill takes from here. Whoever writes to the
//! file by another way calls [`Buffers::flush`] first, so that all writes keep their order.

use crate::disk::Disk;
use std::io;

/// Pages written at a time, bytes.
const RUN_BYTES: usize = 256 << 10;
/// Pages read ahead of a copy, bytes.
const AHEAD_BYTES: usize = 64 << 10;

/// Neighbouring bytes of the file.
#[derive(Debug, Default)]
struct Span {
    offset: u64,
    bytes: Vec<u8>,
}

impl Span {
    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// `length` bytes at `offset`, if the span has them.
    fn part(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let start = offset.checked_sub(self.offset)? as usize;
        self.bytes.get(start..start + length)
    }
}

/// What waits to be written, and what was read ahead.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Pages that follow each other in the file, not yet written.
    run: Span,
    /// As in the file.
    ahead: Span,
}

impl Buffers {
    /// Writes a page, soon. Errors: pages before it had to be written, and the disk failed.
    pub(crate) fn write(&mut self, disk: &dyn Disk, offset: u64, page: &[u8]) -> io::Result<()> {
        if offset != self.run.end() || self.run.bytes.len() >= RUN_BYTES {
            self.flush(disk)?;
            self.run.offset = offset;
        }
        self.run.bytes.extend_from_slice(page);
        Ok(())
    }

    /// Writes what waits. Errors: the disk failed.
    pub(crate) fn flush(&mut self, disk: &dyn Disk) -> io::Result<()> {
        if self.run.bytes.is_empty() {
            return Ok(());
        }
        if self.run.offset < self.ahead.end() && self.ahead.offset < self.run.end() {
            self.forget();
        }
        disk.write_at(self.run.offset, &self.run.bytes)?;
        self.run.bytes.clear();
        Ok(())
    }

    /// Forgets what was read ahead.
    pub(crate) fn forget(&mut self) {
        self.ahead.bytes.clear();
    }

    /// Reads a page or a part of one. Errors: the disk failed, or the file ends.
    pub(crate) fn read(&self, disk: &dyn Disk, offset: u64, into: &mut [u8]) -> io::Result<()> {
        match self.run.part(offset, into.len()) {
            Some(waiting) => into.copy_from_slice(waiting),
            None if disk.read_at(offset, into)? < into.len() => Err(io::ErrorKind::UnexpectedEof)?,
            None => {}
        }
        Ok(())
    }

    /// Reads the page at `from` and writes it at `to`. Errors: the disk failed, or the file ends.
    pub(crate) fn copy(&mut self, disk: &dyn Disk, from: u64, to: u64, page: &mut [u8]) -> io::Result<()> {
        if let Some(bytes) = self.run.part(from, page.len()).or_else(|| self.ahead.part(from, page.len())) {
            page.copy_from_slice(bytes);
        } else {
            self.ahead.bytes.resize(AHEAD_BYTES.max(page.len()), 0);
            self.ahead.offset = from;
            let read = disk.read_at(from, &mut self.ahead.bytes).inspect_err(|_| self.ahead.bytes.clear())?;
            self.ahead.bytes.truncate(read);
            page.copy_from_slice(self.ahead.part(from, page.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        }
        self.write(disk, to, page)
    }
}
