//! Compares a small memory with an array of bytes, across kills and reopenings. Also tests journal records.

use crate::harm::Harm;
use crate::memory::Memory;
use crate::persistent_device::PersistentDevice;
use crate::replay::replay;
use crate::step::{Step, When};
use crate::{MemoryError, check};
use nacre_image::Image;
use nacre_kernel::{Time, ZoneCommand};
use nacre_machine::{Checked, Document, Files};
use proptest::prelude::*;
use std::io::{self, BufRead};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

mod full;
mod lost_data;
mod pcm;
mod small_disk;
mod stacks;
mod states;
mod zones;

const SCENARIO: &str = "[stack]\nkind = \"envy\"\nsegments = 4\nsegment = \"128 B\"\npage = \"16 B\"\nbanks = 1\n\
    buffer = \"64 B\"\nutilization = \"50 %\"\nthreshold = \"25 %\"\ncleaning = \"greedy\"\n\
    wear_swap_gap = 3\n";

struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Temporary folder of one test, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("nacre-memory-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("the folder for temporary files can be written");
        Folder(path)
    }

    fn open(&self, settings: &[(&str, &str)]) -> Result<Memory, MemoryError> {
        Memory::open_image(&checked(settings), &NoFiles, &self.0.join("x.nacre"), true)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn checked(settings: &[(&str, &str)]) -> Checked {
    let own = |&(path, value): &(&str, &str)| (path.to_string(), value.to_string());
    let overrides: Vec<(String, String)> = settings.iter().map(own).collect();
    check(&Document { text: SCENARIO, name: "test.toml", overrides: &overrides, seed: None }).expect("legal")
}

fn steps() -> Vec<Step<'static>> {
    vec![
        Step::Write { address: u64::MAX, bytes: b"some bytes" },
        Step::Write { address: 0, bytes: b"" },
        Step::Begin,
        Step::Commit,
        Step::Abort,
        Step::PowerFail,
        Step::Recover,
        Step::Idle(Time::MAX),
        Step::Idle(Time::ZERO),
        Step::Flush,
        Step::Read { address: 1 << 40, bytes: u32::MAX },
        Step::Zero { address: 0, bytes: 4096 },
        Step::Trim { address: 4096, bytes: 0 },
        Step::Append { address: 1 << 30, bytes: b"appended" },
        Step::Zone { command: ZoneCommand::Open, address: 0 },
        Step::Zone { command: ZoneCommand::Reset, address: u64::MAX },
        Step::Harm { harm: Harm::Reads, address: 512, bytes: u64::MAX },
        Step::Harm { harm: Harm::Heal, address: 0, bytes: 512 },
    ]
}

fn decoded(mut record: &[u8]) -> Option<(When, Step<'_>)> {
    let step = Step::decode(&mut record)?;
    assert!(record.is_empty() || matches!(step, (_, Step::Read { .. })), "nothing is left of it");
    Some(step)
}

#[test]
fn a_record_says_what_was_asked_and_when() {
    let mut record = Vec::new();
    for at in [0, 127, 128, 1 << 35, u64::MAX].map(Time::from_ps) {
        for step in steps() {
            for behind in [0, 1, 300] {
                record.clear();
                let when = When { at, behind };
                step.encode(when, &mut record);
                assert_eq!(decoded(&record), Some((when, step)));
            }
        }
    }
}

#[test]
fn reads_stand_before_the_step_in_its_record() {
    let read = |address| Step::Read { address, bytes: 7 };
    let write = Step::Write { address: 9, bytes: b"data" };
    let mut record = Vec::new();
    for (number, step) in [read(1), read(2), write].into_iter().enumerate() {
        step.encode(Time::from_ns(number as u64).into(), &mut record);
    }
    let mut rest = &record[..];
    assert_eq!(Step::decode(&mut rest), Some((Time::ZERO.into(), read(1))));
    assert_eq!(Step::decode(&mut rest), Some((Time::from_ns(1).into(), read(2))));
    assert_eq!(Step::decode(&mut rest), Some((Time::from_ns(2).into(), write)));
    assert!(rest.is_empty());
}

#[test]
fn a_small_write_takes_little_room() {
    let mut record = Vec::new();
    Step::Write { address: 100_000, bytes: &[1, 2, 3, 4] }.encode(Time::from_ms(1).into(), &mut record);
    assert_eq!(record.len(), 1 + 5 + 3 + 4, "kind, time below 2^35 ps, address below 2^21, bytes");
}

#[test]
fn what_is_no_record_is_not_taken_for_one() {
    let mut record = Vec::new();
    for step in steps() {
        record.clear();
        step.encode(Time::from_ps(300).into(), &mut record);
        let device = if matches!(step, Step::Write { .. } | Step::Append { .. }) { 4 } else { record.len() };
        for end in 0..device {
            assert_eq!(decoded(&record[..end]), None, "{step:?} up to byte {end}");
        }
        if !matches!(step, Step::Write { .. } | Step::Append { .. } | Step::Read { .. }) {
            record.push(0);
            assert_eq!(decoded(&record), None, "{step:?} and one byte more");
        }
    }
    assert_eq!(decoded(&[19, 0]), None, "an unknown kind");
    assert_eq!(decoded(&[1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2]), None, "past 64 bits");
}

#[derive(Clone, Debug)]
enum Act {
    Write(u64, Vec<u8>),
    Read(u64, u64),
    Begin,
    Commit,
    Abort,
    Power,
    Idle(u64),
    Checkpoint,
    Kill,
    Close,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let write = (0..192u64, proptest::collection::vec(any::<u8>(), 0..40));
    let act = prop_oneof![
        12 => write.prop_map(|(address, bytes)| Act::Write(address, bytes)),
        2 => (0..192u64, 0..40u64).prop_map(|(address, size)| Act::Read(address, size)),
        3 => Just(Act::Begin),
        2 => Just(Act::Commit),
        1 => Just(Act::Abort),
        1 => Just(Act::Power),
        2 => (0..200u64).prop_map(Act::Idle),
        1 => Just(Act::Checkpoint),
        1 => Just(Act::Kill),
        1 => Just(Act::Close),
    ];
    proptest::collection::vec(act, 0..250)
}

/// A memory and its expected content.
struct Pair {
    folder: Folder,
    settings: Vec<(&'static str, &'static str)>,
    memory: Memory,
    bytes: Vec<u8>,
    /// Content before the open transaction.
    before: Option<Vec<u8>>,
}

impl Pair {
    fn new(settings: &[(&'static str, &'static str)]) -> Pair {
        let folder = Folder::new();
        let memory = folder.open(settings).unwrap();
        let bytes = vec![0; memory.capacity() as usize];
        Pair { folder, settings: settings.to_vec(), memory, bytes, before: None }
    }

    fn act(mut self, act: Act) -> Pair {
        match act {
            Act::Write(address, bytes) => self.write(address, &bytes),
            Act::Read(address, size) => {
                let end = (address + size).min(self.bytes.len() as u64);
                let read = self.memory.read(address, end - address).unwrap();
                assert_eq!(read, self.bytes[address as usize..end as usize]);
            }
            Act::Begin => {
                assert_eq!(self.memory.begin().is_ok(), self.before.is_none());
                self.before.get_or_insert_with(|| self.bytes.clone());
            }
            Act::Commit => assert_eq!(self.memory.commit().is_ok(), self.before.take().is_some()),
            Act::Abort => {
                assert_eq!(self.memory.abort().is_ok(), self.before.is_some());
                self.roll_back();
            }
            Act::Power => {
                self.memory.power_fail().unwrap();
                assert!(matches!(self.memory.read(0, 1), Err(MemoryError::NoPower)));
                assert!(matches!(self.memory.begin(), Err(MemoryError::NoPower)));
                self.memory.recover().unwrap();
                self.roll_back();
            }
            Act::Idle(us) => self.memory.idle(Time::from_us(us)).unwrap(),
            Act::Checkpoint => self.memory.checkpoint().unwrap(),
            Act::Kill | Act::Close => return self.reopened(matches!(act, Act::Close)),
        }
        self
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        let end = address as usize + bytes.len();
        if end > self.bytes.len() {
            let refused = self.memory.write(address, bytes);
            assert!(matches!(refused, Err(MemoryError::OutOfRange { .. })), "{refused:?}");
            return;
        }
        match self.memory.write(address, bytes) {
            Ok(()) => self.bytes[address as usize..end].copy_from_slice(bytes),
            Err(MemoryError::TransactionTooLarge { .. }) => assert!(self.before.is_some()),
            Err(error) => panic!("{error}"),
        }
    }

    fn roll_back(&mut self) {
        self.bytes = self.before.take().unwrap_or_else(|| std::mem::take(&mut self.bytes));
    }

    fn reopened(mut self, closed: bool) -> Pair {
        let now = self.memory.now();
        if closed {
            self.memory.close().unwrap();
        } else {
            drop(self.memory);
        }
        self.memory = self.folder.open(&self.settings).unwrap();
        if closed {
            assert!(self.memory.now() >= now, "a closed memory forgets no time");
        }
        self.roll_back();
        self.check();
        self
    }

    fn check(&mut self) {
        assert_eq!(self.memory.read(0, self.memory.capacity()).unwrap(), self.bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_bytes_are_those_last_written_over_kills_closes_and_power_failures(acts in acts(), random in any::<bool>()) {
        let policy = if random { "d_choices" } else { "greedy" };
        let mut pair = Pair::new(&[("stack.cleaning", policy)]);
        for act in acts {
            pair = pair.act(act);
        }
        pair.check();
        pair.reopened(false);
    }
}

#[test]
fn a_killed_memory_goes_on_with_the_time_and_wear_it_had() {
    let folder = Folder::new();
    let mut memory = folder.open(&[]).unwrap();
    for round in 0..200_u64 {
        memory.write(round * 7 % 180, &round.to_le_bytes()).unwrap();
        memory.read(round % 100, 20).unwrap();
        memory.idle(Time::from_us(round % 9)).unwrap();
    }
    let (now, erases) = (memory.now(), memory.statistics().wear.unwrap().block_erases.unwrap().max);
    assert!(erases > 0, "it has cleaned");
    drop(memory);
    let memory = folder.open(&[]).unwrap();
    assert_eq!(memory.now(), now);
    assert_eq!(memory.statistics().wear.unwrap().block_erases.unwrap().max, erases);
    assert_eq!(memory.statistics().wear.unwrap().erases, 0, "statistics begin with the process");
}

#[test]
fn a_transaction_that_finds_less_room_when_played_back_ends_as_it_did() {
    // The transaction has space for one page, but its writes change three pages.
    let small = [("stack.buffer", "\"32 B\""), ("stack.threshold", "\"50 %\"")];
    for (end, lasts) in [(Some(Step::Commit), true), (Some(Step::Abort), false), (None, false)] {
        let folder = Folder::new();
        let checked = checked(&small);
        let mut steps: Vec<Step<'_>> = vec![Step::Write { address: 0, bytes: &[9; 16] }, Step::Begin];
        let written = [(0, [1; 16]), (16, [2; 16]), (32, [3; 16])];
        steps.extend(written.iter().map(|(address, bytes)| Step::Write { address: *address, bytes }));
        steps.extend(end);
        let after = Step::Write { address: 48, bytes: &[4; 16] };
        steps.extend(end.map(|_| after));
        let mut memory = Memory::open(&checked, &NoFiles).unwrap();
        memory.write(0, &[9; 16]).unwrap();
        memory.begin().unwrap();
        let refused = memory.write(0, &[1; 16]);
        assert!(matches!(refused, Err(MemoryError::TransactionTooLarge { .. })), "{refused:?}");
        drop(folder.open(&small).unwrap());
        let path = folder.0.join("x.nacre");
        let opened = Image::open(&path, &nacre_machine::identity::identity(&checked), GEOMETRY).unwrap();
        let mut record = Vec::new();
        for step in &steps {
            record.clear();
            step.encode(Time::ZERO.into(), &mut record);
            opened.image.append(&record).unwrap();
        }
        drop(opened);
        let mut memory = folder.open(&small).unwrap();
        let first = if lasts { 1 } else { 9 };
        assert_eq!(memory.read(0, 16).unwrap(), [first; 16], "ended by {end:?}");
        let rest = if lasts { [2, 3] } else { [0, 0] };
        assert_eq!(memory.read(16, 16).unwrap(), [rest[0]; 16], "ended by {end:?}");
        assert_eq!(memory.read(32, 16).unwrap(), [rest[1]; 16], "ended by {end:?}");
        assert_eq!(memory.read(48, 16).unwrap(), [if end.is_some() { 4 } else { 0 }; 16]);
    }
}

const GEOMETRY: nacre_image::Geometry =
    nacre_image::Geometry { page_bytes: 16, pages_per_extent: 8, pages: 32, raw_bytes: 0 };

#[test]
fn a_record_that_is_none_is_named() {
    let folder = Folder::new();
    drop(folder.open(&[]).unwrap());
    let identity = nacre_machine::identity::identity(&checked(&[]));
    let opened = Image::open(&folder.0.join("x.nacre"), &identity, GEOMETRY).unwrap();
    opened.image.append(&[99, 0]).unwrap();
    drop(opened);
    let error = folder.open(&[]).unwrap_err().to_string();
    let expected = "x.nacre: record 0 of its journal does not match this device: it is not a record of a memory; restore the image from a copy";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn a_write_longer_than_a_record_may_be_is_kept() {
    let settings = [
        ("stack.segment", "\"16 MiB\""),
        ("stack.segments", "8"),
        ("stack.page", "\"64 KiB\""),
        ("stack.buffer", "\"4 MiB\""),
        ("stack.utilization", "\"80 %\""),
        ("stack.erase", "\"1 us\""),
    ];
    let folder = Folder::new();
    let mut memory = folder.open(&settings).unwrap();
    let bytes: Vec<u8> = (0..65 << 20).map(|at: u32| (at >> 12) as u8).collect();
    memory.write(5, &bytes).unwrap();
    memory.write(0, &[7]).unwrap();
    drop(memory);
    let mut memory = folder.open(&settings).unwrap();
    assert_eq!(memory.read(0, 1).unwrap(), [7]);
    assert!(memory.read(5, bytes.len() as u64).unwrap() == bytes, "every byte");
}

#[test]
fn settings_written_otherwise_are_the_same_device() {
    let folder = Folder::new();
    drop(folder.open(&[]).unwrap());
    let same = [("stack.page", "\"0.015625 KiB\""), ("stack.utilization", "0.5"), ("run.warm_up", "3")];
    folder.open(&same).unwrap();
    let error = folder.open(&[("stack.program", "\"5 us\""), ("run.seed", "2")]).unwrap_err().to_string();
    let expected = "`run.seed` is 1 in the image, but 2 was requested; `stack.program` is 4 us in the image, but 5 us was requested";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn time_is_the_same_with_an_image_and_without() {
    let folder = Folder::new();
    let mut device = folder.open(&[]).unwrap();
    let mut plain = Memory::open(&checked(&[]), &NoFiles).unwrap();
    for round in 0..100_u64 {
        for memory in [&mut device, &mut plain] {
            memory.write(round * 11 % 180, &round.to_le_bytes()).unwrap();
            memory.read(round, 9).unwrap();
            memory.idle(Time::from_us(round)).unwrap();
        }
        device.checkpoint().unwrap();
        assert_eq!(device.now(), plain.now(), "round {round}");
    }
}

#[test]
fn simulated_time_ends() {
    let mut memory = Memory::open(&checked(&[]), &NoFiles).unwrap();
    memory.idle(Time::from_s(200 * 86_400)).unwrap();
    let error = memory.idle(Time::from_ps(1)).unwrap_err().to_string();
    assert!(error.starts_with("simulated time ends after 200 days, and is now at 17280000 s;"), "{error}");
    assert_eq!(memory.read(0, 1).unwrap(), [0]);
}

#[test]
fn replaying_nothing_changes_nothing() {
    let mut device = PersistentDevice::in_memory(&checked(&[]), &NoFiles).unwrap();
    assert_eq!(replay(&mut device, &nacre_image::Records::default()), Ok(()));
    assert_eq!(device.until(), Time::ZERO);
}
