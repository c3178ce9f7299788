//! A file in memory that remembers every write in its order, and can be told to have no more room.

use crate::disk::Disk;
use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard};

/// What happened to the file, and what its user said meanwhile.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Length(u64),
    Write(u64, Vec<u8>),
    Sync,
    /// A step, counted from 1, is about to be kept.
    Issued(u64),
    /// It was acknowledged.
    Acknowledged(u64),
    /// Everything acknowledged was synced.
    Synced,
}

/// The file.
#[derive(Debug, Default)]
pub(super) struct Tape(Mutex<Reel>);

#[derive(Debug, Default)]
pub(super) struct Reel {
    pub(super) bytes: Vec<u8>,
    pub(super) events: Vec<Event>,
    /// Bytes that may still be written.
    pub(super) room: Option<usize>,
    /// Writes and syncs so far, and the one that fails.
    pub(super) operations: usize,
    pub(super) failing: Option<usize>,
}

impl Reel {
    /// Counts an operation; whether it is the one that fails.
    fn fails(&mut self) -> bool {
        self.operations += 1;
        self.failing == Some(self.operations)
    }
}

/// What the system says of a disk that does not work (EIO).
fn broken() -> io::Error {
    io::Error::from_raw_os_error(5)
}

impl Tape {
    /// A file that holds `bytes`.
    pub(super) fn with(bytes: Vec<u8>) -> Tape {
        Tape(Mutex::new(Reel { bytes, ..Reel::default() }))
    }

    pub(super) fn reel(&self) -> MutexGuard<'_, Reel> {
        self.0.lock().expect("no test panics while it looks at the file")
    }

    pub(super) fn note(&self, event: Event) {
        self.reel().events.push(event);
    }
}

/// Writes `part` at `offset`, beyond the end if need be.
pub(super) fn write(bytes: &mut Vec<u8>, offset: u64, part: &[u8]) {
    let (start, end) = (offset as usize, offset as usize + part.len());
    bytes.resize(bytes.len().max(end), 0);
    bytes[start..end].copy_from_slice(part);
}

impl Disk for Tape {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let reel = self.reel();
        let rest = &reel.bytes[reel.bytes.len().min(offset as usize)..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut reel = self.reel();
        if reel.fails() {
            // As far as it came.
            let part = &bytes[..bytes.len() / 2];
            write(&mut reel.bytes, offset, part);
            reel.events.push(Event::Write(offset, part.to_vec()));
            return Err(broken());
        }
        let fitting = bytes.len().min(reel.room.unwrap_or(usize::MAX));
        reel.room = reel.room.map(|room| room - fitting);
        write(&mut reel.bytes, offset, &bytes[..fitting]);
        reel.events.push(Event::Write(offset, bytes[..fitting].to_vec()));
        if fitting < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&self) -> io::Result<()> {
        if self.reel().fails() {
            return Err(broken());
        }
        self.note(Event::Sync);
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
        // A file system that has holes and zeroes nothing in place.
        if keeps_room {
            return Ok(false);
        }
        self.write_at(offset, &vec![0; length as usize]).map(|()| true)
    }

    fn file(&self) -> Option<&File> {
        None
    }

    fn reserve(&self, _offset: u64, _bytes: u64) -> io::Result<()> {
        Ok(())
    }
}
