//! An in-memory file that logs its operations, to simulate kills and host power losses.

use crate::disk::Disk;
use nacre_kernel::Random;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

mod medium;

pub use crate::superblock::JOURNAL_START;
use medium::Landed;
pub use medium::{Harm, MediumFault};

/// Atomic unit of a disk write, in bytes.
const SECTOR: usize = 512;

/// An operation on a file, or a note that the user of the file added.
#[derive(Clone, Debug)]
pub enum Event<N> {
    /// The length of the file was set to this value.
    Length(u64),
    /// Bytes were written at this offset.
    Write(u64, Vec<u8>),
    /// The file was synced.
    Sync,
    /// The user of the file added a note.
    Noted(N),
}

/// A file in memory that logs its operations.
#[derive(Debug)]
pub struct Tape<N>(Mutex<Reel<N>>);

/// Content of a [`Tape`], and its injected faults.
#[derive(Debug)]
pub struct Reel<N> {
    /// Content of the file as visible to readers.
    pub bytes: Vec<u8>,
    /// Operations and notes in order.
    pub events: Vec<Event<N>>,
    /// Number of bytes that may still be written, or `None` if space is not limited.
    pub room: Option<usize>,
    /// If this is `Some(n)`, one in `n` writes is acknowledged but lost.
    pub loses_one_in: Option<u64>,
    /// Number of the write or sync that fails, counted from 1, or `None` if none fails.
    pub failing: Option<usize>,
    /// Number of writes and syncs so far.
    pub operations: usize,
}

/// Content of a file after the events of a tape were applied in order.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    /// Content of the file as visible to readers.
    pub bytes: Vec<u8>,
    /// Content at the last sync, and the writes after it.
    durable: Vec<u8>,
    pending: Vec<(u64, Vec<u8>)>,
    /// Parts of synced writes that no later write has changed.
    landed: Vec<Arc<Landed>>,
}

impl<N> Tape<N> {
    /// Creates a file with the content `bytes`.
    pub fn with(bytes: Vec<u8>) -> Tape<N> {
        let reel =
            Reel { bytes, events: Vec::new(), room: None, loses_one_in: None, failing: None, operations: 0 };
        Tape(Mutex::new(reel))
    }

    /// Returns the content of the tape.
    pub fn reel(&self) -> MutexGuard<'_, Reel<N>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a note.
    pub fn note(&self, note: N) {
        self.reel().events.push(Event::Noted(note));
    }
}

impl<N> Default for Tape<N> {
    fn default() -> Tape<N> {
        Tape::with(Vec::new())
    }
}

impl<N> Reel<N> {
    /// Counts an operation. Returns the error EIO if this operation is the one that fails.
    fn count(&mut self) -> io::Result<()> {
        self.operations += 1;
        match self.failing == Some(self.operations) {
            true => Err(io::Error::from_raw_os_error(5)),
            false => Ok(()),
        }
    }

    fn write(&mut self, offset: u64, part: &[u8]) {
        write(&mut self.bytes, offset, part);
        self.events.push(Event::Write(offset, part.to_vec()));
    }
}

impl Followed {
    /// Creates a file whose durable content is `bytes`.
    pub fn of(bytes: Vec<u8>) -> Followed {
        Followed { durable: bytes.clone(), bytes, ..Followed::default() }
    }

    /// Applies `event`.
    pub fn follow<N>(&mut self, event: &Event<N>) {
        match event {
            // The length is not guaranteed before a sync, but file systems preserve the order of length
            // changes.
            Event::Length(length) => {
                self.bytes.resize(*length as usize, 0);
                self.durable.resize(*length as usize, 0);
            }
            Event::Write(offset, part) => {
                write(&mut self.bytes, *offset, part);
                self.pending.push((*offset, part.clone()));
            }
            Event::Sync => {
                for (offset, part) in std::mem::take(&mut self.pending) {
                    self.land(offset, &part);
                    write(&mut self.durable, offset, &part);
                }
                self.durable.truncate(self.bytes.len());
            }
            Event::Noted(_) => {}
        }
    }

    /// Returns the content of the file after a power loss. The power loss keeps or loses each unsynced
    /// sector at random. Half of the time, each write instead keeps only its second sector, or all sectors
    /// except the second.
    pub fn powerless(&self, chance: &mut Random) -> Vec<u8> {
        let (mut bytes, kept) = (self.durable.clone(), chance.unit());
        let of_second = [Some(true), Some(false), None, None][chance.below(4) as usize];
        for (offset, part) in &self.pending {
            for (number, sector) in (1..).zip(sectors(*offset, part.len())) {
                if of_second.map_or_else(|| chance.chance(kept), |of_second| of_second == (number == 2)) {
                    write(&mut bytes, offset + sector.start as u64, &part[sector]);
                }
            }
        }
        bytes
    }
}

/// Returns the sectors of a write of `bytes` at `offset`, as ranges of its bytes.
fn sectors(offset: u64, bytes: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        at = bytes.min(start + SECTOR - (offset as usize + start) % SECTOR);
        (start < bytes).then_some(start..at)
    })
}

/// Writes `part` at `offset` and extends the file if necessary.
fn write(bytes: &mut Vec<u8>, offset: u64, part: &[u8]) {
    let (start, end) = (offset as usize, offset as usize + part.len());
    bytes.resize(bytes.len().max(end), 0);
    bytes[start..end].copy_from_slice(part);
}

impl<N: std::fmt::Debug + Send> Disk for Tape<N> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let reel = self.reel();
        let rest = &reel.bytes[reel.bytes.len().min(offset as usize)..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut reel = self.reel();
        if let Err(error) = reel.count() {
            // A failed write changes only the first half of its bytes.
            reel.write(offset, &bytes[..bytes.len() / 2]);
            return Err(error);
        }
        if reel.loses_one_in.is_some_and(|one_in| (reel.operations as u64).is_multiple_of(one_in)) {
            return Ok(());
        }
        let fitting = bytes.len().min(reel.room.unwrap_or(usize::MAX));
        reel.room = reel.room.map(|room| room - fitting);
        reel.write(offset, &bytes[..fitting]);
        if fitting < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&self) -> io::Result<()> {
        let mut reel = self.reel();
        reel.count()?;
        reel.events.push(Event::Sync);
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.reel().bytes.len() as u64)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let mut reel = self.reel();
        reel.bytes.resize(length as usize, 0);
        reel.events.push(Event::Length(length));
        Ok(())
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        let reel = self.reel();
        let rest = reel.bytes.get(offset as usize..).unwrap_or_default();
        Ok(rest.iter().position(|&byte| byte != 0).map(|at| offset + at as u64))
    }

    fn zero_at(&self, offset: u64, length: u64, keeps_room: bool) -> io::Result<bool> {
        // This simulates a file system with sparse files that cannot zero a range in place.
        if keeps_room {
            return Ok(false);
        }
        let mut reel = self.reel();
        reel.count()?;
        let end = (reel.bytes.len() as u64).min(offset + length);
        if offset < end {
            reel.write(offset, &vec![0; (end - offset) as usize]);
        }
        Ok(true)
    }

    fn file(&self) -> Option<&File> {
        None
    }

    fn reserve(&self, _offset: u64, _bytes: u64) -> io::Result<()> {
        Ok(())
    }
}
