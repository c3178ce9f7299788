//! Finding the end of a journal, and telling what was torn from what is damaged.

use super::header::fill;
use super::journal::{ENTRY_BYTES, Entry, What};
use super::problem::Problem;
use super::{DATA, journal_at};
use nacre_kernel::Op;
use std::fs::File;
use std::io;

/// Entries read at a time.
const TOGETHER: usize = 1 << 16;
/// What the system writes to the disk at a time: after a loss of power such a part of the file may be missing.
const PAGE: u64 = 4096;

/// A journal as it was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its good entries.
    pub(crate) entries: u64,
    /// Bytes after them that are to be cut.
    pub(crate) torn: u64,
}

/// Reads the journal of `file`, which is `length` long, for a device of `bytes`. Errors: an entry is damaged.
///
/// What follows the last good entry was torn when a server or a machine was stopped. When a machine loses its
/// power, whole pages that were not synced may be missing (zeroes) before others that are there: this is torn too,
/// unless a flush behind says that they were on the disk. Anything else between good entries is damage.
pub(crate) fn scan(file: &File, bytes: u64, length: u64) -> Result<Found, Problem> {
    let start = journal_at(bytes);
    let mut state = Scan { first_bad: None, is_unwritten: true, is_followed: false, synced: 0 };
    let mut entries = 0;
    each(file, start, (length - start) / ENTRY_BYTES as u64, &mut |number, bytes| {
        match Entry::decode(number, bytes) {
            Some(entry) => {
                entries += u64::from(state.first_bad.is_none());
                state.good(&entry);
            }
            None => {
                state.first_bad.get_or_insert(number);
                let at = start + number * ENTRY_BYTES as u64;
                state.is_unwritten = state.is_unwritten
                    && (is_missing(file, at)? || is_missing(file, at + ENTRY_BYTES as u64 - 1)?);
            }
        }
        Ok(())
    })?;
    let end = start + entries * ENTRY_BYTES as u64;
    match state.first_bad {
        Some(entry) if state.is_followed && (!state.is_unwritten || state.synced > entry) => {
            Err(Problem::JournalDamaged { entry, at: end, bytes, data: DATA })
        }
        _ => Ok(Found { entries, torn: length - end }),
    }
}

struct Scan {
    first_bad: Option<u64>,
    /// Every bad entry touches a page of zeroes.
    is_unwritten: bool,
    /// A good entry follows a bad one.
    is_followed: bool,
    /// So many entries were on the disk once.
    synced: u64,
}

impl Scan {
    fn good(&mut self, entry: &Entry) {
        self.is_followed |= self.first_bad.is_some();
        if let What::Request { op: Op::Flush, .. } = entry.what {
            self.synced = self.synced.max(entry.address);
        }
    }
}

/// Whether the page of the file around byte `at` holds zeroes only.
fn is_missing(file: &File, at: u64) -> io::Result<bool> {
    let mut page = [0; PAGE as usize];
    let count = fill(file, &mut page, at / PAGE * PAGE)?;
    Ok(page[..count].iter().all(|&byte| byte == 0))
}

/// Is told the number and the bytes of an entry.
pub(crate) type Visit<'a> = dyn FnMut(u64, &[u8; ENTRY_BYTES]) -> Result<(), Problem> + 'a;

/// Calls `visit` with the number and the bytes of each of `count` entries, the first at byte `start`.
pub(crate) fn each(file: &File, start: u64, count: u64, visit: &mut Visit<'_>) -> Result<(), Problem> {
    let mut buffer = vec![0; TOGETHER.min(count as usize) * ENTRY_BYTES];
    let mut number = 0;
    while number < count {
        let part = (count - number).min(TOGETHER as u64) as usize * ENTRY_BYTES;
        let read = fill(file, &mut buffer[..part], start + number * ENTRY_BYTES as u64)?;
        if read < part {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        for entry in buffer[..part].chunks_exact(ENTRY_BYTES) {
            visit(number, entry.try_into().expect("of this size"))?;
            number += 1;
        }
    }
    Ok(())
}
