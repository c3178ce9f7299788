//! Write and read-ahead buffers for pages of the file. The buffers combine accesses to adjacent pages,
//! which are frequent because garbage collection copies many adjacent pages.
//!
//! Pages may wait in memory, because the journal restores them after a kill. Other code that writes to the
//! file first calls [`Buffers::flush`], so that all writes keep their order.
//!
//! If the disk is full or the file is read-only, pages stay in memory. The journal limits their number.

use crate::disk::Disk;
use crate::error::is_full;
use crate::space::units;
use std::collections::BTreeMap;
use std::io;

/// Maximum size in bytes of one write of adjacent pages.
pub(crate) const RUN_BYTES: usize = 256 << 10;
/// Number of bytes that are read ahead when pages are copied.
const AHEAD_BYTES: usize = 64 << 10;

/// Adjacent bytes of the file, starting at an offset.
#[derive(Debug, Default)]
struct Span {
    offset: u64,
    bytes: Vec<u8>,
}

impl Span {
    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Returns the `length` bytes at `offset`, or `None` if they are not all in the span.
    fn part(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let start = offset.checked_sub(self.offset)? as usize;
        self.bytes.get(start..start + length)
    }
}

/// Pages that wait to be written, and pages that were read ahead.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Adjacent pages of the file that are not written yet.
    run: Span,
    /// Size of a page, in bytes.
    page_bytes: usize,
    /// Pages that were read ahead, with the content that they have in the file.
    ahead: Span,
    /// Pages that could not be written to the file, by location.
    waiting: BTreeMap<u64, Box<[u8]>>,
    /// Whether the file is read-only.
    is_shut: bool,
}

impl Buffers {
    /// Creates buffers for a read-only file, whose changed pages all stay in memory.
    pub(crate) fn of_read_only() -> Buffers {
        Buffers { is_shut: true, ..Buffers::default() }
    }

    /// Returns whether pages wait for disk space.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Buffers a page for writing. Returns an error if earlier pages had to be written and the disk failed.
    pub(crate) fn write(&mut self, disk: &dyn Disk, offset: u64, page: &[u8]) -> io::Result<()> {
        if offset != self.run.end() || self.run.bytes.len() >= RUN_BYTES {
            self.flush(disk)?;
            self.run.offset = offset;
        }
        if !self.waiting.is_empty() {
            self.waiting.remove(&offset);
        }
        if self.is_shut {
            self.waiting.insert(offset, page.into());
        } else {
            self.page_bytes = page.len();
            self.run.bytes.extend_from_slice(page);
        }
        Ok(())
    }

    /// Writes buffered pages to the file. If the disk is full, they stay in memory. Returns an error if the
    /// disk failed.
    pub(crate) fn flush(&mut self, disk: &dyn Disk) -> io::Result<()> {
        if self.run.bytes.is_empty() {
            return Ok(());
        }
        if self.run.offset < self.ahead.end() && self.ahead.offset < self.run.end() {
            self.forget();
        }
        match disk.write_at(self.run.offset, &self.run.bytes) {
            Err(error) if is_full(&error) => {
                let pages = (self.run.offset..).step_by(self.page_bytes);
                let pages = pages.zip(self.run.bytes.chunks(self.page_bytes).map(Box::from));
                self.waiting.extend(pages);
            }
            written => written?,
        }
        self.run.bytes.clear();
        Ok(())
    }

    /// Writes all pages, including those that wait for disk space. Returns an error if the disk failed or
    /// is still full. Pages that were written no longer wait.
    pub(crate) fn drain(&mut self, disk: &dyn Disk) -> io::Result<()> {
        self.flush(disk)?;
        if self.is_waiting() {
            self.forget();
        }
        while let Some(page) = self.waiting.first_entry() {
            disk.write_at(*page.key(), page.get())?;
            page.remove();
        }
        Ok(())
    }

    /// Returns the maximum disk space that the waiting pages will take, in bytes.
    pub(crate) fn waiting_room(&self) -> u64 {
        self.waiting.values().map(|page| units(page.len() as u64)).sum()
    }

    /// Drops the waiting pages for whose locations `wanted` returns false.
    pub(crate) fn retain(&mut self, wanted: impl Fn(u64) -> bool) {
        self.waiting.retain(|&offset, _| wanted(offset));
    }

    /// Drops pages that were read ahead.
    pub(crate) fn forget(&mut self) {
        self.ahead.bytes.clear();
    }

    /// Reads a page, or part of one, that is not in the file yet. Returns false if the file has the page.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        let held = self.held(offset, into.len());
        held.map(|held| into.copy_from_slice(held)).is_some()
    }

    /// Reads the page at `from` and writes it at `to`. Returns an error if the disk failed, or the file
    /// ends.
    pub(crate) fn copy(&mut self, disk: &dyn Disk, from: u64, to: u64, page: &mut [u8]) -> io::Result<()> {
        if let Some(bytes) = self.held(from, page.len()).or_else(|| self.ahead.part(from, page.len())) {
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

    /// Returns the bytes at `offset`, within a page, or `None` if the file has them.
    fn held(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let waiting = || {
            let (&start, page) = self.waiting.range(..=offset).next_back()?;
            let start = (offset - start) as usize;
            page.get(start..start + length)
        };
        let run = self.run.part(offset, length);
        run.or_else(|| if self.is_waiting() { waiting() } else { None })
    }
}
