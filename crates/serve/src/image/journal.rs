//! The journal: what the device was asked, in the order in which it was asked.

use crate::harm::Harm;
use nacre_kernel::{Op, Time};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Bytes of one entry in the file.
pub(crate) const ENTRY_BYTES: usize = 24;
/// Addresses and sizes of devices are below this.
pub(super) const ADDRESS_END: u64 = 1 << 56;

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The simulated time at which the device was asked.
    pub(crate) now: Time,
    /// First byte. Of a flush: how many entries were known to be on the disk.
    pub(crate) address: u64,
    /// Bytes. Of harm: sectors.
    pub(crate) length: u32,
    pub(crate) what: What,
}

/// What an entry is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Request { op: Op, forced: bool },
    PowerFailure,
    Harm(Harm),
}

const FORCED: u8 = 0x10;
const POWER_FAILURE: u8 = 0x20;
const HARM: u8 = 0x30;

impl What {
    /// Never zero, so that zeroes are no entry.
    fn code(self) -> u8 {
        match self {
            What::Request { op, forced } => 1 + op as u8 + if forced { FORCED } else { 0 },
            What::PowerFailure => POWER_FAILURE,
            What::Harm(harm) => HARM + harm as u8,
        }
    }

    fn of(code: u8) -> Option<What> {
        const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];
        match code {
            POWER_FAILURE => Some(What::PowerFailure),
            HARM.. => {
                [Harm::Reads, Harm::Writes, Harm::Heal].get(usize::from(code - HARM)).copied().map(What::Harm)
            }
            _ => {
                let op = *OPS.get(usize::from((code & !FORCED).checked_sub(1)?))?;
                Some(What::Request { op, forced: code & FORCED != 0 })
            }
        }
    }
}

impl Entry {
    /// The bytes of entry `number`.
    pub(crate) fn encode(&self, number: u64) -> [u8; ENTRY_BYTES] {
        assert!(self.address < ADDRESS_END, "images of larger devices are not opened");
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.now.as_ps().to_le_bytes());
        let place = self.address | u64::from(self.what.code()) << 56;
        bytes[8..16].copy_from_slice(&place.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.length.to_le_bytes());
        let sum = checksum(number, &bytes);
        bytes[20..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The entry that `bytes` are, if they are entry `number`.
    pub(crate) fn decode(number: u64, bytes: &[u8; ENTRY_BYTES]) -> Option<Entry> {
        let sum = u32::from_le_bytes(bytes[20..].try_into().expect("four bytes"));
        (sum == checksum(number, bytes)).then(|| Entry::parse(bytes)).flatten()
    }

    /// As [`Entry::decode`] of bytes that were found good before.
    pub(crate) fn parse(bytes: &[u8; ENTRY_BYTES]) -> Option<Entry> {
        let now = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        let place = u64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes"));
        let length = u32::from_le_bytes(bytes[16..20].try_into().expect("four bytes"));
        let what = What::of((place >> 56) as u8)?;
        Some(Entry { now: Time::from_ps(now), address: place & (ADDRESS_END - 1), length, what })
    }
}

/// CRC-32 of an entry and of its number: an entry in another's place is none.
fn checksum(number: u64, bytes: &[u8; ENTRY_BYTES]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&number.to_le_bytes());
    sum.update(&bytes[..20]);
    sum.finalize()
}

/// The end of the journal: entries on their way into the file.
#[derive(Debug)]
pub(crate) struct Journal {
    /// What the device was asked since, by anybody.
    asked: Mutex<Vec<Entry>>,
    writer: Mutex<Writer>,
    /// Entries could not be written and still wait.
    is_behind: AtomicBool,
}

#[derive(Debug)]
struct Writer {
    /// Entries in the file.
    written: u64,
    /// Of these, known to be on the disk.
    synced: u64,
    waiting: Vec<Entry>,
    bytes: Vec<u8>,
}

impl Journal {
    /// A journal of which the file holds `written` entries.
    pub(crate) fn new(written: u64) -> Journal {
        let writer = Writer { written, synced: 0, waiting: Vec::new(), bytes: Vec::new() };
        Journal { asked: Mutex::default(), writer: Mutex::new(writer), is_behind: AtomicBool::new(false) }
    }

    /// Adds an entry. Who asks the device does it before anybody else may ask.
    pub(crate) fn push(&self, entry: Entry) {
        self.asked.lock().expect("nobody panics with the lock").push(entry);
    }

    /// Writes what was pushed before, whoever did, by `write` at a byte of the journal. What could not be written
    /// is written first by the next one.
    pub(crate) fn commit(&self, write: impl FnOnce(u64, &[u8]) -> io::Result<()>) -> io::Result<u64> {
        let mut writer = self.writer();
        let Writer { written, synced, waiting, bytes } = &mut *writer;
        waiting.append(&mut self.asked.lock().expect("nobody panics with the lock"));
        if waiting.is_empty() {
            return Ok(*written);
        }
        bytes.clear();
        for (entry, number) in waiting.iter_mut().zip(*written..) {
            if let What::Request { op: Op::Flush, .. } = entry.what {
                entry.address = *synced;
            }
            bytes.extend(entry.encode(number));
        }
        let wrote = write(*written * ENTRY_BYTES as u64, bytes);
        self.is_behind.store(wrote.is_err(), Ordering::Release);
        wrote?;
        *written += waiting.len() as u64;
        waiting.clear();
        Ok(*written)
    }

    /// Whether entries could not be written.
    pub(crate) fn is_behind(&self) -> bool {
        self.is_behind.load(Ordering::Acquire)
    }

    /// The first `entries` are on the disk.
    pub(crate) fn synced(&self, entries: u64) {
        let mut writer = self.writer();
        writer.synced = writer.synced.max(entries);
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().expect("nobody panics with the lock")
    }
}
