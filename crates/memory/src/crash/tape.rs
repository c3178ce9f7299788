//! A file in memory that remembers what was done to it since a moment, and what of it was on the disk then.

use nacre_image::Disk;
use nacre_kernel::Random;
use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A disk writes sectors whole.
const SECTOR: usize = 512;

/// Something that was done to the file.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Length(u64),
    Write(u64, Vec<u8>),
    Sync,
}

/// What the file does wrong, so that tests see it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// A sync is answered, and nothing is on the disk.
    LyingSync,
    /// One write in so many is answered and lost.
    LostWrite(u64),
}

/// The file.
#[derive(Debug)]
pub(super) struct Tape {
    reel: Mutex<Reel>,
    fault: Fault,
}

#[derive(Debug, Default)]
struct Reel {
    bytes: Vec<u8>,
    /// As it was at the moment, and what of that is on the disk for certain, with the writes behind it.
    before: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<(u64, Vec<u8>)>,
    events: Vec<Event>,
    writes: u64,
}

impl Tape {
    /// A file whose bytes are on the disk.
    pub(super) fn of(bytes: Vec<u8>, fault: Fault) -> Tape {
        let reel = Reel { before: bytes.clone(), durable: bytes.clone(), bytes, ..Reel::default() };
        Tape { reel: Mutex::new(reel), fault }
    }

    fn reel(&self) -> MutexGuard<'_, Reel> {
        self.reel.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This is the moment.
    pub(super) fn settle(&self) {
        let mut reel = self.reel();
        for event in std::mem::take(&mut reel.events) {
            let Reel { before, durable, pending, .. } = &mut *reel;
            event.apply(before);
            event.follow(durable, pending, self.fault);
        }
    }

    /// How many operations there were since the moment.
    pub(super) fn operations(&self) -> usize {
        self.reel().events.len()
    }

    /// Bytes that operation number `number` writes.
    pub(super) fn bytes_of(&self, number: usize) -> usize {
        match self.reel().events.get(number) {
            Some(Event::Write(_, part)) => part.len(),
            _ => 0,
        }
    }

    /// The file after so many operations since the moment and so many bytes of the next, when the process is killed.
    pub(super) fn killed(&self, operations: usize, torn: usize) -> Vec<u8> {
        let reel = self.reel();
        let mut bytes = reel.before.clone();
        reel.upto(operations, torn).iter().for_each(|event| event.apply(&mut bytes));
        bytes
    }

    /// The same when the machine loses its power: of what was not synced each sector is there or not.
    pub(super) fn powerless(&self, operations: usize, torn: usize, chance: &mut Random) -> Vec<u8> {
        let reel = self.reel();
        let (mut durable, mut pending) = (reel.durable.clone(), reel.pending.clone());
        let events = reel.upto(operations, torn);
        events.iter().for_each(|event| event.follow(&mut durable, &mut pending, self.fault));
        let kept = chance.unit();
        for (offset, part) in pending {
            let mut at = 0;
            while at < part.len() {
                let end = part.len().min(at + SECTOR - (offset as usize + at) % SECTOR);
                if chance.chance(kept) {
                    write(&mut durable, offset + at as u64, &part[at..end]);
                }
                at = end;
            }
        }
        durable
    }
}

impl Reel {
    fn upto(&self, operations: usize, torn: usize) -> Vec<Event> {
        let mut events = self.events[..operations].to_vec();
        if let (true, Some(Event::Write(offset, part))) = (torn > 0, self.events.get(operations)) {
            events.push(Event::Write(*offset, part[..torn].to_vec()));
        }
        events
    }
}

impl Event {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Event::Length(length) => bytes.resize(*length as usize, 0),
            Event::Write(offset, part) => write(bytes, *offset, part),
            Event::Sync => {}
        }
    }

    /// What it does to what is `durable`, and to what may be.
    fn follow(&self, durable: &mut Vec<u8>, pending: &mut Vec<(u64, Vec<u8>)>, fault: Fault) {
        match self {
            // Nothing is promised of a length before it is synced, but a file system keeps it in order.
            Event::Length(length) => durable.resize(*length as usize, 0),
            Event::Write(offset, part) => pending.push((*offset, part.clone())),
            Event::Sync if fault == Fault::LyingSync => {}
            Event::Sync => pending.drain(..).for_each(|(offset, part)| write(durable, offset, &part)),
        }
    }
}

/// Writes `part` at `offset`, beyond the end if need be.
fn write(bytes: &mut Vec<u8>, offset: u64, part: &[u8]) {
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
        reel.writes += 1;
        if let Fault::LostWrite(one_in) = self.fault
            && reel.writes.is_multiple_of(one_in)
        {
            return Ok(());
        }
        write(&mut reel.bytes, offset, bytes);
        reel.events.push(Event::Write(offset, bytes.to_vec()));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.reel().events.push(Event::Sync);
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
