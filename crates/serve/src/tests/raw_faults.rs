//! Tests of raw bytes on a failing host disk. The test runs once for each pair of a file operation and a
//! type of failure, and injects this failure into this operation.
//!
//! The client receives the error of the disk. A failed write is present, absent, or partly present. A flush
//! is acknowledged only if it succeeded. After reopening, all acknowledged data is present.

use super::failing::answer_with;
use super::{Folder, NoFiles, PLAIN, checked};
use crate::raw::RawDisk;
use crate::recorder::Recorder;
use crate::serving::{Body, Disk};
use crate::tally::Tally;
use nacre_image::{Geometry, Image};
use nacre_machine::identity::identity;
use nacre_memory::PersistentDevice;
use nacre_memory::harm::Harm;
use nacre_nbd::{BlockSizes, Export};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

const READ: u16 = 0;
const WRITE: u16 = 1;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const WRITE_ZEROES: u16 = 6;
const FUA: u16 = 1;
const NO_HOLE: u16 = 2;

const EIO: u32 = 5;
const ENOSPC: u32 = 28;
/// Size in bytes of a simple reply without data.
const HEAD: usize = 16;
const BYTES: usize = 64 << 10;
/// Size of the journal, which is small so that failures soon cause a checkpoint.
const JOURNAL_BYTES: u64 = 2048;

/// Failure of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// EIO without effect.
    Broken,
    /// ENOSPC without effect.
    Full,
    /// EIO after half of the operation.
    Short,
    /// ENOSPC after half of the operation.
    ShortAndFull,
}

impl Fault {
    fn error(self) -> io::Error {
        io::Error::from_raw_os_error(self.number() as i32)
    }

    fn number(self) -> u32 {
        if matches!(self, Fault::Full | Fault::ShortAndFull) { ENOSPC } else { EIO }
    }

    fn half(self, whole: usize) -> usize {
        if matches!(self, Fault::Short | Fault::ShortAndFull) { whole / 2 } else { 0 }
    }
}

/// A file in which one operation fails.
#[derive(Debug)]
struct Faulty {
    file: File,
    fault: Fault,
    counts: Mutex<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Number of operations so far.
    operations: usize,
    /// Number of the operation that fails, counted from the opening of the file.
    failing: usize,
    /// Number of changes to the file.
    changes: usize,
    /// Number of changes that a sync has made durable.
    synced: usize,
}

impl Faulty {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap()
    }

    /// Counts an operation, and returns whether it fails.
    fn fails(&self) -> bool {
        let mut counts = self.counts();
        counts.operations += 1;
        counts.operations == counts.failing
    }

    fn has_failed(&self) -> bool {
        let counts = self.counts();
        counts.operations >= counts.failing
    }

    fn is_synced(&self) -> bool {
        let counts = self.counts();
        counts.synced == counts.changes
    }
}

impl nacre_image::Disk for Faulty {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        if !self.fails() {
            return nacre_image::Disk::read_at(&self.file, offset, into);
        }
        match self.fault.half(into.len()) {
            0 => Err(self.fault.error()),
            half => nacre_image::Disk::read_at(&self.file, offset, &mut into[..half]),
        }
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.counts().changes += usize::from(!is_mark(bytes));
        if !self.fails() {
            return self.file.write_all_at(bytes, offset);
        }
        self.file.write_all_at(&bytes[..self.fault.half(bytes.len())], offset)?;
        Err(self.fault.error())
    }

    fn sync(&self) -> io::Result<()> {
        if self.fails() {
            return Err(self.fault.error());
        }
        let mut counts = self.counts();
        counts.synced = counts.changes;
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        nacre_image::Disk::length(&self.file)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        nacre_image::Disk::set_length(&self.file, length)
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        if self.fails() {
            return Err(self.fault.error());
        }
        nacre_image::Disk::next_data(&self.file, offset)
    }

    fn zero_at(&self, offset: u64, length: u64, keeps_room: bool) -> io::Result<bool> {
        self.counts().changes += 1;
        if !self.fails() {
            return nacre_image::Disk::zero_at(&self.file, offset, length, keeps_room);
        }
        let half = self.fault.half(length as usize);
        self.file.write_all_at(&vec![0; half], offset)?;
        Err(self.fault.error())
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }

    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        if self.fails() {
            return Err(self.fault.error());
        }
        nacre_image::Disk::reserve(&self.file, offset, bytes)
    }
}

/// Returns whether `bytes` are an empty journal record, which need not be synced.
fn is_mark(bytes: &[u8]) -> bool {
    bytes.len() == 32 && bytes[4..8] == [0; 4]
}

fn open(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

/// Serves the file at `path`. Operation number `failing`, counted from the opening, fails.
fn served(path: &Path, fault: Fault, failing: usize) -> (Arc<Faulty>, Disk) {
    let file = Arc::new(Faulty { file: open(path), fault, counts: Mutex::default() });
    file.counts().failing = usize::MAX;
    let checked = checked(PLAIN);
    let device = PersistentDevice::in_memory(&checked, &NoFiles).unwrap();
    let (identity, geometry) = (identity(&checked), Geometry::raw(BYTES as u64));
    let opened = match nacre_image::Disk::length(&*file).unwrap() {
        0 => {
            let image =
                Image::create_on(file.clone(), path, &identity, geometry, JOURNAL_BYTES).expect("created");
            drop(image);
            Image::open_on(file.clone(), path, &identity, geometry).expect("it is whole")
        }
        _ => Image::open_on(file.clone(), path, &identity, geometry).expect("it is whole"),
    };
    let raw = RawDisk::of(opened, path, &device).expect("it fits");
    let block = BlockSizes { minimum: 1, preferred: 4096, maximum: 32 << 20 };
    let disk = Disk {
        export: Export {
            name: "raw".into(),
            description: String::new(),
            bytes: BYTES as u64,
            read_only: false,
            rotational: false,
            block,
        },
        body: Body::Raw(Box::new(raw)),
        tally: Tally::default(),
        recorder: Recorder::default(),
    };
    let operations = file.counts().operations;
    file.counts().failing = operations.saturating_add(failing);
    (file, disk)
}

/// A request of the client.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Write: flags, offset, number of bytes, and value.
    Write(u16, u64, u32, u8),
    Zero(u16, u64, u32),
    Trim(u64, u32),
    Read(u64, u32),
    Flush,
    /// Injection of media errors at an offset. The errors remain until the sectors are written.
    Harm(u64),
}

const STEPS: [Step; 24] = [
    Step::Write(0, 0, 5000, 1),
    Step::Flush,
    // This write is served in three parts.
    Step::Write(0, 1000, 60_000, 2),
    Step::Read(0, 64 << 10),
    Step::Zero(NO_HOLE, 2000, 9000),
    Step::Write(FUA, 20_000, 4096, 3),
    Step::Trim(8192, 16384),
    Step::Harm(40_960),
    Step::Zero(0, 30_000, 3000),
    Step::Write(0, 40_960, 512, 4),
    Step::Flush,
    Step::Zero(FUA, 0, 4096),
    Step::Harm(512),
    Step::Harm(1024),
    Step::Harm(1536),
    Step::Harm(2048),
    Step::Write(0, 0, 4096, 5),
    Step::Read(0, 4096),
    Step::Harm(0),
    Step::Write(FUA, 0, 512, 6),
    Step::Trim(0, 64 << 10),
    Step::Write(0, 7, 1, 7),
    Step::Flush,
    Step::Read(0, 64 << 10),
];

/// Values that a read of each byte may return.
struct Legal(Vec<Vec<u8>>);

impl Legal {
    fn becomes(&mut self, offset: u64, bytes: u32, value: u8, for_certain: bool) {
        for legal in &mut self.0[offset as usize..][..bytes as usize] {
            if for_certain {
                legal.clear();
            }
            legal.push(value);
        }
    }

    /// Checks the data of a read. Afterwards, only the returned values are allowed.
    fn see(&mut self, offset: u64, seen: &[u8]) {
        for (at, (legal, byte)) in self.0[offset as usize..].iter_mut().zip(seen).enumerate() {
            assert!(legal.contains(byte), "byte {} is {byte}, of {legal:?}", offset as usize + at);
            *legal = vec![*byte];
        }
    }
}

/// Performs a step. Returns the error number; zero for success.
fn step(disk: &Disk, file: &Faulty, legal: &mut Legal, step: Step) -> u32 {
    let ask = |flags, command, offset, bytes, fill| {
        let answer = answer_with(disk, flags, command, offset, bytes, fill);
        (u32::from_be_bytes(answer[4..8].try_into().unwrap()), answer)
    };
    let (error, must_be_synced) = match step {
        Step::Write(flags, offset, bytes, value) => {
            let (error, _) = ask(flags, WRITE, offset, bytes, value);
            legal.becomes(offset, bytes, value, error == 0);
            (error, flags & FUA != 0)
        }
        Step::Zero(flags, offset, bytes) => {
            let (error, _) = ask(flags, WRITE_ZEROES, offset, bytes, 0);
            legal.becomes(offset, bytes, 0, error == 0);
            (error, flags & FUA != 0)
        }
        Step::Trim(offset, bytes) => {
            let (error, _) = ask(0, TRIM, offset, bytes, 0);
            legal.becomes(offset, bytes, 0, error == 0);
            (error, false)
        }
        Step::Read(offset, bytes) => {
            let (error, answer) = ask(0, READ, offset, bytes, 0);
            if error == 0 {
                legal.see(offset, &answer[HEAD..]);
            }
            (error, false)
        }
        Step::Flush => (ask(0, FLUSH, 0, 0, 0).0, true),
        Step::Harm(offset) => {
            let harmed = disk.harm(offset, 512, Harm::Reads);
            let number =
                |error: io::Error| if error.kind() == io::ErrorKind::StorageFull { ENOSPC } else { EIO };
            (harmed.map_or_else(number, |()| 0), false)
        }
    };
    assert!(error != 0 || !must_be_synced || file.is_synced(), "it was answered and is not on the disk");
    error
}

#[test]
fn whatever_fails_once_is_told_and_takes_nothing_that_was_acknowledged() {
    let mut cases = 0;
    for fault in [Fault::Broken, Fault::Full, Fault::Short, Fault::ShortAndFull] {
        for failing in 1.. {
            let folder = Folder::new();
            let (file, disk) = served(&folder.image(), fault, failing);
            let mut legal = Legal(vec![vec![0]; BYTES]);
            let mut told = Vec::new();
            for one in STEPS {
                let had_failed = file.has_failed();
                let error = step(&disk, &file, &mut legal, one);
                if !had_failed && error != 0 && file.has_failed() {
                    // A failed read or sync may report an error other than that of the disk.
                    let is_plain = matches!(one, Step::Write(0, ..) | Step::Harm(_));
                    let said = if is_plain { fault.number() } else { error };
                    assert_eq!(error, said, "{fault:?} {failing}: {one:?}");
                }
                assert!(error == 0 || file.has_failed(), "{one:?}: {error}");
                told.push(error);
            }
            let failed = file.has_failed();
            let closed = disk.close();
            assert!(
                closed.is_err() || file.is_synced(),
                "an end is good only where everything is on the disk"
            );
            drop(disk);
            // After reopening, all acknowledged data is present, except for injected media errors.
            let (file, disk) = served(&folder.image(), fault, usize::MAX / 2);
            assert_eq!(disk.harm(0, BYTES as u64, Harm::Heal).map_err(|error| error.to_string()), Ok(()));
            let read = step(&disk, &file, &mut legal, Step::Read(0, BYTES as u32));
            assert_eq!(read, 0, "{fault:?} {failing}: {told:?}");
            assert_eq!(step(&disk, &file, &mut legal, Step::Flush), 0);
            if !failed {
                assert!(told.iter().all(|&error| error == 0), "{told:?}");
                break;
            }
            cases += 1;
        }
    }
    assert!(cases > 100, "{cases}");
}
